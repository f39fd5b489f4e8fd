/* Buffers of the little world, counted where the node must limit their
 * number. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/unit/world_impl.h"

/* A buffer, and the count that it belongs to. */
struct bag {
    struct ov_buf buf;
    uint32_t *count; /* NULL: the buffer is not counted */
};

struct ov_buf *bag_new(struct world *w)
{
    struct bag *bag = calloc(1, sizeof(*bag));

    assert_non_null(bag);
    bag->buf.mem = malloc(w->cfg.frame_bytes);
    assert_non_null(bag->buf.mem);
    bag->buf.cap_bytes = w->cfg.frame_bytes;
    bag->buf.refs = 1;
    w->bufs_live++;
    return &bag->buf;
}

void bag_free(struct world *w, struct ov_buf *buf)
{
    struct bag *bag = (struct bag *)buf;

    if (bag->count != NULL)
        (*bag->count)--;
    free(buf->mem);
    free(bag);
    w->bufs_live--;
}

void bag_put(struct world *w, struct ov_buf *buf)
{
    if (buf != NULL && ov_buf_unref(buf))
        bag_free(w, buf);
}

void bag_count(struct ov_buf *buf, uint32_t *count)
{
    ((struct bag *)buf)->count = count;
    (*count)++;
}

uint32_t world_queued(const struct world *w, uint32_t n, uint32_t child)
{
    const struct ov_up *up = &w->nodes[n].node->up;
    uint32_t queued = *world_held(w, n, child);

    for (unsigned i = 0; i < up->batch_pieces; i++) {
        const struct bag *bag = (const struct bag *)up->pieces[i].buf;

        queued -= bag != NULL && bag->count == world_held(w, n, child);
    }
    return queued;
}

/* Counts a frame that has arrived, where the node must limit their number. */
void bag_count_frame(struct world *w, uint32_t n, uint32_t from,
                     struct ov_buf *buf)
{
    struct ov_rd rd = ov_rd_init(buf->mem, buf->len_bytes);
    uint8_t type = ov_rd_u8(&rd);
    uint32_t stream;

    ov_rd_bytes(&rd, OV_FRAME_HEAD_BYTES - 1);
    stream = ov_rd_u32(&rd);
    if (type == OV_FRAME_UP && from < w->cfg.plan.nodes)
        bag_count(buf, world_held(w, n, from));
    else if (type == OV_FRAME_DOWN && !rd.bad && stream < WORLD_STREAMS)
        bag_count(buf, &w->nodes[n].kept[stream]);
}
