/* The hub from its opening to its close, and the functions that its owner
 * calls. */
#include "endpoints/hub/hub.h"

#include <stdlib.h>
#include <string.h>

#include "endpoints/hub/impl.h"
#include "endpoints/sys/clock.h"
#include "overlay/base/err.h"
#include "overlay/fold.h"

/* --- opening and closing */

static int node_open(struct ep_hub *hub, uint32_t index)
{
    const struct ep_hub_cfg *cfg = &hub->cfg;
    struct hub_node *node = &hub->nodes[index];
    uint32_t self = cfg->nodes[index];
    void *mem = malloc(ov_node_size(&cfg->overlay, self, cfg->inputs));

    if (mem == NULL)
        return OV_ENOMEM;
    node->hub = hub;
    node->self = self;
    node->index = index;
    node->armed_ns = OV_NEVER;
    node->node = ov_node_init(mem, &hub->cfg.overlay, &hub->pool, self,
                              cfg->inputs, (uint32_t)ep_clock_ns());
    node->timer = evtimer_new(cfg->base, ep_hub_on_timer, node);
    node->attempt = evtimer_new(cfg->base, ep_hub_on_attempt_over, node);
    return node->timer == NULL || node->attempt == NULL ? OV_ENOMEM : 0;
}

int ep_hub_open(const struct ep_hub_cfg *cfg, struct ep_hub **out, char *why)
{
    struct ep_hub *hub = calloc(1, sizeof(*hub));
    struct ep_transport_cfg transport = cfg->transport;
    int rc = OV_ENOMEM;

    if (hub == NULL)
        return OV_ENOMEM;
    hub->cfg = *cfg;
    hub->later = evtimer_new(cfg->base, ep_hub_on_later, hub);
    hub->out = calloc(1, sizeof(*hub->out));
    if (hub->out != NULL && cfg->overlay.folds)
        hub->out->fold = calloc(1, sizeof(*hub->out->fold));
    hub->nodes = calloc(cfg->nodes_count, sizeof(*hub->nodes));
    hub->cells = calloc((size_t)cfg->nodes_count * cfg->overlay.kept_max,
                        sizeof(*hub->cells));
    ep_auth_seen_init(&hub->seen, cfg->overlay.plan.nodes);
    if (ep_hub_queue_init(hub) || !ep_hub_inquiry_init(hub) ||
        hub->later == NULL || hub->out == NULL || hub->nodes == NULL ||
        hub->cells == NULL || (cfg->overlay.folds && hub->out->fold == NULL))
        goto fail;
    ov_kept_lend(&hub->pool, hub->cells,
                 cfg->nodes_count * cfg->overlay.kept_max);
    rc = ep_auth_nonce(hub->nonce);
    for (uint32_t i = 0; rc == 0 && i < cfg->nodes_count; i++)
        rc = node_open(hub, i);
    if (rc)
        goto fail;
    transport.base = cfg->base;
    transport.events = &ep_hub_transport_events;
    transport.arg = hub;
    rc = cfg->ops->open(&transport, &hub->transport, why);
    if (rc)
        goto fail_told;
    *out = hub;
    return 0;

fail:
    strcpy(why, ov_strerror(rc));
fail_told:
    ep_hub_close(hub);
    return rc;
}

void ep_hub_leave(struct ep_hub *hub)
{
    ep_hub_queue_drop(hub);
    ep_hub_inquiry_stop(hub);
    for (uint32_t i = 0; hub->nodes != NULL && i < hub->cfg.nodes_count; i++)
        ep_hub_end_node(&hub->nodes[i]);
    ep_hub_probes_drop(hub);
}

static void node_close(struct ep_hub *hub, struct hub_node *node)
{
    if (node->node == NULL)
        return;
    ov_node_fini(node->node, hub->out);
    ep_hub_take_back(hub, hub->out);
    if (node->timer != NULL)
        event_free(node->timer);
    if (node->attempt != NULL)
        event_free(node->attempt);
    free(node->links);
    free(node->node);
}

void ep_hub_close(struct ep_hub *hub)
{
    if (hub == NULL)
        return;
    ep_hub_leave(hub);
    for (uint32_t i = 0; hub->nodes != NULL && i < hub->cfg.nodes_count; i++)
        node_close(hub, &hub->nodes[i]);
    if (hub->transport != NULL)
        hub->cfg.ops->close(hub->transport);
    ep_auth_seen_fini(&hub->seen);
    ep_hub_inquiry_fini(hub);
    if (hub->later != NULL)
        event_free(hub->later);
    free(hub->nodes);
    ep_book_fini(&hub->book);
    free(hub->cells);
    free(hub->queue);
    if (hub->out != NULL)
        free(hub->out->fold);
    free(hub->out);
    free(hub);
}

/* Keeps one reference to the address, so that the buffer never returns to the
 * transport. */
void ep_hub_start(struct ep_hub *hub)
{
    struct ep_boot_peer self;

    ep_hub_self(hub, &self);
    hub->address =
        (struct ov_buf){.mem = hub->address_mem,
                        .cap_bytes = sizeof(hub->address_mem),
                        .len_bytes = ep_book_encode(&self, hub->address_mem),
                        .refs = 1};
    for (uint32_t i = 0; i < hub->cfg.nodes_count; i++) {
        struct ov_event ev = {.kind = OV_EV_START,
                              .buf = ov_buf_ref(&hub->address)};

        ep_hub_post(hub, i, &ev);
    }
}

/* --- addresses */

void ep_hub_self(const struct ep_hub *hub, struct ep_boot_peer *self)
{
    *self = (struct ep_boot_peer){.node = hub->cfg.nodes[0]};
    strncpy(self->address, hub->cfg.ops->address(hub->transport),
            EP_ADDR_MAX - 1);
    memcpy(self->nonce, hub->nonce, sizeof(self->nonce));
}

int ep_hub_peer(struct ep_hub *hub, const struct ep_boot_peer *peer)
{
    int rc = ep_book_put(&hub->book, peer);

    for (uint32_t i = 0; rc == 0 && i < hub->cfg.nodes_count; i++) {
        struct hub_node *node = &hub->nodes[i];

        if (node->attach != 0 && node->wanted == peer->node)
            ep_hub_dial_now(node);
    }
    ep_hub_run(hub);
    return rc;
}

const struct ep_boot_peer *ep_hub_find(const struct ep_hub *hub, uint32_t node)
{
    return ep_book_find(&hub->book, node);
}

const char *ep_hub_address(const struct ep_hub *hub, uint32_t node)
{
    const struct ep_boot_peer *peer = ep_hub_find(hub, node);

    return peer != NULL ? peer->address : NULL;
}

bool ep_hub_was_linked(const struct ep_hub *hub, uint32_t index)
{
    return hub->nodes[index].was_linked;
}

void ep_hub_ask_root(struct ep_hub *hub)
{
    ep_hub_ask(hub, 0, ep_hub_inquiry_on_root);
    ep_hub_run(hub);
}

const char *ep_hub_provider(const struct ep_hub *hub)
{
    return hub->cfg.ops->provider(hub->transport);
}

/* --- events from the owner */

void ep_hub_ready(struct ep_hub *hub, uint32_t index, uint16_t input)
{
    struct ov_event ev = {.kind = OV_EV_READY, .input = input};

    ep_hub_post_later(hub, index, &ev);
}

void ep_hub_consumed(struct ep_hub *hub, uint32_t index, uint32_t stream,
                     uint64_t frames, uint32_t rank)
{
    struct ov_event ev = {
        .kind = OV_EV_CONSUMED, .stream = stream, .seq = frames, .rank = rank};

    ep_hub_post_later(hub, index, &ev);
}

void ep_hub_taken(struct ep_hub *hub, uint32_t cookie)
{
    struct ov_event ev = {.kind = OV_EV_TAKEN, .cookie = cookie};

    ep_hub_post_later(hub, 0, &ev);
}

void ep_hub_pause(struct ep_hub *hub, bool is_paused)
{
    struct ov_event ev = {.kind = OV_EV_PAUSE, .is_paused = is_paused};

    ep_hub_post(hub, 0, &ev);
}

void ep_hub_down(struct ep_hub *hub, uint32_t stream, struct ov_buf *buf,
                 uint32_t payload_bytes, uint32_t flags)
{
    struct ov_event ev = {.kind = OV_EV_DOWN,
                          .stream = stream,
                          .buf = buf,
                          .len_bytes = payload_bytes,
                          .flags = flags};

    ep_hub_post(hub, 0, &ev);
}

uint32_t ep_hub_down_room(const struct ep_hub *hub, uint32_t stream)
{
    uint32_t room = ov_node_down_room(hub->nodes[0].node, stream);
    uint32_t queued = room > 0 ? ep_hub_queue_downs(hub, stream) : 0;

    /* DOWN frames that wait in the queue will take a part of the room. */
    return room > queued ? room - queued : 0;
}

struct ov_node_view ep_hub_look(const struct ep_hub *hub, uint32_t index,
                                uint32_t stream)
{
    return ov_node_look(hub->nodes[index].node, stream);
}

bool ep_hub_has_joined(const struct ep_hub *hub, uint32_t number)
{
    return ov_node_has_joined(hub->nodes[0].node, number);
}

void ep_hub_stats(const struct ep_hub *hub, struct ep_hub_stats *out)
{
    hub->cfg.ops->stats(hub->transport, &out->transport);
    out->frames_up = hub->frames_up;
    out->frames_down = hub->frames_down;
    out->refused_peers = hub->refused + out->transport.silent_shut;
}
