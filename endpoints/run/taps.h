/* Somebody beside the console who hears of the job and its output.
 *
 * The launcher knows a tap by this table only; what it does with the output
 * is its own affair (commands/run_pmix.c has the one for PMIx tools). A tap
 * never ends the job, and never fails: it can only want no more.
 *
 * All calls and callbacks in the loop's thread.
 */
#ifndef ENDPOINTS_RUN_TAPS_H
#define ENDPOINTS_RUN_TAPS_H

#include <stdbool.h>
#include <stdint.h>

struct event_base;

/* Processes that are neighbours by rank, of one program, on one host. */
struct ep_tap_part {
    const char *host; /* borrowed until the next call, as is program */
    const char *program;
    uint32_t app; /* number of the program */
    uint32_t first_rank;
    uint32_t ranks;
};

/* What a tap may call; never from within a call to it, but on_part, and
 * on_released from close. */
struct ep_tap_events {
    /* Where the ranks are: part `index` of parts, in the order of ranks. */
    void (*on_part)(void *arg, uint32_t index, struct ep_tap_part *out);
    /* The bytes of an output are not needed any more. */
    void (*on_released)(void *arg, uint64_t cookie);
    /* After flush: all is out. */
    void (*on_flushed)(void *arg);
    void (*on_say)(void *arg, const char *text);  /* to the user */
    void (*on_note)(void *arg, const char *text); /* with --verbose */
};

struct ep_tap_cfg {
    struct event_base *base; /* borrowed, as all that follows */
    const char *nspace;      /* the job's name */
    uint32_t size;           /* processes */
    uint32_t apps;           /* programs */
    uint32_t parts;
    const struct ep_tap_events *events;
    void *arg;
};

struct ep_tap_output {
    uint32_t rank;
    uint8_t channel; /* enum ov_channel */
    bool is_end;     /* the channel ends with it */
    const void *mem; /* borrowed until on_released */
    uint32_t len_bytes;
    uint64_t cookie;
};

struct ep_tap_ops {
    /* The job is planned and its daemons are being started. Returns the tap;
     * NULL: there is none, and no other call comes. */
    void *(*open)(const struct ep_tap_cfg *cfg);
    /* Whatever it holds is released. */
    void (*close)(void *tap);
    /* A record. True when it is held: on_released comes. */
    bool (*output)(void *tap, const struct ep_tap_output *output);
    void (*exit)(void *tap, uint32_t rank, uint32_t status);
    /* No output follows. True when on_flushed comes, in seconds at most. */
    bool (*flush)(void *tap);
};

#endif
