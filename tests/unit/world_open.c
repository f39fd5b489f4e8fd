/* Opens and closes the little world, and has the functions by which tests
 * change it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/world_impl.h"

/* --- opening and closing */

static void on_panic(const char *file, int line, const char *what)
{
    fail_msg("%s:%d: %s", file, line, what);
    abort();
}

void world_open(struct world *w, struct ov_cfg cfg)
{
    const char *why = "";

    ov_panic_set(on_panic);
    *w = (struct world){.cfg = cfg, .stall_node = TOPO_NONE, .readers = {1, 0}};
    if (ov_cfg_check(&w->cfg, &why))
        fail_msg("%s", why);
    w->nodes = calloc(cfg.plan.nodes, sizeof(*w->nodes));
    w->wires = calloc((size_t)cfg.plan.nodes * WORLD_LINKS, sizeof(*w->wires));
    w->out = malloc(sizeof(*w->out));
    w->owed = malloc(sizeof(*w->owed));
    w->cells = calloc((size_t)cfg.plan.nodes * cfg.kept_max, sizeof(*w->cells));
    w->held = calloc((size_t)cfg.plan.nodes * cfg.plan.nodes, sizeof(*w->held));
    assert_true(w->nodes && w->wires && w->out && w->owed && w->cells &&
                w->held);
    ov_kept_lend(&w->pool, w->cells, cfg.plan.nodes * cfg.kept_max);
    for (uint32_t n = 0; n < cfg.plan.nodes; n++) {
        struct world_node *me = &w->nodes[n];

        me->mem = malloc(ov_node_size(&w->cfg, n, 2));
        assert_non_null(me->mem);
        me->node = ov_node_init(me->mem, &w->cfg, &w->pool, n, 2, 1);
        me->parent = TOPO_NONE;
        me->wake_ns = OV_NEVER;
        assert_true(ov_node_links(me->node) <= WORLD_LINKS);
    }
    for (uint32_t n = 0; n < cfg.plan.nodes; n++)
        world_run(w, n, (struct ov_event){.kind = OV_EV_START});
}

void world_close(struct world *w)
{
    struct fly f;

    while (air_take(&w->air, UINT64_MAX, &f))
        bag_put(w, f.buf);
    air_fini(&w->air);
    for (uint32_t n = 0; n < w->cfg.plan.nodes; n++) {
        ov_node_fini(w->nodes[n].node, w->out);
        while (w->out->freed != NULL) {
            struct ov_buf *buf = w->out->freed;

            w->out->freed = buf->next;
            bag_free(w, buf);
        }
        free(w->nodes[n].mem);
    }
    free(w->cells);
    free(w->held);
    free(w->out);
    free(w->owed);
    free(w->nodes);
    free(w->wires);
    assert_int_equal(w->bufs_live, 0);
}

/* --- actions of tests */

static void down(struct world *w, struct ov_buf *buf, const struct ov_wr *wr)
{
    struct ov_event ev = {.kind = OV_EV_DOWN,
                          .stream = 0,
                          .buf = buf,
                          .len_bytes = (uint32_t)(wr->at - buf->mem) -
                                       OV_DOWN_HEAD_BYTES};

    bag_count(buf, &w->nodes[0].kept[0]);
    world_run(w, 0, ev);
}

void world_control(struct world *w, uint8_t kind)
{
    struct ov_buf *buf = bag_new(w);
    struct ov_wr wr = ov_wr_init(buf->mem + OV_DOWN_HEAD_BYTES, 64);

    ov_control_encode(&wr, kind, false);
    down(w, buf, &wr);
}

void world_pause(struct world *w, bool is_paused)
{
    struct ov_event ev = {.kind = OV_EV_PAUSE, .is_paused = is_paused};

    world_run(w, 0, ev);
}

void world_open_stream(struct world *w, struct topo_range range)
{
    struct ov_buf *buf = bag_new(w);
    struct ov_wr wr = ov_wr_init(buf->mem + OV_DOWN_HEAD_BYTES, 64);
    struct ov_open open = {
        .stream = 1, .window = w->cfg.down_frames, .ranges = 1};

    w->readers = range;
    ov_open_encode(&wr, &open, &range);
    down(w, buf, &wr);
}

void world_kill(struct world *w, uint32_t n)
{
    w->nodes[n].is_dead = true;
    for (uint16_t link = 0; link < WORLD_LINKS; link++) {
        if (world_wire(w, n, link)->is_up)
            world_end_link(w, n, link);
    }
}

void world_break(struct world *w, uint32_t n, uint16_t link)
{
    struct ov_event ev = {.kind = OV_EV_LINK_DOWN, .link = link};

    world_end_link(w, n, link);
    world_run(w, n, ev);
}

void world_write(struct world *w, uint32_t n, uint64_t bytes, uint32_t line)
{
    struct ov_event ev = {.kind = OV_EV_READY, .input = 1};

    w->nodes[n].line = line;
    w->nodes[n].to_write += bytes - bytes % line;
    world_run(w, n, ev);
}

void world_final(struct world *w, uint32_t n)
{
    struct ov_event ev = {.kind = OV_EV_READY, .input = 0};

    w->nodes[n].is_final_due = true;
    world_run(w, n, ev);
}

void world_unstick(struct world *w, uint32_t n)
{
    struct world_node *me = &w->nodes[n];

    me->is_stuck = false;
    if (me->frames[1] < me->seen[1])
        world_run(w, n, world_consumed(w, n, 1, me->seen[1]));
}

void world_inject(struct world *w, uint32_t n, uint16_t link,
                  const uint8_t *mem, uint32_t len_bytes)
{
    struct world_wire *wire = world_wire(w, n, link);
    struct ov_buf *buf = bag_new(w);
    struct ov_event ev = {.kind = OV_EV_FRAME, .link = link, .buf = buf};

    assert_true(wire->is_up && len_bytes <= w->cfg.frame_bytes);
    memcpy(buf->mem, mem, len_bytes);
    buf->len_bytes = len_bytes;
    bag_count_frame(w, n, wire->peer, buf);
    /* The judge does not count injected messages. It counts an injected UP
     * frame, because that takes room. */
    if (w->watch != NULL && len_bytes > 0 && mem[0] == OV_FRAME_UP)
        w->watch->on_frame(w, n, link, buf);
    world_run(w, n, ev);
}
