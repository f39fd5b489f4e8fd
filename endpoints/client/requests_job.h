/* Jobs that a tap starts: see requests.h. */
#ifndef ENDPOINTS_CLIENT_REQUESTS_JOB_H
#define ENDPOINTS_CLIENT_REQUESTS_JOB_H

#include <stdbool.h>
#include <stdint.h>

#include "endpoints/output/names.h"
#include "job/program.h"

/* Where a job's output goes beside the tap. */
struct ep_client_sinks {
    struct ep_names names;   /* of files; EP_NAMES_NONE: there are none */
    struct text_style style; /* of their lines; without nspace */
    bool is_raw;             /* the bytes are not gathered into lines */
    bool merges_stderr;
    /* On the run's console, too; with is_show_needed the job is not started
     * where there is no console. */
    bool is_shown;
    bool is_show_needed;
};

/* How much is kept of each channel unless the request says how much: room for
 * what a program writes before the clients come that were told about it, and
 * little enough for 64 processes to take 16 MiB. */
enum { EP_CLIENT_CACHE_BYTES = 64 * 1024 };

/* The longest name of a job, with its NUL. */
enum { EP_CLIENT_NAME_BYTES = 64 };

struct ep_client_spawn {
    const struct job_wish *apps; /* borrowed for the call, as all */
    uint32_t apps_count;
    bool has_stddiag; /* its processes have that channel */
    bool has_stdin;   /* it can be pushed to: */
    uint32_t reader;  /* the rank that reads what is pushed; JOB_READERS_ALL */
    struct ep_client_sinks output;
    /* How much of each of these channels (bits, 1 << channel) is kept for
     * on_replay; JOB_CACHE_UNSAID. */
    uint32_t cache_bytes, cache_channels;
};

enum ep_client_refusal {
    EP_CLIENT_NO_ROOM, /* too little room, or a reason that is not listed below
                        */
    EP_CLIENT_NO_HOST, /* a host is not among those the job may be on */
    EP_CLIENT_NO_GROWTH, /* add_hosts names a host that the tree does not have
                          */
    EP_CLIENT_BAD_HOSTS, /* a text or file of hosts makes no sense */
    EP_CLIENT_NO_READER, /* the job does not have that rank */
    EP_CLIENT_BLIND,     /* a host cannot tell what its machine is */
    EP_CLIENT_LATER,     /* not now: the tap is told when to try again */
};

/* The job that begins, or the refusal. */
struct ep_client_spawned {
    char nspace[EP_CLIENT_NAME_BYTES]; /* a name that no other job has had */
    uint32_t base; /* the number of its first process, not 0 */
    uint32_t size, parts;
    /* What is kept; 0: nothing, and EP_CLIENT_JOB_FORGOTTEN does not come. */
    uint32_t cache_bytes;
    enum ep_client_refusal refusal;
};

enum ep_client_event {
    EP_CLIENT_JOB_BEGUN,   /* it is planned, and its nodes are told */
    EP_CLIENT_JOB_STARTED, /* all of its processes run */
    /* A process cannot be started, and the others are ended; comes once. */
    EP_CLIENT_JOB_FAILED,
    EP_CLIENT_JOB_ENDED,    /* all of its processes have ended */
    EP_CLIENT_JOB_FORGOTTEN /* it is over, and none of its output is kept any
                            longer */
};

/* What becomes of a job that a client has started; all of them are told. */
struct ep_client_job {
    enum ep_client_event event;
    uint32_t base;        /* the number of its first process */
    uint32_t size;        /* processes */
    const char *nspace;   /* BEGUN: its name, borrowed */
    uint8_t channels;     /* BEGUN: its channels, 1 << channel each */
    uint32_t apps, parts; /* BEGUN: as in struct ep_client_cfg */
    uint32_t cache_bytes; /* BEGUN: kept of each channel */
    uint32_t rank;        /* FAILED: the process, counted from 0 in its job */
    const char *step;     /* FAILED: what could not be done, borrowed */
    const char *subject;  /* FAILED: the program or directory, borrowed */
    int err;              /* FAILED: why, as an errno */
};

#endif
