/* What the files of viewers.h share. */
#ifndef ENDPOINTS_CLIENT_VIEWER_IMPL_H
#define ENDPOINTS_CLIENT_VIEWER_IMPL_H

#include <stdbool.h>
#include <stdint.h>

#include <event2/event.h>

#include "endpoints/client/escrow.h"
#include "endpoints/client/outbox.h"
#include "endpoints/client/seen.h"
#include "endpoints/client/viewers.h"
#include "job/late.h"
#include "job/push_set.h"

enum { EP_VIEWER_CHANNELS = 3 };

/* What a client has pushed. */
struct ep_viewer_input {
    struct job_push_set set; /* owned: the processes it is for */
    uint64_t next; /* its ranges ascend: from here on; 0: it is complete */
    uint8_t *mem;  /* owned: what waits until its job takes more */
    uint32_t len_bytes;
    bool is_due;    /* it waits for PUSHED */
    bool is_closed; /* by the push that is due */
    bool is_there;  /* the launcher knows about it: on_pushers */
    bool is_more;   /* more follows what waits */
    bool is_within; /* more follows what went: others of its job wait */
};

/* The job that a client asks for. */
struct ep_viewer_request {
    uint8_t *mem; /* owned: pieces so far, or the whole; NULL: none */
    uint32_t len_bytes;
    bool is_whole;
    bool is_kept; /* it waits, and begins even without its client */
};

struct ep_viewer {
    struct ep_viewer *next;
    struct ep_viewers *all;
    const struct ep_viewer_events *events;
    void *arg;
    int fd;
    char *name; /* owned: of the job that it waits for; or NULL */
    struct ep_viewer_request request; /* for a job, or none */
    bool is_owner;             /* its job ends with it, unless it is_kept */
    bool is_kept;              /* its job goes on without it */
    bool is_awaited;           /* its job waits while it is_full */
    bool is_full;              /* as the launcher was told */
    struct ep_seen_job *job;   /* held; NULL: it waits for one */
    struct ep_outbox *box;     /* owned */
    struct topo_ranges ranges; /* ep_ranges: what it is to pull */
    bool is_pulling;
    uint8_t channels; /* that it pulls */
    /* Owned, [job->size]: bit 0, it pulls this process; and 1 << channel, it
     * knows that the channel has ended. */
    uint8_t *told;
    uint64_t *dropped; /* owned, [job->size * CHANNELS]; NULL: none yet */
    bool is_behind;    /* `dropped` has something to tell when there is room */
    bool is_told_live; /* PULLED was said */
    struct {
        uint32_t bytes; /* wanted from before, of each channel */
        bool is_last;   /* these are to be the latest ones */
    } past;
    struct job_late late;
    struct ep_escrow *escrow; /* what waits; NULL: that is in its box */
    bool redirects;           /* it takes its output instead of the console */
    uint32_t number;          /* of it as a writer */
    struct ep_viewer_input in;
};

struct ep_viewers {
    struct ep_client_cfg cfg; /* events NULL: the tap is not open */
    struct ep_seen seen;
    struct ep_watchers *watchers; /* owned */
    struct ep_viewer *first;      /* each owned by its client */
    struct ep_viewer_left *left;  /* owned: jobs that are still to begin */
    struct ep_outbox_pool pool;
    struct event *limit; /* owned: of a flush; NULL: none */
    struct event *soon;  /* owned: for what cannot be said from within a call */
    struct event *kills; /* owned: for jobs that were asked to end */
    bool is_new;         /* jobs that were asked for before are still due */
    const char *why;     /* told to clients at the end; NULL: nothing */
    uint64_t moved;      /* packets at the last look of `limit` */
    unsigned looks;      /* how many looks of `limit` there were */
    struct ep_outbox_pool awaited;   /* of the clients whose jobs wait */
    struct ep_escrows *escrows;      /* owned; NULL: the tap is not open */
    uint32_t made;                   /* viewers */
    const struct job_request *asked; /* being carried out; NULL: none */
    bool have_pushers;               /* as the launcher was told */
    /* A viewer has less or more to send, begins or ends pushing, or goes. */
    void (*on_change)(struct ep_viewers *all);
    void (*on_ready)(void *viewer);
};

/* Has the loop look at these viewers soon. */
static inline void ep_viewers_soon(struct ep_viewers *all)
{
    if (all->soon != NULL)
        event_active(all->soon, 0, 0);
}

/* --- viewer_pull.c */

const char *ep_viewer_ranges(struct ep_viewer *viewer,
                             const struct job_door *msg);
const char *ep_viewer_pull(struct ep_viewer *viewer,
                           const struct job_door *msg);
/* Pulls all output of a job that has just begun. */
void ep_viewer_pull_all(struct ep_viewer *viewer);
/* Returns true when it has the record instead of the console. */
bool ep_viewer_output(struct ep_viewer *viewer, const struct job_record *rec);
/* Tells what it missed, as far as there is room. */
void ep_viewer_catch_up(struct ep_viewer *viewer);
/* The node of this process gives no answers. */
void ep_viewer_lost(struct ep_viewer *viewer, uint32_t number);
/* This process has ended, and with it the channels that it never had. */
void ep_viewer_exit(struct ep_viewer *viewer, uint32_t rank);
bool ep_viewer_wants(const struct ep_viewer *viewer, uint32_t number,
                     uint8_t channel);

/* --- viewer_escrow.c */

/* Opens the store of its pull, whose processes are marked, and redirects if the
 * message says so. Returns as ep_viewer_hear(). */
const char *ep_viewer_escrow(struct ep_viewer *viewer,
                             const struct job_door *msg);
/* Sends what is in its store, as far as its socket takes it. */
void ep_viewer_pump(struct ep_viewer *viewer);

/* --- viewer_redirect.c */

bool ep_viewer_redirects(const struct ep_viewer *viewer, uint32_t number,
                         uint8_t channel);
/* True when it can be given the record, or the record is not for it. */
bool ep_viewer_has_room(const struct ep_viewer *viewer,
                        const struct job_record *rec);
/* Sends all that there is for it, as far as its socket takes it now. */
void ep_viewer_send(struct ep_viewer *viewer);
/* Does the same, as there is something in its store, or room. */
void ep_viewer_ready(void *viewer);
const char *ep_viewer_taken(struct ep_viewer *viewer,
                            const struct job_door *msg);
/* Opens the stores together with the tap. False: memory is out. */
bool ep_viewers_escrows_open(struct ep_viewers *all);
void ep_viewers_escrows_close(struct ep_viewers *all,
                              const struct ep_client_cfg *run);

/* --- viewer_push.c */

const char *ep_viewer_push(struct ep_viewer *viewer,
                           const struct job_door *msg);
/* Its job takes more, or no reader is left. */
void ep_viewer_push_on(struct ep_viewer *viewer);
void ep_viewer_pushed(struct ep_viewer *viewer);
/* The client goes. */
void ep_viewer_push_end(struct ep_viewer *viewer);

/* --- viewer.c */

/* The tap is open: finds the job that it waits to attach to. Returns NULL, or a
 * sentence, which may lie in `why`. */
const char *ep_viewer_begin(struct ep_viewer *viewer, char *why);

/* --- viewer_spawn.c */

const char *ep_viewer_spawn(struct ep_viewer *viewer,
                            const struct job_door *msg);
/* Tries again what was put off. Returns as ep_viewer_hear(). */
const char *ep_viewer_spawn_on(struct ep_viewer *viewer);
const char *ep_viewer_signal(struct ep_viewer *viewer,
                             const struct job_door *msg);
/* Tell it what becomes of the job that it owns. */
void ep_viewer_started(struct ep_viewer *viewer);
void ep_viewer_unstarted(struct ep_viewer *viewer,
                         const struct ep_client_job *told);
void ep_viewer_over(struct ep_viewer *viewer);
/* Lets its job wait while much is kept for it. */
void ep_viewer_hold(struct ep_viewer *viewer);
/* The client goes, and its job with it unless that is to be kept. */
void ep_viewer_spawn_end(struct ep_viewer *viewer);

/* --- viewer_spawn_wish.c */

/* Asks the launcher for the job. Returns as on_spawn. */
bool ep_viewer_spawn_wish(struct ep_viewers *all,
                          const struct job_request *request,
                          struct ep_client_spawned *out, char *why);

/* --- viewer_attach.c */

/* Opens its outbox, once. Returns 0 or OV_ENOMEM. */
int ep_viewer_box(struct ep_viewer *viewer);
/* It looks at this job from now on. Returns NULL, or what is wrong. */
const char *ep_viewer_attach(struct ep_viewer *viewer, struct ep_seen_job *job);

#endif
