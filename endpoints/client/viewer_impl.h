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

/* The bytes that a client pushes to stdin. */
struct ep_viewer_input {
    struct job_push_set set; /* owned: the processes that get the push */
    uint64_t next; /* the lowest number that may follow; 0: `set` is complete */
    uint8_t *mem;  /* owned: a push that waits until the job takes more */
    uint32_t len_bytes;
    bool is_due;    /* the client has yet to get PUSHED for its last push */
    bool is_closed; /* the last push closes the processes' stdin */
    bool is_there;  /* this client is counted for on_pushers */
    bool is_more;   /* more pieces of the push follow the one in `mem` */
    bool is_within; /* a part of a push was sent, so others wait */
};

/* The client's request for a job. */
struct ep_viewer_request {
    uint8_t *mem; /* owned: the pieces that have arrived; NULL: none */
    uint32_t len_bytes;
    bool is_whole;
    bool is_kept; /* the job begins even after the client has left */
};

struct ep_viewer {
    struct ep_viewer *next;
    struct ep_viewers *all;
    const struct ep_viewer_events *events;
    void *arg;
    int fd;
    char *name; /* owned: the name of the job to attach to; or NULL */
    struct ep_viewer_request request; /* its request for a job, if any */
    bool is_owner;                    /* the client has started the job */
    bool is_kept;                     /* the job goes on without the client */
    bool is_awaited;                  /* the job waits while is_full is true */
    bool is_full;                     /* the last argument of on_hold */
    struct ep_seen_job *job;   /* the job, held; NULL: not attached yet */
    struct ep_outbox *box;     /* owned */
    struct topo_ranges ranges; /* the processes to pull (ep_ranges) */
    bool is_pulling;
    uint8_t channels; /* which channels the client pulls */
    /* Owned, [job->size]. Bit 0: the client pulls this process. Bit 1 <<
     * channel: the client has been told that the channel has ended. */
    uint8_t *told;
    uint64_t *dropped; /* owned, [size * CHANNELS]: bytes dropped; or NULL */
    bool is_behind;    /* the client does not know yet how many */
    bool is_told_live; /* PULLED was sent to the client */
    struct {
        uint32_t bytes; /* how many bytes of each channel */
        bool is_last;   /* the client wants the latest bytes */
    } past;
    struct job_late late;
    struct ep_escrow *escrow; /* the store; NULL: output waits in `box` */
    bool redirects;  /* the client gets output instead of the console */
    uint32_t number; /* the client's number as a writer of stdin */
    struct ep_viewer_input in;
};

struct ep_viewers {
    struct ep_client_cfg cfg; /* events NULL: there is no launch now */
    struct ep_seen seen;
    struct ep_watchers *watchers; /* owned */
    struct ep_viewer *first;      /* the list; clients own the viewers */
    struct ep_viewer_left *left;  /* owned: jobs whose clients have left */
    struct ep_outbox_pool pool;
    struct event *limit; /* owned: fires when a flush takes too long; or NULL */
    struct event *soon;  /* owned: for work not done within a call */
    struct event *kills; /* owned: kills jobs that did not end */
    bool is_new;         /* earlier requests for jobs are due */
    const char *why;     /* the reason told to clients at the end; or NULL */
    uint64_t moved;      /* the progress of clients when `limit` last fired */
    unsigned looks;      /* how often `limit` has fired */
    struct ep_outbox_pool awaited;   /* for clients whose jobs wait */
    struct ep_escrows *escrows;      /* owned; NULL: there is no launch now */
    uint32_t made;                   /* how many viewers were made so far */
    const struct job_request *asked; /* the request being handled; NULL: none */
    bool have_pushers;               /* the last argument of on_pushers */
    /* Called when a viewer closes, when it has more or less to send, and when
     * it begins or ends to push. */
    void (*on_change)(struct ep_viewers *all);
    void (*on_ready)(void *viewer);
};

/* Calls on_soon() of viewers.c in the loop's next turn. */
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
/* Makes the client pull all output of its job, which has just begun. */
void ep_viewer_pull_all(struct ep_viewer *viewer);
/* Sends the client a record. Returns whether only the client gets it. */
bool ep_viewer_output(struct ep_viewer *viewer, const struct job_record *rec);
/* Tells the client what it missed, as far as there is room. */
void ep_viewer_catch_up(struct ep_viewer *viewer);
/* Notes that the node of this process will not answer. */
void ep_viewer_lost(struct ep_viewer *viewer, uint32_t number);
/* Notes the end of this process, and of the channels that it never had. */
void ep_viewer_exit(struct ep_viewer *viewer, uint32_t rank);
bool ep_viewer_wants(const struct ep_viewer *viewer, uint32_t number,
                     uint8_t channel);

/* --- viewer_escrow.c */

/* Opens the client's store and redirects its output, as far as the message asks
 * for this. Returns the same as ep_viewer_hear(). */
const char *ep_viewer_escrow(struct ep_viewer *viewer,
                             const struct job_door *msg);
/* Sends what is in the client's store, as far as its socket takes it. */
void ep_viewer_pump(struct ep_viewer *viewer);

/* --- viewer_redirect.c */

bool ep_viewer_redirects(const struct ep_viewer *viewer, uint32_t number,
                         uint8_t channel);
/* Tells whether the client's store, if any, has room for the record. */
bool ep_viewer_has_room(const struct ep_viewer *viewer,
                        const struct job_record *rec);
/* Sends all that waits for the client, as far as its socket takes it. */
void ep_viewer_send(struct ep_viewer *viewer);
/* Calls ep_viewer_send() when the client's store is ready. */
void ep_viewer_ready(void *viewer);
const char *ep_viewer_taken(struct ep_viewer *viewer,
                            const struct job_door *msg);
/* Opens the stores of all viewers. Returns false when memory is out. */
bool ep_viewers_escrows_open(struct ep_viewers *all);
void ep_viewers_escrows_close(struct ep_viewers *all,
                              const struct ep_client_cfg *run);

/* --- viewer_push.c */

const char *ep_viewer_push(struct ep_viewer *viewer,
                           const struct job_door *msg);
/* Sends the push that waits, if the job takes more or nobody reads it. */
void ep_viewer_push_on(struct ep_viewer *viewer);
void ep_viewer_pushed(struct ep_viewer *viewer);
/* Ends the client's pushes, as it leaves. */
void ep_viewer_push_end(struct ep_viewer *viewer);

/* --- viewer.c */

/* Attaches the client to the job that it waits for; called when there is a
 * launch. Returns NULL, or a sentence, which may lie in `why`. */
const char *ep_viewer_begin(struct ep_viewer *viewer, char *why);

/* --- viewer_spawn.c */

const char *ep_viewer_spawn(struct ep_viewer *viewer,
                            const struct job_door *msg);
/* Tries again to start a job that was put off. Returns as ep_viewer_hear(). */
const char *ep_viewer_spawn_on(struct ep_viewer *viewer);
const char *ep_viewer_signal(struct ep_viewer *viewer,
                             const struct job_door *msg);
/* Tells the client what becomes of the job that it owns. */
void ep_viewer_tell(struct ep_viewer *viewer, const struct ep_client_job *told);
/* Makes the job wait while more than HOLD_BYTES wait for the client. */
void ep_viewer_hold(struct ep_viewer *viewer);
/* Ends the client's job, as the client leaves, unless it is to be kept. */
void ep_viewer_spawn_end(struct ep_viewer *viewer);

/* --- viewer_spawn_wish.c */

/* Calls on_spawn for the request, and returns the same. */
bool ep_viewer_spawn_wish(struct ep_viewers *all,
                          const struct job_request *request,
                          struct ep_client_spawned *out, char *why);

/* --- viewer_attach.c */

/* Opens the outbox unless it is open. Returns 0 or OV_ENOMEM. */
int ep_viewer_box(struct ep_viewer *viewer);
/* Makes the client look at this job. Returns NULL, or an error message. */
const char *ep_viewer_attach(struct ep_viewer *viewer, struct ep_seen_job *job);

#endif
