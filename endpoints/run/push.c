/* What others push to processes: it goes down behind all that went before. */
#include "endpoints/run/push.h"

#include <stdlib.h>
#include <string.h>

#include "endpoints/run/impl.h"
#include "endpoints/run/orders.h"
#include "endpoints/run/tap.h"
#include "overlay/base/err.h"
#include "overlay/control.h"
#include "overlay/wire/push.h"

/* Frames of JOB_STREAM_PUSHED that a node keeps at most. */
enum { PUSHED_FRAMES = 8 };

/* A message that waits for room in the stream; the tap bounds how many. */
struct run_push {
    struct run_push *next;
    struct run_push *twin; /* the same in the other stream; NULL: none, or it
                              is gone */
    uint32_t len_bytes;
    uint8_t mem[];
};

void ep_run_push_init(struct run *r)
{
    for (unsigned i = 0; i < RUN_PUSHES; i++)
        r->pushes[i].last = &r->pushes[i].first;
}

void ep_run_push_open(struct run *r)
{
    const struct topo_range all = {1, r->nodes_count};
    uint8_t mem[OV_CONTROL_HEAD_BYTES + OV_OPEN_BYTES + sizeof(all)];
    struct ov_wr wr = ov_wr_init(mem, sizeof(mem));
    const struct ov_open open = {
        .stream = JOB_STREAM_PUSHED, .window = PUSHED_FRAMES, .ranges = 1};

    if (r->pushed_open)
        return;
    ov_open_encode(&wr, &open, &all);
    ep_run_orders_queue(r->orders, OV_CONTROL_OPEN, mem + OV_CONTROL_HEAD_BYTES,
                        (uint32_t)(wr.at - mem) - OV_CONTROL_HEAD_BYTES);
    r->pushed_open = true;
}

/* --- whose it is
 * */

/* Whom a message is for holds until another one says so. */
static void read_sets(struct run *r, struct ov_push *push, bool is_new[])
{
    for (unsigned i = 0; i < RUN_PUSHES; i++) {
        if ((push->flags & OV_PUSH_NEW) != 0)
            r->pushes[i].has_set = false;
        is_new[i] = !r->pushes[i].has_set;
    }
    for (unsigned i = 0; i < push->ranges; i++) {
        struct topo_range range = ov_push_range(push);

        if (range.first < r->own.desc.size)
            r->pushes[RUN_PUSHES_OWN].has_set = true;
        if (range.last >= r->own.desc.size)
            r->pushes[RUN_PUSHES_OTHERS].has_set = true;
    }
}

/* In a stream that hears of the set with this message it begins here. */
static struct run_push *add(struct run_pushes *to, const uint8_t *mem,
                            uint32_t len_bytes, bool is_new)
{
    struct run_push *push = malloc(sizeof(*push) + len_bytes);

    OV_ASSERT(push != NULL);
    push->next = push->twin = NULL;
    push->len_bytes = len_bytes;
    memcpy(push->mem, mem, len_bytes);
    if (is_new)
        push->mem[0] |= OV_PUSH_NEW;
    *to->last = push;
    to->last = &push->next;
    return push;
}

void ep_run_push(struct run *r, const uint8_t *mem, uint32_t len_bytes)
{
    struct run_push *added[RUN_PUSHES] = {NULL};
    bool is_new[RUN_PUSHES];
    struct ov_push push;

    if (ov_push_decode(mem, len_bytes, &push) == 0)
        read_sets(r, &push, is_new);
    for (unsigned i = 0; i < RUN_PUSHES; i++) {
        if (r->pushes[i].has_set)
            added[i] = add(&r->pushes[i], mem, len_bytes, is_new[i]);
    }
    if (added[RUN_PUSHES_OWN] == NULL && added[RUN_PUSHES_OTHERS] == NULL)
        ep_run_tap_pushed(r); /* it is for nobody */
    if (added[RUN_PUSHES_OWN] != NULL && added[RUN_PUSHES_OTHERS] != NULL) {
        added[RUN_PUSHES_OWN]->twin = added[RUN_PUSHES_OTHERS];
        added[RUN_PUSHES_OTHERS]->twin = added[RUN_PUSHES_OWN];
    }
}

/* True when it was the last of its kind. */
static bool drop_first(struct run_pushes *from)
{
    struct run_push *push = from->first;
    bool is_last = push->twin == NULL;

    from->first = push->next;
    if (from->first == NULL)
        from->last = &from->first;
    if (!is_last)
        push->twin->twin = NULL;
    free(push);
    return is_last;
}

/* --- on its way
 * */

/* Nobody reads stdin any more, or nobody ever did. */
static bool is_over(const struct run *r, unsigned which)
{
    if (r->phase > RUN_RUNNING || r->is_killed)
        return true;
    return which == RUN_PUSHES_OWN
               ? r->input_over || r->own.desc.readers_count == 0
               : !r->pushed_open;
}

/* Sends what the stream has room for, beside so many frames. May be called from
 * within the sending. The tap hears of what is in each stream. */
static void pump(struct run *r, struct run_pushes *from, uint32_t stream,
                 uint32_t beside)
{
    while (from->first != NULL && ep_hub_down_room(r->hub, stream) > beside) {
        struct ov_buf *buf = ep_hub_buf(r->hub);
        uint32_t len_bytes = from->first->len_bytes;
        bool is_last;

        if (buf == NULL)
            return;
        memcpy(buf->mem + OV_DOWN_HEAD_BYTES, from->first->mem, len_bytes);
        is_last = drop_first(from);
        r->pushed_bytes += len_bytes;
        ep_hub_down(r->hub, stream, buf, len_bytes, OV_DOWN_SOME);
        if (is_last)
            ep_run_tap_pushed(r);
    }
}

void ep_run_push_pump(struct run *r)
{
    for (unsigned i = 0; i < RUN_PUSHES; i++) {
        while (r->pushes[i].first != NULL && is_over(r, i)) {
            if (drop_first(&r->pushes[i]))
                ep_run_tap_pushed(r);
        }
    }
    /* A frame of the launcher's own that is being read has its place. */
    if (r->input_open)
        pump(r, &r->pushes[RUN_PUSHES_OWN], JOB_STREAM_STDIN,
             r->input_buf != NULL ? 1 : 0);
    if (r->pushed_open)
        pump(r, &r->pushes[RUN_PUSHES_OTHERS], JOB_STREAM_PUSHED, 0);
}

void ep_run_push_keep(struct run *r, bool are_there)
{
    r->is_pushed_to = are_there;
}

bool ep_run_push_keeps(const struct run *r)
{
    return r->options.keep_stdin || r->is_pushed_to ||
           r->pushes[RUN_PUSHES_OWN].first != NULL;
}

void ep_run_push_close(struct run *r)
{
    for (unsigned i = 0; i < RUN_PUSHES; i++) {
        while (r->pushes[i].first != NULL)
            drop_first(&r->pushes[i]);
    }
}
