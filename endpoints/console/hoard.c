/* Stretches of packets in a spool, first in, first out.
 *
 * All packets that lie in one block are one stretch. It grows while the block
 * is being filled, also when a reader that has caught up with the writer has
 * got it already: the block is in memory then, and its memory goes on. A block
 * of which everything was taken out is given back, so that what is put next
 * begins another one.
 */
#include "config.h"

#include "endpoints/console/hoard.h"

#include <errno.h>
#include <stdlib.h>

#include "endpoints/console/spool.h"
#include "overlay/base/err.h"
#include "overlay/base/panic.h"
#include "overlay/base/wire.h"

enum { HEAD_BYTES = 4 }; /* before each packet: its length */

struct stretch {
    struct stretch *next; /* owned by the list */
    struct ep_spool_ref ref;
    uint32_t payload_bytes; /* without heads */
};

struct ep_hoard {
    struct ep_spool *spool; /* owned */
    struct stretch *first;
    struct stretch *last;
    struct stretch *spare; /* owned; NULL: none */
    const uint8_t *mem;    /* of the first stretch; NULL: it is not got */
    int lost_err;          /* it cannot be got: an errno */
    uint32_t at_bytes;     /* taken out of it */
    uint32_t given_bytes;  /* by the last get, the head too; 0: dropped */
};

int ep_hoard_open(const struct ep_hoard_cfg *cfg, struct ep_hoard **out)
{
    const struct ep_spool_cfg spool_cfg = {
        .limit_bytes = cfg->limit_bytes,
        .dir = cfg->dir,
        .on_change = cfg->on_change,
        .arg = cfg->arg,
    };
    struct ep_hoard *hoard = calloc(1, sizeof(*hoard));
    int rc;

    if (hoard == NULL)
        return OV_ENOMEM;
    rc = ep_spool_open(cfg->writer, &spool_cfg, &hoard->spool);
    if (rc != 0) {
        free(hoard);
        return rc;
    }
    *out = hoard;
    return 0;
}

void ep_hoard_close(struct ep_hoard *hoard)
{
    if (hoard == NULL)
        return;
    ep_spool_close(hoard->spool);
    while (hoard->first != NULL) {
        struct stretch *next = hoard->first->next;

        free(hoard->first);
        hoard->first = next;
    }
    free(hoard->spare);
    free(hoard);
}

/* Lets the last stretch grow by a packet at `ref`. Returns false when that lies
 * in another block. */
static bool last_grow(struct ep_hoard *hoard, const struct ep_spool_ref *ref)
{
    struct stretch *last = hoard->last;

    if (last == NULL || last->ref.block != ref->block)
        return false;
    OV_ASSERT(last->ref.off_bytes + last->ref.len_bytes == ref->off_bytes);
    last->ref.len_bytes += ref->len_bytes;
    last->payload_bytes += ref->len_bytes - HEAD_BYTES;
    return true;
}

/* Puts the spare stretch at the end. */
static void stretch_push(struct ep_hoard *hoard, const struct ep_spool_ref *ref)
{
    struct stretch *stretch = hoard->spare;

    hoard->spare = NULL;
    *stretch = (struct stretch){.ref = *ref};
    stretch->payload_bytes = ref->len_bytes - HEAD_BYTES;
    if (hoard->last != NULL)
        hoard->last->next = stretch;
    else
        hoard->first = stretch;
    hoard->last = stretch;
}

int ep_hoard_put(struct ep_hoard *hoard, const void *mem, uint32_t len_bytes)
{
    uint8_t head[HEAD_BYTES];
    struct ov_wr wr = ov_wr_init(head, sizeof(head));
    struct ep_spool_ref ref;
    int rc;

    if (len_bytes == 0)
        return OV_EINVAL;
    if (hoard->spare == NULL)
        hoard->spare = malloc(sizeof(*hoard->spare));
    if (hoard->spare == NULL)
        return OV_EFULL;
    ov_wr_u32(&wr, len_bytes);
    rc = ep_spool_put(hoard->spool, head, sizeof(head), mem, len_bytes, &ref);
    if (rc != 0)
        return rc;
    if (!last_grow(hoard, &ref))
        stretch_push(hoard, &ref);
    return 0;
}

/* Gets the memory of the first stretch, or finds that it is lost. Returns 0,
 * OV_EAGAIN or OV_ESYS. */
static int first_get(struct ep_hoard *hoard)
{
    int rc;

    if (hoard->lost_err == 0 && hoard->mem == NULL) {
        rc = ep_spool_get(hoard->spool, &hoard->first->ref, &hoard->mem);
        if (rc == OV_EAGAIN)
            return rc;
        if (rc != 0)
            hoard->lost_err = errno;
    }
    if (hoard->lost_err == 0)
        return 0;
    errno = hoard->lost_err;
    return OV_ESYS;
}

int ep_hoard_get(struct ep_hoard *hoard, const uint8_t **mem,
                 uint32_t *len_bytes)
{
    const struct stretch *first = hoard->first;
    struct ov_rd rd;
    int rc;

    if (first == NULL)
        return OV_ENOENT;
    rc = first_get(hoard);
    if (rc == OV_EAGAIN)
        return rc;
    if (rc != 0) {
        hoard->given_bytes = first->ref.len_bytes;
        *len_bytes = first->payload_bytes;
        return rc;
    }
    rd = ov_rd_init(hoard->mem + hoard->at_bytes,
                    first->ref.len_bytes - hoard->at_bytes);
    *len_bytes = ov_rd_u32(&rd);
    *mem = ov_rd_bytes(&rd, *len_bytes);
    OV_ASSERT(!rd.bad);
    hoard->given_bytes = HEAD_BYTES + *len_bytes;
    return 0;
}

/* Takes the first stretch out of the list; it becomes the spare one. */
static void first_drop(struct ep_hoard *hoard)
{
    struct stretch *first = hoard->first;

    ep_spool_release(hoard->spool, &first->ref);
    hoard->first = first->next;
    if (hoard->first == NULL)
        hoard->last = NULL;
    free(hoard->spare);
    hoard->spare = first;
    hoard->mem = NULL;
    hoard->lost_err = 0;
    hoard->at_bytes = 0;
}

void ep_hoard_drop(struct ep_hoard *hoard)
{
    OV_ASSERT(hoard->given_bytes > 0);
    hoard->at_bytes += hoard->given_bytes;
    hoard->given_bytes = 0;
    OV_ASSERT(hoard->at_bytes <= hoard->first->ref.len_bytes);
    if (hoard->at_bytes == hoard->first->ref.len_bytes)
        first_drop(hoard);
}

bool ep_hoard_is_empty(const struct ep_hoard *hoard)
{
    return hoard->first == NULL;
}

int ep_hoard_errno(const struct ep_hoard *hoard)
{
    return ep_spool_errno(hoard->spool);
}
