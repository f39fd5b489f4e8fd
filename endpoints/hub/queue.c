/* Events that wait to be stepped, and the buffers they carry. */
#include <stdlib.h>

#include "endpoints/hub/impl.h"
#include "overlay/base/err.h"

enum { QUEUE_FIRST = 64 };

/* --- buffers */

struct ov_buf *ep_hub_buf(struct ep_hub *hub)
{
    return hub->cfg.ops->buf_get(hub->transport);
}

void ep_hub_put(struct ep_hub *hub, struct ov_buf *buf)
{
    if (ov_buf_unref(buf))
        hub->cfg.ops->buf_put(hub->transport, buf);
}

void ep_hub_free(struct ep_hub *hub, struct ov_buf *buf)
{
    hub->cfg.ops->buf_put(hub->transport, buf);
}

void ep_hub_take_back(struct ep_hub *hub, struct ov_out *out)
{
    while (out->freed != NULL) {
        struct ov_buf *buf = out->freed;

        out->freed = buf->next;
        hub->cfg.ops->buf_put(hub->transport, buf);
    }
}

/* --- the queue */

int ep_hub_queue_init(struct ep_hub *hub)
{
    hub->queue_cap = QUEUE_FIRST;
    hub->queue = malloc(hub->queue_cap * sizeof(*hub->queue));
    return hub->queue == NULL ? OV_ENOMEM : 0;
}

/* Doubles the ring, and keeps the order of its events. */
static void grow_ring(struct ep_hub *hub)
{
    uint32_t cap = hub->queue_cap * 2;
    struct hub_event *queue = malloc(cap * sizeof(*queue));

    OV_ASSERT(queue != NULL);
    for (uint32_t i = 0; i < hub->queue_len; i++)
        queue[i] = hub->queue[(hub->queue_at + i) % hub->queue_cap];
    free(hub->queue);
    hub->queue = queue;
    hub->queue_cap = cap;
    hub->queue_at = 0;
}

void ep_hub_event_drop(struct ep_hub *hub, const struct ov_event *ev)
{
    if (ev->buf != NULL)
        ep_hub_put(hub, ev->buf);
    if (ev->kind == OV_EV_READ && ev->read.buf != NULL)
        ep_hub_put(hub, ev->read.buf);
}

void ep_hub_queue_put(struct ep_hub *hub, uint32_t index,
                      const struct ov_event *ev)
{
    struct hub_event *he;

    if (hub->nodes[index].is_over) {
        ep_hub_event_drop(hub, ev);
        return;
    }
    if (hub->queue_len == hub->queue_cap)
        grow_ring(hub);
    he = &hub->queue[(hub->queue_at + hub->queue_len) % hub->queue_cap];
    he->index = index;
    he->ev = *ev;
    hub->queue_len++;
}

struct hub_event ep_hub_queue_take(struct ep_hub *hub)
{
    struct hub_event he = hub->queue[hub->queue_at];

    hub->queue_at = (hub->queue_at + 1) % hub->queue_cap;
    hub->queue_len--;
    return he;
}

uint32_t ep_hub_queue_downs(const struct ep_hub *hub, uint32_t stream)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < hub->queue_len; i++) {
        const struct ov_event *ev =
            &hub->queue[(hub->queue_at + i) % hub->queue_cap].ev;

        count += ev->kind == OV_EV_DOWN && ev->stream == stream;
    }
    return count;
}

void ep_hub_queue_drop(struct ep_hub *hub)
{
    while (hub->queue_len > 0) {
        struct hub_event he = ep_hub_queue_take(hub);

        ep_hub_event_drop(hub, &he.ev);
    }
}
