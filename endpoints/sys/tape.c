/* A stream in pieces in a spool. Each piece fills a block, except the last one:
 * piece i has the bytes that begin i blocks after the start. */
#include "config.h"

#include "endpoints/sys/tape.h"

#include <stdbool.h>
#include <stdlib.h>

#include "overlay/base/err.h"
#include "overlay/base/panic.h"

struct ep_tape {
    struct ep_spool *spool; /* owned */
    /* Owned [blocks_max]: the block of piece i is at i % blocks_max. */
    uint32_t *blocks;
    uint32_t blocks_max;
    uint32_t block_bytes;
    uint64_t start; /* position of the first byte of piece 0 */
    uint64_t end;   /* position after the last byte */
    uint64_t first; /* the pieces from `first` to next - 1 are kept */
    uint64_t next;
    struct ep_spool_ref ref; /* the part of the last ep_tape_get */
    bool is_asked;
};

int ep_tape_open(struct ep_writer *w, const struct ep_spool_cfg *cfg,
                 struct ep_tape **out)
{
    struct ep_tape *tape = calloc(1, sizeof(*tape));
    uint64_t blocks = cfg->limit_bytes / cfg->block_bytes;
    int rc;

    if (tape == NULL)
        return OV_ENOMEM;
    tape->block_bytes = cfg->block_bytes;
    tape->blocks_max =
        blocks < 1 ? 1 : (uint32_t)(blocks < UINT32_MAX ? blocks : UINT32_MAX);
    tape->blocks = calloc(tape->blocks_max, sizeof(*tape->blocks));
    rc = tape->blocks == NULL ? OV_ENOMEM : ep_spool_open(w, cfg, &tape->spool);
    if (rc != 0) {
        ep_tape_close(tape);
        return rc;
    }
    *out = tape;
    return 0;
}

void ep_tape_close(struct ep_tape *tape)
{
    if (tape == NULL)
        return;
    ep_spool_close(tape->spool);
    free(tape->blocks);
    free(tape);
}

/* Returns the part of a piece that is kept, from an offset on. */
static struct ep_spool_ref piece(const struct ep_tape *tape, uint64_t i,
                                 uint32_t off_bytes)
{
    uint64_t end = tape->end - tape->start - i * tape->block_bytes;

    if (end > tape->block_bytes)
        end = tape->block_bytes;
    return (struct ep_spool_ref){.block = tape->blocks[i % tape->blocks_max],
                                 .off_bytes = off_bytes,
                                 .len_bytes = (uint32_t)end - off_bytes};
}

static void forget_until(struct ep_tape *tape, uint64_t until)
{
    for (; tape->first < until; tape->first++) {
        struct ep_spool_ref ref = piece(tape, tape->first, 0);

        ep_spool_forget(tape->spool, &ref);
    }
}

void ep_tape_start(struct ep_tape *tape, uint64_t pos)
{
    ep_tape_let_go(tape);
    forget_until(tape, tape->next);
    tape->start = tape->end = pos;
    tape->first = tape->next = 0;
}

uint64_t ep_tape_end(const struct ep_tape *tape)
{
    return tape->end;
}

int ep_tape_put(struct ep_tape *tape, const uint8_t *mem, uint32_t len_bytes)
{
    while (len_bytes > 0) {
        struct ep_spool_ref ref;
        int rc = ep_spool_put_some(tape->spool, mem, len_bytes, &ref);

        if (rc != 0)
            return rc;
        OV_ASSERT(ref.off_bytes ==
                  (tape->end - tape->start) % tape->block_bytes);
        if (ref.off_bytes == 0)
            tape->blocks[tape->next++ % tape->blocks_max] = ref.block;
        tape->end += ref.len_bytes;
        mem += ref.len_bytes;
        len_bytes -= ref.len_bytes;
    }
    return 0;
}

int ep_tape_errno(const struct ep_tape *tape)
{
    return ep_spool_errno(tape->spool);
}

int ep_tape_get(struct ep_tape *tape, uint64_t pos, uint32_t *len_bytes,
                const uint8_t **mem)
{
    const uint64_t off_bytes = pos - tape->start;

    if (!tape->is_asked) {
        const uint64_t i = off_bytes / tape->block_bytes;

        OV_ASSERT(i >= tape->first && pos < tape->end);
        OV_ASSERT(*len_bytes > 0);
        tape->ref = piece(tape, i, (uint32_t)(off_bytes % tape->block_bytes));
        if (tape->ref.len_bytes > *len_bytes)
            tape->ref.len_bytes = *len_bytes;
        tape->is_asked = true;
    }
    *len_bytes = tape->ref.len_bytes;
    return ep_spool_get(tape->spool, &tape->ref, mem);
}

void ep_tape_let_go(struct ep_tape *tape)
{
    if (tape->is_asked)
        ep_spool_let_go(tape->spool, &tape->ref);
    tape->is_asked = false;
}

void ep_tape_forget(struct ep_tape *tape, uint64_t pos)
{
    forget_until(tape, (pos - tape->start) / tape->block_bytes);
}
