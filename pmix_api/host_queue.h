/* What waits for the socket to the helper: of the job first, then output and
 * words as they came, then the end. */
#ifndef PMIX_API_HOST_QUEUE_H
#define PMIX_API_HOST_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

#include "pmix_api/host.h"

enum px_item_kind {
    PX_ITEM_OUTPUT,
    PX_ITEM_EXIT,   /* of output.proc; value: its status */
    PX_ITEM_PIDS,   /* from output.proc on; value: how many */
    PX_ITEM_DONE,   /* output.proc: the token; value: the answer */
    PX_ITEM_LIVE,   /* value: this pull gets what it wants from here on */
    PX_ITEM_HEARD,  /* value: this pull's nodes have heard of it */
    PX_ITEM_BROKEN, /* output.proc and its channel */
    PX_ITEM_STOP,   /* value: this pull gets nothing from here on */
};

/* Output or a word, waiting for the socket. */
struct px_item {
    struct px_item *next;
    uint64_t nth; /* set as it is pushed */
    struct job_record output;
    uint32_t sent_bytes;
    uint32_t value;
    uint64_t dropped_bytes; /* with `to` */
    uint32_t to;  /* OUTPUT: a pull, which with is_turn gets the channel from
                     here on; 0: all that get it */
    uint8_t kind; /* enum px_item_kind */
    bool is_bare; /* its bytes were released: the end of a channel is left */
};

/* Redirected output that no tool is there for any more, and of which nothing
 * was sent, goes back; where older output of its channel is to come back it
 * goes to the helper behind that, and comes back with it. */
void px_queue_return(struct px_host *host);
/* Sends as much as the socket takes. Returns 0, or OV_ECLOSED when nobody is
 * at its other end. */
int px_queue_pump(struct px_host *host);
/* Bytes that the helper has not been sent and never will: it is told how many
 * with the next ones of their channel. */
void px_queue_count_dropped(struct px_host *host,
                            const struct job_record *output, uint32_t bytes);
/* Releases all that is held but what is redirected, and counts its bytes as
 * dropped; ends of channels and exits stay. */
void px_queue_drop(struct px_host *host);
/* The helper has died: what is redirected goes where all that it had goes
 * (host_salvage.h). */
void px_queue_salvage(struct px_host *host);
/* Releases everything and forgets it. */
void px_queue_clear(struct px_host *host);
/* Queues a copy of it; false when memory is out. */
bool px_queue_push(struct px_host *host, const struct px_item *item);
/* Something may be sent when the socket takes it, and what waits is looked
 * at. */
void px_queue_wake(struct px_host *host);
/* The same, and it is tried in this turn of the loop: mostly there is room. */
void px_queue_soon(struct px_host *host);
/* Something waits for the helper: the timer is to look at it. */
bool px_queue_is_waiting(const struct px_host *host);
/* The timer, unless it runs already. */
void px_queue_arm(struct px_host *host, unsigned ms);
/* Nothing is left to send. */
bool px_queue_is_empty(const struct px_host *host);

#endif
