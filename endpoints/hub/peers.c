/* Handles what the transport reports about peers: proofs in both directions,
 * frames, losses. */
#include <stdlib.h>

#include "endpoints/hub/impl.h"
#include "overlay/wire/item.h"

enum { LINKS_FIRST = 4 };

/* Returns the node of that number; NULL: it is not hosted here. */
static struct hub_node *find_node(const struct ep_hub *hub, uint32_t node)
{
    uint32_t low = 0, high = hub->cfg.nodes_count;

    while (low < high) {
        uint32_t mid = low + (high - low) / 2;

        if (hub->nodes[mid].self == node)
            return &hub->nodes[mid];
        if (hub->nodes[mid].self < node)
            low = mid + 1;
        else
            high = mid;
    }
    return NULL;
}

static void end_dial(struct hub_node *node)
{
    ep_hub_dial_end(node);
    ep_hub_run(node->hub);
}

void ep_hub_on_attempt_over(evutil_socket_t fd, short what, void *arg)
{
    struct hub_node *node = arg;

    (void)fd;
    (void)what;
    if (node->dialling != NULL)
        node->hub->cfg.ops->drop(node->dialling->conn, false);
    end_dial(node);
}

/* Answers a probe. */
static void answer_probe(struct ep_hub *hub, struct ep_request *req,
                         const uint8_t *cm, const struct ep_auth_hello *hello)
{
    bool is_about_root =
        (hello->attach & EP_AUTH_ROOT) != 0 && hub->cfg.nodes[0] != 0;

    if (!is_about_root || !ep_hub_inquiry_put(hub, req, cm))
        ep_hub_reject(hub, req, cm, EP_AUTH_ALIVE);
}

static void refuse_peer(struct ep_hub *hub, struct ep_request *req,
                        const uint8_t *cm, enum ov_refuse_reason reason)
{
    hub->refused++;
    ep_hub_reject(hub, req, cm, reason);
}

static void on_request(void *arg, struct ep_request *req, const uint8_t *cm,
                       size_t len_bytes)
{
    struct ep_hub *hub = arg;
    uint8_t answer[EP_AUTH_ACCEPT_BYTES];
    struct ep_auth_hello hello;
    struct hub_node *node;
    struct hub_link *link;

    if (ep_auth_hello_check(hub->cfg.auth, hub->nonce, cm, len_bytes, &hello)) {
        hub->refused++;
        /* a peer that has proved nothing gets no reason */
        hub->cfg.ops->reject(req, NULL, 0);
        return;
    }
    node = find_node(hub, hello.target);
    if (node != NULL && node->is_over) {
        ep_hub_reject(hub, req, cm, EP_AUTH_OVER);
        return;
    }
    if ((hello.attach & EP_AUTH_PROBE) != 0) {
        answer_probe(hub, req, cm, &hello);
        return;
    }
    if (ep_auth_seen_take(&hub->seen, &hello)) {
        refuse_peer(hub, req, cm, OV_REFUSE_STALE);
        return;
    }
    link = node == NULL ? NULL : calloc(1, sizeof(*link));
    if (link == NULL) {
        refuse_peer(hub, req, cm, OV_REFUSE_SERVE);
        return;
    }
    link->node = node;
    link->peer = hello.node;
    link->state = HUB_LINK_ACCEPTING;
    ep_auth_accept_make(hub->cfg.auth, cm, answer);
    if (hub->cfg.ops->accept(req, answer, sizeof(answer), link, &link->conn))
        free(link);
}

/* Makes room for a link in the table. */
static bool has_room(struct hub_node *node, uint32_t slot)
{
    uint32_t room = node->links_room == 0 ? LINKS_FIRST : node->links_room;
    struct hub_link **links;

    while (room <= slot)
        room *= 2;
    if (room == node->links_room)
        return true;
    links = reallocarray(node->links, room, sizeof(*links));
    if (links == NULL)
        return false;
    for (uint32_t i = node->links_room; i < room; i++)
        links[i] = NULL;
    node->links = links;
    node->links_room = room;
    return true;
}

/* Gives a connection that both sides have proved to the node. */
static void introduce(struct ep_hub *hub, struct hub_link *link)
{
    struct hub_node *node = link->node;
    uint32_t links_max = ov_node_links(node->node);
    uint16_t slot = ov_node_free_link(node->node);
    struct ov_event ev = {.kind = OV_EV_LINK_UP,
                          .node = link->peer,
                          .dialled = link->state == HUB_LINK_DIALLING};

    /* A slot may be free for the node while the event of its loss is still in
     * the queue. */
    while (slot < node->links_room && node->links[slot] != NULL)
        slot++;
    if (slot >= links_max || !has_room(node, slot)) {
        hub->cfg.ops->drop(link->conn, false);
        if (link == node->dialling)
            end_dial(node);
        else
            free(link);
        return;
    }
    if (link == node->dialling) {
        node->dialling = NULL;
        node->was_linked = true;
        evtimer_del(node->attempt);
    }
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

    /* A listener never accepts a probe: this is no proper answer. */
    if (link->state == HUB_LINK_PROBING) {
        hub->cfg.ops->drop(conn, false);
        ep_hub_probe_end(link, HUB_SILENT);
        ep_hub_run(hub);
        return;
    }
    if (link->state == HUB_LINK_DIALLING &&
        ep_auth_accept_check(hub->cfg.auth, link->hello, cm, len_bytes)) {
        hub->refused++;
        hub->cfg.ops->drop(conn, false);
        end_dial(link->node);
        return;
    }
    introduce(hub, link);
}

static void on_refused(void *arg, struct ep_conn *conn, const uint8_t *cm,
                       size_t len_bytes)
{
    struct ep_hub *hub = arg;
    struct hub_link *link = hub->cfg.ops->user(conn);
    bool is_probe = link->state == HUB_LINK_PROBING;
    uint16_t reason;

    if ((link->state != HUB_LINK_DIALLING && !is_probe) ||
        ep_auth_refuse_check(hub->cfg.auth, link->hello, cm, len_bytes,
                             &reason))
        return;
    link->reason = reason;
    if (!is_probe && hub->cfg.events->on_refused != NULL)
        hub->cfg.events->on_refused(hub->cfg.arg, link->node->index, link->peer,
                                    reason);
}

static enum hub_answer answer_of(const struct hub_link *link,
                                 enum ep_down_why why)
{
    if (why == EP_DOWN_NOBODY)
        return HUB_NOBODY;
    switch (link->reason) {
    case 0:
        return HUB_SILENT;
    case EP_AUTH_OVER:
        return HUB_OVER;
    case EP_AUTH_HAS_ROOT:
        return HUB_HAS_ROOT;
    case EP_AUTH_NO_ROOT:
        return HUB_NO_ROOT;
    default:
        return HUB_THERE;
    }
}

/* Handles the failure of a dial or a probe. */
static void on_dial_down(struct ep_hub *hub, struct hub_link *link,
                         enum ep_down_why why)
{
    enum hub_answer answer = answer_of(link, why);
    bool is_root = link->peer == 0;

    if (link->state == HUB_LINK_PROBING) {
        ep_hub_probe_end(link, answer);
    } else {
        ep_hub_dial_end(link->node);
        if (is_root)
            ep_hub_inquiry_on_root(hub, 0, answer);
    }
    ep_hub_run(hub);
}

static void on_down(void *arg, struct ep_conn *conn, enum ep_down_why why)
{
    struct ep_hub *hub = arg;
    struct hub_link *link = hub->cfg.ops->user(conn);
    struct hub_node *node = link->node;
    struct ov_event ev = {.kind = OV_EV_LINK_DOWN, .link = link->slot};

    if (link->state == HUB_LINK_DIALLING || link->state == HUB_LINK_PROBING) {
        on_dial_down(hub, link, why);
        return;
    }
    if (link->state == HUB_LINK_UP) {
        node->links[link->slot] = NULL;
        ep_hub_post(hub, node->index, &ev);
    }
    free(link);
}

/* Handles a frame. Short messages of neighbours may wait until the queues are
 * read, and are then handled together; a frame with data is passed on while it
 * is in the cache. */
static void on_frame(void *arg, struct ep_conn *conn, struct ov_buf *buf)
{
    struct ep_hub *hub = arg;
    struct hub_link *link = hub->cfg.ops->user(conn);
    struct ov_event ev = {.kind = OV_EV_FRAME, .link = link->slot, .buf = buf};
    uint8_t type;

    if (link->state != HUB_LINK_UP) {
        ep_hub_put(hub, buf);
        return;
    }
    type = buf->len_bytes > 0 ? buf->mem[0] : OV_FRAME_LINK;
    hub->frames_up += ov_frame_is_up(type);
    hub->frames_down += type == OV_FRAME_DOWN;
    if (type == OV_FRAME_LINK)
        ep_hub_queue_put(hub, link->node->index, &ev);
    else
        ep_hub_post(hub, link->node->index, &ev);
}

static void on_sent(void *arg, struct ep_conn *conn, unsigned frames)
{
    struct ep_hub *hub = arg;
    struct hub_link *link = hub->cfg.ops->user(conn);
    struct ov_event ev = {
        .kind = OV_EV_SENT, .link = link->slot, .count = frames};

    if (link->state == HUB_LINK_UP)
        ep_hub_queue_put(hub, link->node->index, &ev);
}

static void on_idle(void *arg)
{
    ep_hub_run(arg);
}

const struct ep_transport_events ep_hub_transport_events = {
    .on_request = on_request,
    .on_up = on_up,
    .on_refused = on_refused,
    .on_down = on_down,
    .on_frame = on_frame,
    .on_sent = on_sent,
    .on_idle = on_idle,
};
