/* What the files of viewers.h share. */
#ifndef ENDPOINTS_CLIENT_VIEWER_IMPL_H
#define ENDPOINTS_CLIENT_VIEWER_IMPL_H

#include <stdbool.h>
#include <stdint.h>

#include "endpoints/client/outbox.h"
#include "endpoints/client/seen.h"
#include "endpoints/client/viewers.h"
#include "job/late.h"
#include "job/push_set.h"

enum { EP_VIEWER_CHANNELS = 3 };

struct event;

/* What it has pushed. */
struct ep_viewer_input {
    struct job_push_set set; /* owned: whom for */
    uint64_t next; /* its ranges ascend: from here on; 0: it is whole */
    uint8_t *mem;  /* owned: waits until its job takes more */
    uint32_t len_bytes;
    bool is_due;    /* it waits for PUSHED */
    bool is_closed; /* by the push that is due */
    bool is_there;  /* the launcher knows of it: on_pushers */
};

struct ep_viewer {
    struct ep_viewer *next;
    struct ep_viewers *all;
    const struct ep_viewer_events *events;
    void *arg;
    int fd;
    char *name;                /* owned: of the job that it waits for */
    struct ep_seen_job *job;   /* held; NULL: it waits */
    struct ep_outbox *box;     /* owned */
    struct topo_range *ranges; /* owned: what it is to pull */
    uint32_t ranges_count;
    bool is_pulling;
    uint8_t channels; /* that it pulls */
    /* Owned, [job->size]: 1, it pulls this one; and 1 << channel, it knows that
     * the channel has ended. */
    uint8_t *told;
    uint64_t *dropped; /* owned, [job->size * CHANNELS]; NULL: none yet */
    bool is_behind;    /* something of these is to be told when there is room */
    bool is_told_live; /* PULLED was said */
    struct job_late late;
    uint32_t number; /* as a writer */
    struct ep_viewer_input in;
};

struct ep_viewers {
    struct ep_tap_cfg cfg; /* events NULL: the tap is not open */
    struct ep_seen seen;
    struct ep_viewer *first; /* owned by their clients */
    struct ep_outbox_pool pool;
    struct event *limit; /* owned: of a flush; NULL: none */
    uint32_t made;       /* viewers */
    bool have_pushers;   /* as it was told */
    /* One has less to send, begins to push, ends that, or goes. */
    void (*on_change)(struct ep_viewers *all);
};

/* --- viewer_pull.c */

const char *ep_viewer_ranges(struct ep_viewer *viewer,
                             const struct job_door *msg);
const char *ep_viewer_pull(struct ep_viewer *viewer,
                           const struct job_door *msg);
void ep_viewer_output(struct ep_viewer *viewer, const struct job_record *rec);
/* Channels of its job have ended of which it was told in no record. */
void ep_viewer_ended(struct ep_viewer *viewer);
/* There is room to tell what it missed. */
void ep_viewer_catch_up(struct ep_viewer *viewer);
/* The node of this process gives no answers. */
void ep_viewer_lost(struct ep_viewer *viewer, uint32_t number);
bool ep_viewer_wants(const struct ep_viewer *viewer, uint32_t number,
                     uint8_t channel);

/* --- viewer_push.c */

const char *ep_viewer_push(struct ep_viewer *viewer,
                           const struct job_door *msg);
/* Its job takes more, or nobody is left who reads. */
void ep_viewer_push_on(struct ep_viewer *viewer);
void ep_viewer_pushed(struct ep_viewer *viewer);
/* The client goes. */
void ep_viewer_push_end(struct ep_viewer *viewer);

/* --- viewer.c */

/* The tap is open: the job that it waits for is found, or (a sentence, which
 * may lie in `why`) not. */
const char *ep_viewer_begin(struct ep_viewer *viewer, char *why);

#endif
