/* What the files of the launcher's side share. */
#ifndef PMIX_API_HOST_IMPL_H
#define PMIX_API_HOST_IMPL_H

#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>

#include <event2/event.h>

#include "job/job.h"
#include "pmix_api/folder.h"
#include "pmix_api/host.h"
#include "pmix_api/host_job.h"
#include "pmix_api/host_process.h"
#include "pmix_api/host_pulls.h"
#include "pmix_api/host_queue.h"
#include "pmix_api/share.h"
#include "pmix_api/wire.h"

enum {
    PX_LOOK_MS = 250,   /* between two looks while something waits */
    PX_OUTPUTS_MAX = 4, /* told at a time */
    PX_PUSHES_MAX = 4,  /* the same, of a stream */
    PX_STREAMS = JOB_STREAM_PUSHED + 1,
    PX_REASON_MAX = 512,
};

enum px_host_phase {
    PX_HOST_DOWN,  /* there is none: restarted later, or given up */
    PX_HOST_START, /* it is being told of the job */
    PX_HOST_READY, /* it was told */
};

/* What tools push, on its way from the helper to the streams. */
struct px_pushing {
    struct event *turn; /* owned: some may be told */
    /* By stream of job/job.h: told, and without px_host_pushed(). */
    uint32_t held[PX_STREAMS];
    uint32_t last;          /* base of the further job whose turn it was last */
    uint32_t window_bytes;  /* of PUSHes that may come at a time, */
    uint32_t granted_bytes; /* and that may come still */
    uint32_t grants_due;    /* bytes */
    uint64_t next; /* the set that is being named goes on with this process or
                      a later one; 0: it is whole */
    bool is_handing_on; /* within on_push */
    bool is_held_due;   /* what stdin has is told before */
    bool is_rest_due;   /* no pusher is left, behind all pushes */
};

struct px_host {
    struct px_host_cfg cfg;
    char folder[PX_PATH_MAX]; /* of this helper; "" without one */
    pid_t pid;                /* -1: none */
    int fd;
    struct px_share share; /* none where it could not be made */
    bool is_share_full;    /* the helper says when it is not */
    bool is_share_stuck;   /* it does not: bytes go through the socket */
    struct event *reads, *writes;
    struct event *timer; /* restart while down, else the watch */
    enum px_host_phase phase;
    struct px_host_job *jobs;            /* owned; the run's own first */
    struct px_item *items, **items_last; /* owned, in order */
    uint64_t pushed;                     /* items so far */
    struct px_host_pull *pulls;          /* owned */
    uint32_t stops;                      /* of them so far */
    uint64_t answered_ms;                /* the last PONG, or its beginning */
    unsigned held_looks; /* since it last took something, while some waits */
    unsigned looks;      /* since a PING was due, and no answer; 0: none is */
    unsigned answer_ms;  /* it may take so long */
    bool is_slow_timer;  /* nothing waits but the next PING */
    uint64_t flush_ms;   /* px_host_flush() was called; 0: not */
    bool is_ping_due;
    bool is_up;     /* it has said so */
    bool was_up;    /* one of them has */
    bool is_failed; /* since then none has come up, and the user knows */
    char reason[PX_REASON_MAX]; /* why this one does not come up; "" unknown */
    bool has_tools;
    bool has_file; /* px_rendezvous_path() is ours, this one: */
    struct stat file;
    bool is_deaf; /* it takes nothing: nothing is held for it */
    char *log;    /* owned: pieces of a text of a tool; NULL: none yet */
    uint32_t log_bytes;
    uint8_t *spawn; /* owned: pieces of what a tool asks for */
    size_t spawn_bytes;
    struct px_wait *waits; /* owned: jobs to be asked for later, in order */
    bool is_told;          /* the user knows that a helper has died */
    bool is_flush_due, is_flush_sent;
    bool is_flushed; /* but for what is given back */
    uint32_t starts;
    struct px_pushing push;
    uint32_t backs;     /* told, and without px_host_took_back() */
    uint32_t taken_due; /* words TAKEN */
    /* Sent redirected to all helpers; and to those before this one. */
    uint64_t redirected_bytes, redirected_before;
    struct {
        struct px_host_pull *pulls; /* owned: of helpers that have died */
        unsigned out;               /* told, and without px_host_took_back() */
        struct event *turn;         /* owned: some may be told */
    } salvage;
};

enum px_stdin_bit {
    PX_STDIN_OPEN = 1,
    PX_STDIN_NAMED = 2,  /* by the push of the tools that came last */
    PX_STDIN_BEHIND = 4, /* its job waits for it */
    PX_STDIN_ENDED = 8,  /* it has none any more, whoever says that it has */
};

static inline uint64_t px_now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* Something is still to be given back that went down with a helper. */
static inline bool px_is_returning(const struct px_host *host)
{
    return host->salvage.pulls != NULL;
}

/* --- host_revival.c: the next helper. */

/* What has become of one, to be said behind its name. */
void px_revival_explain(const struct px_host *host, int status, char *out,
                        size_t size);
/* There is none any more, or none was started, and this is what has become of
 * it: says so, and arms the timer for the next one unless that is given up. */
void px_revival_plan(struct px_host *host, const char *cause);
/* So many bytes at most went down with the last one; which ones. */
void px_revival_say_lost(struct px_host *host, uint64_t bytes,
                         const char *which);

/* --- host_flush.c: the end of a job waits for tools. */

/* All that they wanted has gone to them, or cannot. */
void px_flush_done(struct px_host *host);
/* The launcher has nothing to give back any more, perhaps. */
void px_flush_go_on(struct px_host *host);
/* The helper should have said so. */
bool px_flush_is_late(const struct px_host *host, uint64_t now_ms);

/* --- host_stage.c: how far the job is. */

/* No process of any job runs any more, or none is heard of. */
void px_stages_end(struct px_host *host);

/* --- host_tell.c: what the helper is told of the jobs. */

/* One packet: 1 when it went, 0 when there is no room, or OV_ECLOSED. */
int px_tell_packet(struct px_host *host, const uint8_t *mem, size_t len);
/* So many outputs of one record; returns how many of them went, from the first
 * on, else as above. */
int px_tell_outputs(struct px_host *host, const struct px_output *outputs,
                    unsigned count);
int px_tell(struct px_host *host, const struct px_msg *msg);
/* All that is due before output: 1 when it went, else as above. */
int px_tell_jobs(struct px_host *host);
/* And behind it: the stages. */
int px_tell_stages(struct px_host *host);

/* --- host_spawn.c: jobs that tools start. */

void px_spawn_heard(struct px_host *host, const struct px_spawn_piece *piece);
/* Who has asked for that job is gone, and so is it; 0: all who have asked. */
void px_spawn_hangup(struct px_host *host, uint32_t token);
/* The helper has gone, and what it was about to say, or has not begun. */
void px_spawn_forget(struct px_host *host);
/* What has not begun will not. */
void px_spawn_refuse(struct px_host *host);
/* A pull has ended, and gets nothing of a job that begins later. */
void px_spawn_unpull(struct px_host *host, uint32_t pull);

/* --- host_push.c */

/* The helper has said so; OV_EPROTO: it makes no sense. */
int px_push_heard(struct px_host *host, const struct px_push *push);
/* A tool is about to push, and the helper is told that this is known; or none
 * is left. */
void px_push_hold(struct px_host *host, bool are_there);
/* A helper begins: what it may send. */
void px_push_begin(struct px_host *host);
/* A job is over: nobody reads what was pushed to it. */
void px_push_over(struct px_host *host, struct px_host_job *job);
/* OV_ENOMEM. */
int px_push_open(struct px_host *host);
void px_push_close(struct px_host *host);

#endif
