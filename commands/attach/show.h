/* Output on its way from a session to the console and files.
 *
 * What has come and is not written yet is bounded by who calls: it puts no more
 * while show_has_room() says no, and goes on at on_room.
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
    bool is_end;     /* of the channel */
    /* Missing just before: we took too little; it was not kept for us. */
    uint64_t dropped_bytes, before_bytes;
    const void *mem; /* borrowed */
    size_t len_bytes;
};

/* A job, as the launcher tells it; owned by whoever has asked. */
struct show_job {
    const char *nspace;
    uint32_t size;            /* processes */
    unsigned channels;        /* that these have, bits 1 << TEXT_CHANNEL_ */
    const char *const *hosts; /* [size] */
};

struct show_events {
    /* All that was asked for has ended. */
    void (*on_complete)(void);
    /* Nothing more will come; what came before is with the console. */
    void (*on_lost)(void);
    /* All is written, after show_finish(). */
    void (*on_drained)(void);
    /* There is room again: show_has_room(). */
    void (*on_room)(void);
    /* A place takes nothing more, and why; is_left: what reads stdout has
     * left. */
    void (*on_error)(bool is_left, const char *why);
};

/* Of the options those count that say how output is shown. With spares_files
 * one that is there already is not replaced: on_error. Returns NULL, or what
 * went wrong. */
const char *show_open(struct event_base *base,
                      const struct ep_run_options *options,
                      const struct show_job *job, bool spares_files,
                      const struct show_events *events);
/* Its writer, for others who write files beside it; borrowed until
 * show_close(). */
struct ep_writer *show_writer(void);
/* It is complete with the ends of these channels, bits 1 << TEXT_CHANNEL_, of
 * so many ranks; 0: of all. One that a process does not have ends with it.
 * Before the loop runs. */
void show_expect(unsigned channels, uint32_t ranks);
/* Frees all, drops what is not written. */
void show_close(void);

/* Copied; it goes to the console in a turn of the loop. */
void show_put(const struct show_output *output);
/* Nothing comes behind what was put: on_lost follows. */
void show_lost(void);
/* Is less in hand than there may be? */
bool show_has_room(void);

/* Nothing more is taken from here on; what is in hand is written. */
void show_finish(void);
/* Drops what is not written yet. */
void show_give_up(void);

/* What was dropped on its way to us. */
uint64_t show_dropped_bytes(void);
/* Channels that were asked for and have not ended. */
uint64_t show_open_channels(void);

#endif
