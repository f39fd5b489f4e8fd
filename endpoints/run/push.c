/* What others push to processes: it goes down behind all that went before. */
#include "endpoints/run/push.h"

#include <stdlib.h>
#include <string.h>

#include "endpoints/run/impl.h"
#include "endpoints/run/tap.h"
#include "overlay/base/err.h"

/* A message that waits for room in the stream; the tap bounds how many. */
struct run_push {
    struct run_push *next;
    uint32_t len_bytes;
    uint8_t mem[];
};

void ep_run_push(struct run *r, const uint8_t *mem, uint32_t len_bytes)
{
    struct run_push *push = malloc(sizeof(*push) + len_bytes);

    OV_ASSERT(push != NULL);
    push->next = NULL;
    push->len_bytes = len_bytes;
    memcpy(push->mem, mem, len_bytes);
    *r->pushes_last = push;
    r->pushes_last = &push->next;
    r->is_pushed_to = true;
}

static void drop_first(struct run *r)
{
    struct run_push *push = r->pushes;

    r->pushes = push->next;
    if (r->pushes == NULL)
        r->pushes_last = &r->pushes;
    free(push);
}

/* Nobody reads stdin any more, or nobody ever did. */
static bool is_over(const struct run *r)
{
    return r->input_over || r->phase > RUN_RUNNING || r->is_killed ||
           r->job.readers_count == 0;
}

void ep_run_push_pump(struct run *r)
{
    while (r->pushes != NULL && is_over(r)) {
        drop_first(r);
        ep_run_tap_pushed(r);
    }
    if (!r->input_open)
        return;
    /* A frame of the launcher's own that is being read has its place. */
    while (r->pushes != NULL && ep_hub_down_room(r->hub, EP_STREAM_STDIN) >
                                    (r->input_buf != NULL ? 1 : 0)) {
        struct ov_buf *buf = ep_hub_buf(r->hub);
        uint32_t len_bytes = r->pushes->len_bytes;

        if (buf == NULL)
            return;
        memcpy(buf->mem + OV_DOWN_HEAD_BYTES, r->pushes->mem, len_bytes);
        drop_first(r);
        r->pushed_bytes += len_bytes;
        ep_hub_down(r->hub, EP_STREAM_STDIN, buf, len_bytes, OV_DOWN_SOME);
        ep_run_tap_pushed(r);
    }
}

void ep_run_push_rest(struct run *r)
{
    r->is_pushed_to = false;
}

bool ep_run_push_keeps(const struct run *r)
{
    return r->options.keep_stdin || r->is_pushed_to || r->pushes != NULL;
}

void ep_run_push_close(struct run *r)
{
    while (r->pushes != NULL)
        drop_first(r);
}
