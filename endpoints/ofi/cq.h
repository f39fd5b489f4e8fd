/* Completion queues, each for a number of links. */
#ifndef ENDPOINTS_OFI_CQ_H
#define ENDPOINTS_OFI_CQ_H

#include "endpoints/ofi/ofi.h"

/* A completion queue with its links. */
struct ep_cq {
    struct fid_cq *fid; /* owned */
    struct event *ready;
    struct ep_transport *t; /* borrowed */
    struct ep_conns closed; /* wait for the queue to be empty */
    TAILQ_ENTRY(ep_cq) link;
    unsigned links;
    bool is_armed; /* nothing to read; the descriptor tells of more */
    bool is_empty; /* read to its end in this round */
};

/* A completion queue with room for one more link, opened when there is
 * none. The caller counts its link. OV_EFABRIC or OV_ENOMEM.
 */
int ep_cq_find(struct ep_transport *t, struct ep_cq **out);

/* Something was done to the queue or a link of it. */
void ep_cq_disarm(struct ep_cq *cq);

/* Queues that lost their last link go, but one stays for the next. */
void ep_cq_close_idle(struct ep_transport *t);
void ep_cq_close_all(struct ep_transport *t);

#endif
