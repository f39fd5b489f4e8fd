/* Completion queues, each for a number of links. */
#ifndef ENDPOINTS_OFI_CQ_H
#define ENDPOINTS_OFI_CQ_H

#include "endpoints/ofi/ofi.h"

/* A completion queue, which several links use. */
struct ep_cq {
    struct fid_cq *fid; /* owned */
    struct event *ready;
    struct ep_transport *t; /* borrowed */
    /* Closed links, freed when the queue is empty. */
    struct ep_conns closed;
    TAILQ_ENTRY(ep_cq) link;
    unsigned links;
    bool is_armed; /* the queue is empty, and the descriptor reports when it no
                    * longer is */
    bool is_empty; /* the queue was read to its end in this round */
};

/* Finds a completion queue with room for one more link, or opens one. The
 * caller adds 1 to cq->links. Returns 0, OV_EFABRIC or OV_ENOMEM. */
int ep_cq_find(struct ep_transport *t, struct ep_cq **out);

/* Must be called when anything was done to the queue or to one of its links. */
void ep_cq_disarm(struct ep_cq *cq);

/* Closes queues that no link uses, except one for the next link. */
void ep_cq_close_idle(struct ep_transport *t);
void ep_cq_close_all(struct ep_transport *t);

#endif
