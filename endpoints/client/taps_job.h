/* Jobs that a tap starts: see taps.h. */
#ifndef ENDPOINTS_CLIENT_TAPS_JOB_H
#define ENDPOINTS_CLIENT_TAPS_JOB_H

#include <stdbool.h>
#include <stdint.h>

#include "endpoints/output/names.h"
#include "job/program.h"

/* What becomes of a job's output beside the tap. */
struct ep_tap_sinks {
    struct ep_names names;   /* of files, EP_NAMES_NONE: there are none */
    struct text_style style; /* of their lines; without nspace */
    bool is_raw;             /* its bytes are not gathered to lines */
    bool merges_stderr;
    bool is_shown; /* on the run's console, too; is_show_needed: nothing is
                      started where there is none */
    bool is_show_needed;
};

/* What is kept of each channel where nobody says how much: room for what a
 * program says before those come who were told of it, and so little that 64
 * processes take 16 MiB. */
enum { EP_TAP_CACHE_BYTES = 64 * 1024 };

/* A job's name has so many bytes at most, with its NUL. */
enum { EP_TAP_NAME_BYTES = 64 };

struct ep_tap_spawn {
    const struct job_wish *apps; /* borrowed for the call, as all */
    uint32_t apps_count;
    bool has_stddiag; /* its processes have that channel */
    bool has_stdin;   /* as far as it is pushed: */
    uint32_t reader;  /* the rank that reads it; JOB_READERS_ALL */
    struct ep_tap_sinks output;
    /* So much of each of these channels (bits, 1 << channel) is kept for
     * on_replay; JOB_CACHE_UNSAID. */
    uint32_t cache_bytes, cache_channels;
};

enum ep_tap_refusal {
    EP_TAP_NO_ROOM,   /* too little room, or anything that is not below */
    EP_TAP_NO_HOST,   /* a host is none of those it may be on */
    EP_TAP_NO_GROWTH, /* add_hosts has one that the tree has not */
    EP_TAP_BAD_HOSTS, /* a text or file of hosts makes no sense */
    EP_TAP_NO_READER, /* it has no such rank */
    EP_TAP_BLIND,     /* a host does not know its machine */
    EP_TAP_LATER,     /* it can be tried again when the tap is told so */
};

/* A job that begins, or (refusal) does not. */
struct ep_tap_spawned {
    char nspace[EP_TAP_NAME_BYTES]; /* no other job has had that name */
    uint32_t base;                  /* the number of its first process, not 0 */
    uint32_t size, parts;
    uint32_t cache_bytes; /* that are kept; 0: nothing, and FORGOTTEN does not
                             come */
    enum ep_tap_refusal refusal;
};

enum ep_tap_event {
    EP_TAP_JOB_BEGUN,    /* it is planned, and its nodes are told */
    EP_TAP_JOB_STARTED,  /* all of its processes run */
    EP_TAP_JOB_FAILED,   /* one cannot be started; the others are ended. Once */
    EP_TAP_JOB_ENDED,    /* all of its processes have */
    EP_TAP_JOB_FORGOTTEN /* nor is anything of its output kept any more */
};

/* What becomes of a job that a client has started; all are told. */
struct ep_tap_job {
    enum ep_tap_event event;
    uint32_t base;      /* the number of its first process */
    uint32_t size;      /* processes */
    const char *nspace; /* BEGUN: its name, borrowed, */
    uint8_t channels;   /* those that its processes have, 1 << channel each, */
    uint32_t apps, parts; /* as of struct ep_tap_cfg, */
    uint32_t cache_bytes; /* and so much of each channel is kept */
    uint32_t rank;        /* FAILED: that process, from 0 in its job, */
    const char *step;     /* borrowed, what could not be done, */
    const char *subject;  /* borrowed, with which program, or directory, */
    int err;              /* and why: an errno */
};

#endif
