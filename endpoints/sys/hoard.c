/* Stretches of packets in a spool, first in, first out. A position in one of
 * them separates packets that were read, and stay until they are forgotten,
 * from the packets that were not read.
 *
 * All packets that lie in one block are one stretch. A stretch grows while its
 * block is being filled, even when a reader that has read all packets has its
 * memory already: the block is in memory then, and more bytes are added to the
 * same memory. A block whose packets were all forgotten is freed, so that the
 * next packet begins another one.
 */
#include "config.h"

#include "endpoints/sys/hoard.h"

#include <errno.h>
#include <stdlib.h>

#include "endpoints/sys/spool.h"
#include "overlay/base/err.h"
#include "overlay/base/panic.h"
#include "overlay/base/wire.h"

enum { HEAD_BYTES = 4 }; /* the length is put before each packet */

struct stretch {
    struct stretch *next; /* owned by the list */
    struct ep_spool_ref ref;
    uint32_t payload_bytes; /* bytes of packets, without their lengths */
    uint32_t packets;
};

struct ep_hoard {
    struct ep_spool *spool; /* owned */
    struct stretch *first;
    struct stretch *last;
    struct stretch *spare; /* owned; NULL: none */
    /* the stretch of the next packet, or of the one before it */
    struct stretch *at;
    const uint8_t *mem;  /* the bytes of `at`; NULL: not read yet */
    int lost_err;        /* errno for which `at` cannot be read; 0: it can */
    uint32_t at_bytes;   /* bytes of `at` before the next packet */
    uint32_t at_packets; /* packets of `at` before the next packet */
    /* bytes of the packet given by the last get, with its length; 0: it was
     * passed */
    uint32_t given_bytes;
    uint64_t first_number; /* number of the first packet of `first` */
    uint64_t at_number;    /* number of the first packet of `at` */
    uint64_t passed;       /* number of the next packet */
    uint64_t forgotten; /* number of the first packet that is not forgotten */
};

int ep_hoard_open(const struct ep_hoard_cfg *cfg, struct ep_hoard **out)
{
    const struct ep_spool_cfg spool_cfg = {
        .limit_bytes = cfg->limit_bytes,
        .kept_blocks = cfg->kept_blocks,
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

/* --- at the end */

/* Adds a packet at `ref` to the last stretch. Returns false when the packet
 * lies in another block. */
static bool last_grow(struct ep_hoard *hoard, const struct ep_spool_ref *ref)
{
    struct stretch *last = hoard->last;

    if (last == NULL || last->ref.block != ref->block)
        return false;
    OV_ASSERT(last->ref.off_bytes + last->ref.len_bytes == ref->off_bytes);
    last->ref.len_bytes += ref->len_bytes;
    last->payload_bytes += ref->len_bytes - HEAD_BYTES;
    last->packets++;
    return true;
}

/* Puts the spare stretch at the end of the list. */
static void stretch_push(struct ep_hoard *hoard, const struct ep_spool_ref *ref)
{
    struct stretch *stretch = hoard->spare;

    hoard->spare = NULL;
    *stretch = (struct stretch){.ref = *ref, .packets = 1};
    stretch->payload_bytes = ref->len_bytes - HEAD_BYTES;
    if (hoard->last != NULL)
        hoard->last->next = stretch;
    else
        hoard->first = stretch;
    hoard->last = stretch;
    if (hoard->at == NULL)
        hoard->at = stretch;
}

int ep_hoard_room(const struct ep_hoard *hoard, uint32_t packets,
                  uint64_t len_bytes)
{
    const uint64_t all_bytes = len_bytes + (uint64_t)packets * HEAD_BYTES;

    return all_bytes <= EP_SPOOL_BLOCK_BYTES
               ? ep_spool_room(hoard->spool, (uint32_t)all_bytes)
               : OV_EFULL;
}

bool ep_hoard_is_saving(const struct ep_hoard *hoard)
{
    return ep_spool_is_saving(hoard->spool);
}

int ep_hoard_put_parts(struct ep_hoard *hoard, const void *head,
                       uint32_t head_bytes, const void *mem, uint32_t len_bytes)
{
    uint8_t all[HEAD_BYTES + EP_HOARD_HEAD_MAX];
    struct ov_wr wr = ov_wr_init(all, sizeof(all));
    struct ep_spool_ref ref;
    int rc;

    if (head_bytes + len_bytes == 0)
        return OV_EINVAL;
    if (hoard->spare == NULL)
        hoard->spare = malloc(sizeof(*hoard->spare));
    if (hoard->spare == NULL)
        return OV_EFULL;
    ov_wr_u32(&wr, head_bytes + len_bytes);
    ov_wr_bytes(&wr, head, head_bytes);
    OV_ASSERT(!wr.bad);
    rc = ep_spool_put(hoard->spool, all, (uint32_t)(wr.at - all), mem,
                      len_bytes, &ref);
    if (rc != 0)
        return rc;
    if (!last_grow(hoard, &ref))
        stretch_push(hoard, &ref);
    return 0;
}

int ep_hoard_errno(const struct ep_hoard *hoard)
{
    return ep_spool_errno(hoard->spool);
}

int ep_hoard_put(struct ep_hoard *hoard, const void *mem, uint32_t len_bytes)
{
    return ep_hoard_put_parts(hoard, NULL, 0, mem, len_bytes);
}

/* --- from the front */

/* Ends the use of the memory of `at`. */
static void let_go(struct ep_hoard *hoard)
{
    if (hoard->mem != NULL)
        ep_spool_let_go(hoard->spool, &hoard->at->ref);
    hoard->mem = NULL;
    hoard->lost_err = 0;
}

/* Moves to a stretch, which has the next packet; NULL: that packet was not put
 * yet. */
static void go_to(struct ep_hoard *hoard, struct stretch *stretch,
                  uint64_t number)
{
    let_go(hoard);
    hoard->at = stretch;
    hoard->at_number = number;
    hoard->at_bytes = hoard->at_packets = 0;
    hoard->given_bytes = 0;
}

static bool is_read(const struct ep_hoard *hoard)
{
    return hoard->at == NULL || hoard->at_bytes == hoard->at->ref.len_bytes;
}

/* Gets the memory of `at`, or finds that it is lost. Returns 0, OV_EAGAIN or
 * OV_ESYS. */
static int at_get(struct ep_hoard *hoard)
{
    int rc;

    if (hoard->lost_err == 0 && hoard->mem == NULL) {
        rc = ep_spool_get(hoard->spool, &hoard->at->ref, &hoard->mem);
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

/* Finds the next packet in memory. Returns its length. */
static uint32_t look_at_packet(const struct ep_hoard *hoard,
                               const uint8_t **mem)
{
    struct ov_rd rd = ov_rd_init(hoard->mem + hoard->at_bytes,
                                 hoard->at->ref.len_bytes - hoard->at_bytes);
    uint32_t len_bytes = ov_rd_u32(&rd);

    *mem = ov_rd_bytes(&rd, len_bytes);
    OV_ASSERT(!rd.bad);
    return len_bytes;
}

static void step_packets(struct ep_hoard *hoard, uint32_t packets,
                         uint32_t bytes)
{
    hoard->at_packets += packets;
    hoard->at_bytes += bytes;
}

/* Moves past the packets of `at` that were passed before it was read again. */
static void skip_passed(struct ep_hoard *hoard)
{
    const uint8_t *mem;

    while (hoard->at_number + hoard->at_packets < hoard->passed)
        step_packets(hoard, 1, HEAD_BYTES + look_at_packet(hoard, &mem));
}

int ep_hoard_get(struct ep_hoard *hoard, const uint8_t **mem,
                 uint32_t *len_bytes)
{
    int rc;

    if (hoard->at != NULL && hoard->at->next != NULL && is_read(hoard))
        go_to(hoard, hoard->at->next, hoard->at_number + hoard->at->packets);
    if (is_read(hoard))
        return OV_ENOENT;
    rc = at_get(hoard);
    if (rc == OV_EAGAIN)
        return rc;
    if (rc == 0) {
        skip_passed(hoard);
        *len_bytes = look_at_packet(hoard, mem);
    } else {
        *len_bytes = hoard->at->payload_bytes;
    }
    hoard->given_bytes = HEAD_BYTES + *len_bytes;
    return rc;
}

uint32_t ep_hoard_pass(struct ep_hoard *hoard)
{
    const uint64_t before = hoard->passed;

    OV_ASSERT(hoard->given_bytes > 0);
    if (hoard->lost_err == 0)
        step_packets(hoard, 1, hoard->given_bytes);
    else
        step_packets(hoard, hoard->at->packets - hoard->at_packets,
                     hoard->at->ref.len_bytes - hoard->at_bytes);
    hoard->given_bytes = 0;
    hoard->passed = hoard->at_number + hoard->at_packets;
    return (uint32_t)(hoard->passed - before);
}

/* Removes the first stretch from the list; it becomes the spare one. */
static void first_drop(struct ep_hoard *hoard)
{
    struct stretch *first = hoard->first;

    hoard->first_number += first->packets;
    if (hoard->at == first)
        go_to(hoard, first->next, hoard->first_number);
    ep_spool_forget(hoard->spool, &first->ref);
    hoard->first = first->next;
    if (hoard->first == NULL)
        hoard->last = NULL;
    free(hoard->spare);
    hoard->spare = first;
}

void ep_hoard_forget(struct ep_hoard *hoard, uint64_t before)
{
    OV_ASSERT(before <= hoard->passed);
    if (before > hoard->forgotten)
        hoard->forgotten = before;
    while (hoard->first != NULL &&
           hoard->first_number + hoard->first->packets <= hoard->forgotten)
        first_drop(hoard);
}

void ep_hoard_rewind(struct ep_hoard *hoard)
{
    go_to(hoard, hoard->first, hoard->first_number);
    hoard->passed = hoard->forgotten;
}

void ep_hoard_drop(struct ep_hoard *hoard)
{
    ep_hoard_pass(hoard);
    ep_hoard_forget(hoard, hoard->passed);
}

uint64_t ep_hoard_passed(const struct ep_hoard *hoard)
{
    return hoard->passed;
}

bool ep_hoard_is_empty(const struct ep_hoard *hoard)
{
    return hoard->first == NULL;
}
