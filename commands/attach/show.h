/* Output on its way from a session to the console and files.
 *
 * The caller bounds the output that is not written yet: it adds none while
 * show_has_room() is false, and continues at on_room.
 */
#ifndef COMMANDS_ATTACH_SHOW_H
#define COMMANDS_ATTACH_SHOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "endpoints/run/run.h"

struct ep_writer;
struct event_base;

struct show_output {
    uint32_t rank;
    uint8_t channel; /* TEXT_CHANNEL_ */
    bool is_end;     /* the channel ends */
    /* Bytes missing just before this: dropped because we were too slow; from
     * before, and not kept. */
    uint64_t dropped_bytes, before_bytes;
    const void *mem; /* borrowed */
    size_t len_bytes;
};

/* A job as the session describes it; the module that asked for it owns it. */
struct show_job {
    const char *nspace;
    uint32_t size;            /* processes */
    unsigned channels;        /* of these processes: bits, 1 << TEXT_CHANNEL_ */
    const char *const *hosts; /* [size] */
};

struct show_events {
    /* All channels that were asked for have ended. */
    void (*on_complete)(void);
    /* Nothing more will come; all that came before is with the console. */
    void (*on_lost)(void);
    /* Everything is written, after show_finish(). */
    void (*on_drained)(void);
    /* show_has_room() is true again. */
    void (*on_room)(void);
    /* A place takes nothing more, and why; is_left: the reader of stdout has
     * gone. */
    void (*on_error)(bool is_left, const char *why);
};

/* Uses only those options that say how output is shown. With spares_files an
 * existing file is not replaced but reported by on_error. Returns NULL, or what
 * went wrong. */
const char *show_open(struct event_base *base,
                      const struct ep_run_options *options,
                      const struct show_job *job, bool spares_files,
                      const struct show_events *events);
/* The writer, for others that write files as well; borrowed until
 * show_close(). */
struct ep_writer *show_writer(void);
/* Sets what on_complete waits for: the ends of these channels, bits 1 <<
 * TEXT_CHANNEL_, of this many ranks; 0: of all ranks. A channel that a process
 * does not have counts as ended. To be called before the loop runs. */
void show_expect(unsigned channels, uint32_t ranks);
/* Frees everything and drops what is not written. */
void show_close(void);

/* Queues a copy, which goes to the console in a turn of the loop. */
void show_put(const struct show_output *output);
/* Nothing will follow what was put: on_lost is called. */
void show_lost(void);
/* True when more output may be put. */
bool show_has_room(void);

/* Accepts no more output, and writes what is in hand. */
void show_finish(void);
/* Drops everything that is not written yet. */
void show_give_up(void);

/* How many bytes were dropped on their way to us. */
uint64_t show_dropped_bytes(void);
/* How many channels that were asked for have not ended. */
uint64_t show_open_channels(void);

#endif
