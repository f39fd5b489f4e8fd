/* Jobs that clients ask the launcher to start: see on_spawn of requests.h. */
#ifndef ENDPOINTS_CLIENT_REQUESTS_JOB_H
#define ENDPOINTS_CLIENT_REQUESTS_JOB_H

#include <stdbool.h>
#include <stdint.h>

#include "endpoints/output/names.h"
#include "job/job.h"
#include "job/program.h"

/* Where a job's output goes, apart from clients. */
struct ep_client_sinks {
    /* the names of the job's files; EP_NAMES_NONE: it has no files */
    struct ep_names names;
    struct text_style style; /* how lines in files begin; nspace is not set */
    bool is_raw; /* bytes are written as they arrive, not as whole lines */
    bool merges_stderr;
    /* is_shown: the run's console shows the output, too. With is_show_needed
     * the job is not started when there is no console. */
    bool is_shown;
    bool is_show_needed;
};

/* How much output is kept of each channel unless the request says how much. It
 * is enough for what a program writes until clients connect that have just
 * learned of the job, and little enough for 64 processes to take 16 MiB. */
enum { EP_CLIENT_CACHE_BYTES = 64 * 1024 };

/* The size of the longest name of a job, with its NUL. */
enum { EP_CLIENT_NAME_BYTES = 64 };

struct ep_client_spawn {
    /* borrowed during the call, like all pointers here */
    const struct job_wish *apps;
    uint32_t apps_count;
    bool has_stddiag;       /* the processes have the stddiag channel */
    bool has_stdin;         /* clients can push to the job's stdin; then
                             * `reader` is valid */
    uint32_t reader;        /* the rank that reads stdin, or JOB_READERS_ALL */
    bool keeps_last;        /* of progress bars the last state alone comes */
    struct job_watch watch; /* which processes are told as STALLED */
    struct ep_client_sinks output;
    /* How much output of each of these channels (bits, 1 << channel) is kept
     * for on_replay; JOB_CACHE_UNSAID when the request does not say. */
    uint32_t cache_bytes, cache_channels;
};

enum ep_client_refusal {
    /* Too few nodes or processes are free, or the reason is none of the reasons
     * below. */
    EP_CLIENT_NO_ROOM,
    EP_CLIENT_NO_HOST, /* a host is not among those the job may use */
    /* add_hosts names a host that is not in the tree */
    EP_CLIENT_NO_GROWTH,
    EP_CLIENT_BAD_HOSTS, /* a list or a file of hosts makes no sense */
    EP_CLIENT_NO_READER, /* the job does not have the rank `reader` */
    EP_CLIENT_BLIND,     /* a host cannot find out what its machine is */
    EP_CLIENT_LATER,     /* The job cannot start now; ep_viewers_again() tries
                          * once more. */
};

/* The job that begins, or the reason why no job does (`refusal`). */
struct ep_client_spawned {
    char nspace[EP_CLIENT_NAME_BYTES]; /* a name that no other job has had */
    uint32_t base; /* the number of its first process, not 0 */
    uint32_t size, parts;
    /* How much output is kept of each channel. When it is 0,
     * EP_CLIENT_JOB_FORGOTTEN is never reported. */
    uint32_t cache_bytes;
    enum ep_client_refusal refusal;
};

enum ep_client_event {
    EP_CLIENT_JOB_BEGUN,   /* the job is planned, and its nodes are told */
    EP_CLIENT_JOB_STARTED, /* all processes of the job run */
    /* A process cannot be started, so the others are killed; reported once. */
    EP_CLIENT_JOB_FAILED,
    /* A process has failed, or it turned out that another one failed earlier.
     * The process is the earliest known one. */
    EP_CLIENT_JOB_FIRST,
    /* Processes make no progress, or make progress again. */
    EP_CLIENT_JOB_STALLED,
    EP_CLIENT_JOB_ENDED, /* all processes of the job have ended */
    /* The job has ended, and none of its output is kept any longer. */
    EP_CLIENT_JOB_FORGOTTEN
};

/* A change in the life of a job that a client has started; the launcher reports
 * each change to its tap. */
struct ep_client_job {
    enum ep_client_event event;
    uint32_t base;        /* the number of its first process */
    uint32_t size;        /* how many processes the job has */
    const char *nspace;   /* BEGUN: the job's name, borrowed */
    uint8_t channels;     /* BEGUN: the job's channels, 1 << channel each */
    uint32_t apps, parts; /* BEGUN: how many programs and parts it has */
    uint32_t cache_bytes; /* BEGUN: how much output is kept of each channel */
    uint32_t rank;        /* FAILED, FIRST: the process, by its rank */
    int status;           /* FIRST: how it ended, as from waitpid() */
    /* FIRST: a sentence about the process, or "". ENDED: lines about all other
     * processes that did not return 0, or NULL. STALLED: a sentence, or "".
     * Borrowed. */
    const char *words;
    const char
        *note; /* ENDED: a notice for the user of the job, or NULL; borrowed */
    /* STALLED: for each rank, whether the process makes no progress; NULL: no
     * process is named. Borrowed. */
    const bool *are_stalled;
    const char *step; /* FAILED: the step of the start that failed, borrowed */
    const char *subject; /* FAILED: the program or directory, borrowed */
    int err;             /* FAILED: the errno of that step */
};

#endif
