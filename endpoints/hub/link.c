/* Connections: dialling, proof both ways, loss. */
#include <stdlib.h>
#include <string.h>

#include "endpoints/hub/impl.h"
#include "overlay/base/err.h"
#include "overlay/link.h"
#include "overlay/wire/item.h"

void ep_hub_link_free(struct hub_link *link)
{
    if (link->timer != NULL)
        event_free(link->timer);
    free(link);
}

static void dial_failed(struct hub_node *node)
{
    struct ov_event ev = {.kind = OV_EV_DIAL_FAILED};

    ep_hub_post(node->hub, node->index, &ev);
}

static void end_dial(struct hub_link *link)
{
    struct hub_node *node = link->node;

    node->dialling = NULL;
    ep_hub_link_free(link);
    dial_failed(node);
}

static void on_attempt_over(evutil_socket_t fd, short what, void *arg)
{
    struct hub_link *link = arg;

    (void)fd;
    (void)what;
    link->node->hub->cfg.ops->drop(link->conn, false);
    end_dial(link);
}

/* The attempt is bounded: a fabric may try for ever. */
static int watch_attempt(struct hub_link *link)
{
    struct ep_hub *hub = link->node->hub;
    uint64_t ns = hub->cfg.overlay.timers.attempt_ns;
    struct timeval wait = {(time_t)(ns / 1000000000),
                           (suseconds_t)(ns % 1000000000 / 1000)};

    link->timer = evtimer_new(hub->cfg.base, on_attempt_over, link);
    if (link->timer == NULL)
        return OV_ENOMEM;
    return evtimer_add(link->timer, &wait) ? OV_ENOMEM : 0;
}

void ep_hub_dial_now(struct hub_node *node)
{
    struct ep_hub *hub = node->hub;
    const struct ep_boot_peer *peer = &hub->parents[node->index].peer;
    struct hub_link *link = calloc(1, sizeof(*link));
    struct ep_auth_hello hello = {
        .node = node->self, .target = peer->node, .attach = node->attach};

    node->attach = 0;
    if (link == NULL) {
        dial_failed(node);
        return;
    }
    link->node = node;
    link->peer = peer->node;
    link->state = HUB_LINK_DIALLING;
    ep_auth_hello_make(hub->cfg.auth, peer->nonce, &hello, link->hello);
    if (watch_attempt(link) ||
        hub->cfg.ops->dial(hub->transport, peer->address, link->hello,
                           sizeof(link->hello), link, &link->conn)) {
        ep_hub_link_free(link);
        dial_failed(node);
        return;
    }
    node->dialling = link;
}

void ep_hub_dial(struct hub_node *node, uint64_t attach)
{
    node->attach = attach;
    if (node->hub->parents[node->index].is_known)
        ep_hub_dial_now(node);
}

void ep_hub_close_link(struct hub_node *node, uint16_t slot)
{
    struct hub_link *link = node->links[slot];

    if (link == NULL)
        return; /* lost already, the event is on its way */
    node->links[slot] = NULL;
    node->hub->cfg.ops->drop(link->conn, true);
    ep_hub_link_free(link);
}

/* --- from the transport */

static void refuse(struct ep_hub *hub, struct ep_request *req,
                   const uint8_t *cm, enum ov_refuse_reason reason)
{
    uint8_t answer[EP_AUTH_REFUSE_BYTES];

    hub->refused++;
    if (reason == OV_GRANTED) { /* not proved: it learns nothing */
        hub->cfg.ops->reject(req, NULL, 0);
        return;
    }
    ep_auth_refuse_make(hub->cfg.auth, cm, (uint16_t)reason, answer);
    hub->cfg.ops->reject(req, answer, sizeof(answer));
}

static void on_request(void *arg, struct ep_request *req, const uint8_t *cm,
                       size_t len_bytes)
{
    struct ep_hub *hub = arg;
    uint8_t answer[EP_AUTH_ACCEPT_BYTES];
    struct ep_auth_hello hello;
    struct hub_node *node;
    struct hub_link *link;

    if (hub->is_closing ||
        ep_auth_hello_check(hub->cfg.auth, hub->nonce, cm, len_bytes, &hello)) {
        refuse(hub, req, cm, OV_GRANTED);
        return;
    }
    node = ep_hub_find(hub, hello.target);
    if (ep_auth_seen_take(&hub->seen, &hello)) {
        refuse(hub, req, cm, OV_REFUSE_STALE);
        return;
    }
    link = node == NULL ? NULL : calloc(1, sizeof(*link));
    if (link == NULL) {
        refuse(hub, req, cm, OV_REFUSE_SERVE);
        return;
    }
    link->node = node;
    link->peer = hello.node;
    link->state = HUB_LINK_ACCEPTING;
    ep_auth_accept_make(hub->cfg.auth, cm, answer);
    if (hub->cfg.ops->accept(req, answer, sizeof(answer), link, &link->conn))
        ep_hub_link_free(link);
}

/* The connection is proved on both sides: the node gets to know it. */
static void introduce(struct ep_hub *hub, struct hub_link *link)
{
    struct hub_node *node = link->node;
    uint16_t slot = ov_node_free_link(node->node);
    struct ov_event ev = {.kind = OV_EV_LINK_UP,
                          .node = link->peer,
                          .dialled = link->state == HUB_LINK_DIALLING};

    /* A slot is free for the node but its loss may still be queued. */
    while (slot < node->links_max && node->links[slot] != NULL)
        slot++;
    if (slot >= node->links_max) {
        hub->cfg.ops->drop(link->conn, false);
        if (link == node->dialling)
            end_dial(link);
        else
            ep_hub_link_free(link);
        return;
    }
    if (link == node->dialling)
        node->dialling = NULL;
    if (link->timer != NULL)
        event_del(link->timer);
    link->state = HUB_LINK_UP;
    link->slot = slot;
    node->links[slot] = link;
    ev.link = slot;
    ep_hub_post(hub, node->index, &ev);
}

static void on_up(void *arg, struct ep_conn *conn, const uint8_t *cm,
                  size_t len_bytes)
{
    struct ep_hub *hub = arg;
    struct hub_link *link = hub->cfg.ops->user(conn);

    if (link->state == HUB_LINK_DIALLING &&
        ep_auth_accept_check(hub->cfg.auth, link->hello, cm, len_bytes)) {
        hub->refused++;
        hub->cfg.ops->drop(conn, false);
        end_dial(link);
        return;
    }
    introduce(hub, link);
}

static void on_down(void *arg, struct ep_conn *conn, enum ep_down_why why)
{
    struct ep_hub *hub = arg;
    struct hub_link *link = hub->cfg.ops->user(conn);
    struct hub_node *node = link->node;
    struct ov_event ev = {.kind = OV_EV_LINK_DOWN, .link = link->slot};

    (void)why;
    if (link->state == HUB_LINK_DIALLING) {
        end_dial(link);
        return;
    }
    if (link->state == HUB_LINK_UP) {
        node->links[link->slot] = NULL;
        ep_hub_post(hub, node->index, &ev);
    }
    ep_hub_link_free(link);
}

static void count_frame(struct ep_hub *hub, uint8_t type)
{
    hub->frames_up += type == OV_FRAME_UP;
    hub->frames_down += type == OV_FRAME_DOWN;
}

static void on_frame(void *arg, struct ep_conn *conn, struct ov_buf *buf)
{
    struct ep_hub *hub = arg;
    struct hub_link *link = hub->cfg.ops->user(conn);
    struct ov_event ev = {.kind = OV_EV_FRAME, .link = link->slot, .buf = buf};

    if (link->state != HUB_LINK_UP) {
        ep_hub_put(hub, buf);
        return;
    }
    if (buf->len_bytes > 0)
        count_frame(hub, buf->mem[0]);
    ep_hub_post(hub, link->node->index, &ev);
}

static void on_sent(void *arg, struct ep_conn *conn, unsigned frames)
{
    struct ep_hub *hub = arg;
    struct hub_link *link = hub->cfg.ops->user(conn);
    struct ov_event ev = {
        .kind = OV_EV_SENT, .link = link->slot, .count = frames};

    if (link->state == HUB_LINK_UP)
        ep_hub_post(hub, link->node->index, &ev);
}

const struct ep_transport_events ep_hub_transport_events = {
    .on_request = on_request,
    .on_up = on_up,
    .on_down = on_down,
    .on_frame = on_frame,
    .on_sent = on_sent,
};
