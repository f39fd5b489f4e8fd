/* Connections: dials and closes them on behalf of a node. */
#include <stdlib.h>

#include "endpoints/hub/impl.h"
#include "overlay/base/err.h"
#include "topo/tree.h"

static void dial_failed(struct hub_node *node)
{
    struct ov_event ev = {.kind = OV_EV_DIAL_FAILED, .node = node->wanted};

    ep_hub_queue_put(node->hub, node->index, &ev);
}

/* Starts the timer for an attempt: a fabric may try for ever. */
static int watch_attempt(struct hub_node *node)
{
    uint64_t ns = node->hub->cfg.overlay.times.attempt_ns;
    struct timeval wait = {(time_t)(ns / 1000000000),
                           (suseconds_t)(ns % 1000000000 / 1000)};

    return evtimer_add(node->attempt, &wait) ? OV_ENOMEM : 0;
}

void ep_hub_dial_now(struct hub_node *node)
{
    struct ep_hub *hub = node->hub;
    const struct ep_boot_peer *peer = ep_book_find(&hub->book, node->wanted);
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
    if (watch_attempt(node) ||
        hub->cfg.ops->dial(hub->transport, peer->address, link->hello,
                           sizeof(link->hello), link, &link->conn)) {
        evtimer_del(node->attempt);
        free(link);
        dial_failed(node);
        return;
    }
    node->dialling = link;
}

/* Ends a dial; one without a connection was waiting for an address. */
void ep_hub_dial_end(struct hub_node *node)
{
    evtimer_del(node->attempt);
    free(node->dialling);
    node->dialling = NULL;
    node->attach = 0;
    dial_failed(node);
}

/* A dial of the planned parent has no time limit here, because the parent may
 * start later than we do: the launch as a whole has one. */
void ep_hub_dial(struct hub_node *node, uint32_t peer, uint64_t attach)
{
    const struct topo_tree *plan = &node->hub->cfg.overlay.plan;

    if (node->is_over)
        return;
    node->attach = attach;
    node->wanted = peer;
    if (ep_book_find(&node->hub->book, peer) != NULL)
        ep_hub_dial_now(node);
    else if (peer != topo_tree_parent(plan, node->self) && watch_attempt(node))
        ep_hub_dial_end(node);
}

void ep_hub_reject(struct ep_hub *hub, struct ep_request *req,
                   const uint8_t *hello, unsigned reason)
{
    uint8_t answer[EP_AUTH_REFUSE_BYTES];

    ep_auth_refuse_make(hub->cfg.auth, hello, (uint16_t)reason, answer);
    hub->cfg.ops->reject(req, answer, sizeof(answer));
}

void ep_hub_close_link(struct hub_node *node, uint16_t slot)
{
    struct hub_link *link = node->links[slot];

    if (link == NULL)
        return; /* the link has ended already, and that event is in the queue */
    node->links[slot] = NULL;
    node->hub->cfg.ops->drop(link->conn, true);
    free(link);
}

void ep_hub_end_node(struct hub_node *node)
{
    node->is_over = true;
    for (uint32_t i = 0; i < node->links_room; i++) {
        if (node->links[i] != NULL)
            ep_hub_close_link(node, (uint16_t)i);
    }
    if (node->dialling != NULL) {
        node->hub->cfg.ops->drop(node->dialling->conn, false);
        free(node->dialling);
        node->dialling = NULL;
    }
    node->attach = 0;
    if (node->timer != NULL)
        evtimer_del(node->timer);
    if (node->attempt != NULL)
        evtimer_del(node->attempt);
}
