/* Operations in flight: checked when they are posted, and again when they
 * complete. */
#include "tests/provider/op.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const uint64_t op_magic = 0x737472696374206Fu;

void strict_post_check(const struct strict_ep *ep, bool is_recv)
{
    if (ep->domain->pid != getpid())
        strict_abort("FORK",
                     "an endpoint is used in process %d that was "
                     "opened in %d",
                     (int)getpid(), (int)ep->domain->pid);
    if (!ep->is_enabled)
        strict_abort("STATE", "%s posted before the endpoint is enabled",
                     is_recv ? "receive" : "send");
    if (!is_recv && ep->state != STRICT_UP && ep->state != STRICT_DOWN)
        strict_abort("STATE", "send posted before FI_CONNECTED was read");
}

static struct strict_mr *check_part(const struct strict_ep *ep,
                                    const struct strict_post *post, size_t i)
{
    const struct iovec *part = &post->iov[i];
    uintptr_t first = (uintptr_t)part->iov_base;
    const char *kind = post->is_recv ? "receive" : "send";
    void *desc = post->desc != NULL ? post->desc[i] : NULL;
    struct strict_mr *mr;

    if (part->iov_len == 0)
        return NULL;
    if (desc == NULL)
        strict_abort("MR", "%s of %zu bytes without a descriptor", kind,
                     part->iov_len);
    mr = strict_mr_find(ep->domain, desc);
    if (mr == NULL)
        strict_abort("MR", "%s with descriptor %p of no open region", kind,
                     desc);
    if (first < mr->first || part->iov_len > mr->len_bytes ||
        first - mr->first > mr->len_bytes - part->iov_len)
        strict_abort("MR",
                     "%s of %zu bytes at %p leaves its region of %zu "
                     "bytes at %p",
                     kind, part->iov_len, part->iov_base, mr->len_bytes,
                     (void *)mr->first);
    if ((mr->access & (post->is_recv ? FI_RECV : FI_SEND)) == 0)
        strict_abort("MR", "%s in a region registered without FI_%s", kind,
                     post->is_recv ? "RECV" : "SEND");
    return mr;
}

static void check_parts(const struct strict_ep *ep,
                        const struct strict_post *post,
                        struct strict_mr *mrs[STRICT_IOV_MAX])
{
    if (post->count > STRICT_IOV_MAX)
        strict_abort("IOV", "%s of %zu parts, %d is the limit",
                     post->is_recv ? "receive" : "send", post->count,
                     STRICT_IOV_MAX);
    for (size_t i = 0; i < post->count; i++)
        mrs[i] = post->is_copied ? NULL : check_part(ep, post, i);
    if (ep->context_words > 0 && post->context == NULL)
        strict_abort("CONTEXT",
                     "%s without context memory, which the mode "
                     "asks for",
                     post->is_recv ? "receive" : "send");
}

/* A weak checksum is enough, because it only guards against accidents. */
static uint64_t sum_parts(const struct iovec *iov, size_t count)
{
    uint64_t sum = 1, word;

    for (size_t i = 0; i < count; i++) {
        const uint8_t *at = iov[i].iov_base;
        size_t left = iov[i].iov_len;

        for (; left >= sizeof(word); left -= sizeof(word)) {
            memcpy(&word, at, sizeof(word));
            at += sizeof(word);
            sum = (sum ^ word) * 0x9E3779B97F4A7C15u;
            sum ^= sum >> 29;
        }
        for (; left > 0; left--)
            sum = (sum ^ *at++) * 0x100000001B3u;
    }
    return sum;
}

static void *guard_word(const struct strict_op *op, unsigned i)
{
    return (void *)((uintptr_t)op ^ (uintptr_t)op_magic ^ i);
}

/* Overwrites the context: while an operation is in flight, its memory belongs
 * to the provider. */
static void guard_set(struct strict_op *op, unsigned words)
{
    void **mem = op->context;

    for (unsigned i = 0; i < words; i++)
        mem[i] = guard_word(op, i);
}

static void guard_check(const struct strict_op *op, unsigned words)
{
    void **mem = op->context;

    for (unsigned i = 0; i < words; i++)
        if (mem[i] != guard_word(op, i))
            strict_abort("CONTEXT",
                         "context memory at %p of a %s in flight "
                         "was changed, or used twice",
                         op->context, op->is_recv ? "receive" : "send");
}

static void link_op(struct strict_op *op, struct strict_op **head)
{
    op->back = head;
    op->next = *head;
    if (op->next != NULL)
        op->next->back = &op->next;
    *head = op;
}

static void unlink_op(struct strict_op *op)
{
    *op->back = op->next;
    if (op->next != NULL)
        op->next->back = op->back;
}

static bool has_room(struct strict_ep *ep, const struct strict_post *post)
{
    struct strict_cq *cq = post->is_recv ? ep->rx_cq : ep->tx_cq;

    if (post->is_recv ? ep->rx_posted >= ep->rx_depth
                      : ep->tx_posted >= ep->tx_depth)
        return false;
    if (strict_domain_chance(ep->domain))
        return false;
    if (cq->in_flight >= cq->size)
        strict_abort("CQ",
                     "%zu operations in flight can overrun a completion "
                     "queue of %zu entries",
                     cq->in_flight + 1, cq->size);
    return true;
}

static void count_up(struct strict_op *op)
{
    struct strict_ep *ep = op->ep;

    for (size_t i = 0; i < op->count; i++)
        if (op->mrs[i] != NULL)
            op->mrs[i]->in_use++;
    op->cq->in_flight++;
    if (!op->is_recv) {
        ep->tx_posted++;
        return;
    }
    ep->rx_posted++;
    op->was_dry = ep->is_dry;
    op->after_wait = ep->is_dry && op->cq->reads > ep->dry_since;
    ep->is_dry = false;
}

static void count_down(struct strict_op *op)
{
    for (size_t i = 0; i < op->count; i++)
        if (op->mrs[i] != NULL)
            op->mrs[i]->in_use--;
    op->cq->in_flight--;
    if (op->is_recv)
        op->ep->rx_posted--;
    else
        op->ep->tx_posted--;
}

struct strict_op *strict_op_new(struct strict_ep *ep,
                                const struct strict_post *post)
{
    struct strict_mr *mrs[STRICT_IOV_MAX];
    struct strict_op *op;

    strict_post_check(ep, post->is_recv);
    check_parts(ep, post, mrs);
    if (!has_room(ep, post))
        return NULL;
    op = calloc(1, sizeof(*op));
    if (op == NULL)
        return NULL;
    op->magic = op_magic;
    op->ep = ep;
    op->cq = post->is_recv ? ep->rx_cq : ep->tx_cq;
    op->context = post->context;
    op->count = post->count;
    op->is_recv = post->is_recv;
    op->is_copied = post->is_copied;
    for (size_t i = 0; i < post->count; i++) {
        op->mrs[i] = mrs[i];
        op->iov[i] = post->iov[i];
        if (post->is_recv && post->iov[i].iov_len > 0)
            memset(post->iov[i].iov_base, STRICT_POISON, post->iov[i].iov_len);
    }
    if (!post->is_recv && !post->is_copied)
        op->sum = sum_parts(op->iov, op->count);
    guard_set(op, ep->context_words);
    link_op(op, &ep->ops);
    count_up(op);
    return op;
}

/* Frees an operation that the core refused, or an orphan. */
void strict_op_drop(struct strict_op *op)
{
    if (op->ep != NULL) {
        count_down(op);
        if (op->was_dry)
            op->ep->is_dry = true;
    }
    unlink_op(op);
    op->magic = 0;
    free(op);
}

void *strict_op_done(struct strict_cq *cq, void *core_context)
{
    struct strict_op *op = core_context;
    void *context;

    if (op == NULL || op->magic != op_magic || op->cq != cq)
        strict_abort("CQ", "a completion of no operation in flight");
    context = op->context;
    if (op->ep != NULL) {
        guard_check(op, op->ep->context_words);
        if (!op->is_recv && !op->is_copied &&
            op->sum != sum_parts(op->iov, op->count))
            strict_abort("BUFFER", "bytes of a send were changed before it "
                                   "was complete");
        count_down(op);
        if (op->is_recv)
            strict_ep_note_dry(op->ep);
    }
    unlink_op(op);
    op->magic = 0;
    free(op);
    return context;
}

/* Handles the operations of an endpoint that is closed. Their completions may
 * still be in the queues; the others are forgotten with the queue. */
void strict_op_orphan(struct strict_ep *ep)
{
    struct strict_op *op;

    while ((op = ep->ops) != NULL) {
        count_down(op);
        unlink_op(op);
        op->ep = NULL;
        link_op(op, &op->cq->orphans);
    }
}
