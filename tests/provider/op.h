/* Operations in flight: from a post to the reading of its completion. */
#ifndef TESTS_PROVIDER_OP_H
#define TESTS_PROVIDER_OP_H

#include "tests/provider/strict.h"

/* The arguments of a call that posts an operation. */
struct strict_post {
    const struct iovec *iov;
    void **desc;
    size_t count;
    void *context;
    bool is_recv;
    bool is_copied; /* the data was copied (inject), so the buffer is free at
                     * once */
};

struct strict_op {
    struct strict_op *next;
    struct strict_op **back; /* the pointer that points to this operation */
    struct strict_ep *ep;    /* NULL once the endpoint is closed */
    struct strict_cq *cq;
    void *context;
    struct strict_mr *mrs[STRICT_IOV_MAX];
    struct iovec iov[STRICT_IOV_MAX];
    size_t count;
    uint64_t sum; /* the checksum of the bytes of a send */
    uint64_t magic;
    bool is_recv, is_copied, was_dry;
    bool after_wait; /* the operation was posted after the queue was read
                      * without a receive */
};

/* Checks an operation that is to be posted, and counts it. NULL: the caller has
 * to try again. */
struct strict_op *strict_op_new(struct strict_ep *ep,
                                const struct strict_post *post);
/* Uncounts and frees an operation that the core refused, or whose endpoint is
 * closed. */
void strict_op_drop(struct strict_op *op);
/* Takes the context of the core's completion, checks and frees the operation,
 * and returns the program's context. */
void *strict_op_done(struct strict_cq *cq, void *core_context);
/* Handles the end of an endpoint: its operations in flight stay in their
 * queues. */
void strict_op_orphan(struct strict_ep *ep);
/* Aborts unless an operation may be posted now. */
void strict_post_check(const struct strict_ep *ep, bool is_recv);

/* Looks into the core's queue (cq.c) and returns whether op has completed.
 * Entries found there are kept for the program's next read. */
bool strict_cq_look(struct strict_cq *cq, const struct strict_op *op);

/* msg.c */
extern struct fi_ops_msg strict_msg_ops;

#endif
