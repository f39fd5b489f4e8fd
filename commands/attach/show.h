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
#include "topo/ranges.h"

struct ep_writer;
struct event_base;

struct show_output {
    uint32_t rank;
    uint8_t channel; /* TEXT_CHANNEL_ */
    bool is_end;     /* the channel ends */
    /* Bytes missing just before this output: dropped because we were too slow;
     * and written before we came, but not kept. */
    uint64_t dropped_bytes, before_bytes;
    const void *mem; /* borrowed */
    size_t len_bytes;
};

/* A job as the session describes it; the module that asked for it owns it. */
struct show_job {
    const char *nspace;
    uint32_t size;            /* processes */
    unsigned channels;        /* that the processes have: bits, 1 <<
                                 TEXT_CHANNEL_ */
    const char *const *hosts; /* [size] */
    /* the ranks whose output is asked for; NULL or empty: all */
    const struct topo_ranges *ranks;
};

struct show_events {
    /* All channels that were asked for have ended. */
    void (*on_complete)(void);
    /* Nothing more will come, and all that came was given to the console. */
    void (*on_lost)(void);
    /* show_finish() was called, and everything is written. */
    void (*on_drained)(void);
    /* show_has_room() is true again. */
    void (*on_room)(void);
    /* stdout or a file can no longer be written, and why; is_left: the reader
     * of stdout has closed it. */
    void (*on_error)(bool is_left, const char *why);
};

/* Uses only those options that say how output is shown. With spares_files an
 * existing file is not replaced but reported by on_error. Returns NULL, or what
 * went wrong. */
const char *show_open(struct event_base *base,
                      const struct ep_run_options *options,
                      const struct show_job *job, bool spares_files,
                      const struct show_events *events);
/* The writer, for other modules that write files as well; borrowed until
 * show_close(). */
struct ep_writer *show_writer(void);
/* Sets what on_complete waits for: the ends of these channels (bits, 1 <<
 * TEXT_CHANNEL_) of this many ranks, or of all ranks when it is 0. A channel
 * that a process does not have counts as ended. To be called before the loop
 * runs. */
void show_expect(unsigned channels, uint32_t ranks);
/* Frees everything and drops what is not written. */
void show_close(void);

/* Queues a copy of the output, which goes to the console when the event loop
 * runs. */
void show_put(const struct show_output *output);
/* To be called when no more output will be put; on_lost follows. */
void show_lost(void);
/* True when more output may be put. */
bool show_has_room(void);

/* Ends: no more output may be put; what was put is still written. */
void show_finish(void);
/* Drops everything that is not written yet. */
void show_give_up(void);
/* Erases the progress bars, waiting for that for half a second at most, and
 * draws none as long as they are held. */
void show_hold(bool is_held);

/* How many bytes were dropped on their way to us. */
uint64_t show_dropped_bytes(void);
/* How many channels that were asked for have not ended. */
uint64_t show_open_channels(void);

#endif
