/* Operations in flight: from a post to the reading of its completion. */
#ifndef TESTS_PROVIDER_OP_H
#define TESTS_PROVIDER_OP_H

#include "tests/provider/strict.h"

/* What a call to post something came with. */
struct strict_post {
    const struct iovec *iov;
    void **desc;
    size_t count;
    void *context;
    bool is_recv;
    bool is_copied; /* injected: the buffer is free again at once */
};

struct strict_op {
    struct strict_op *next;
    struct strict_op **back; /* what points to this one */
    struct strict_ep *ep;    /* NULL once the endpoint is closed */
    struct strict_cq *cq;
    void *context;
    struct strict_mr *mrs[STRICT_IOV_MAX];
    struct iovec iov[STRICT_IOV_MAX];
    size_t count;
    uint64_t sum; /* of the bytes of a send */
    uint64_t magic;
    bool is_recv, is_copied, was_dry;
    bool after_wait; /* posted after the queue was read without a receive */
};

/* Checks a post and books it. NULL: the caller has to try again. */
struct strict_op *strict_op_new(struct strict_ep *ep,
                                const struct strict_post *post);
/* Unbooks and frees an operation that the core refused, or an orphan. */
void strict_op_drop(struct strict_op *op);
/* Takes the context of the core's completion, checks and frees the operation,
 * gives the program's context.
 */
void *strict_op_done(struct strict_cq *cq, void *core_context);
/* The endpoint is closed: its operations in flight wait in their queues. */
void strict_op_orphan(struct strict_ep *ep);
/* Aborts unless a post is legal now. */
void strict_post_check(const struct strict_ep *ep, bool is_recv);

/* cq.c: looks into the core's queue; says whether op is done. What is found
 * there waits for the program's next read.
 */
bool strict_cq_look(struct strict_cq *cq, const struct strict_op *op);

/* msg.c */
extern struct fi_ops_msg strict_msg_ops;

#endif
