/* Probes: dials that only ask whether a node listens.
 *
 * A listener refuses each of them, with a reason that is proved. The system
 * refuses when nothing listens at the address any longer. Everything else,
 * silence included, counts as no answer.
 */
#include <stdlib.h>

#include "endpoints/hub/impl.h"
#include "overlay/base/err.h"

#define ROOT_NS   UINT64_C(2000000000)
#define OTHERS_NS UINT64_C(3000000000)

static void probe_free(struct hub_probe *probe)
{
    LIST_REMOVE(probe, entry);
    if (probe->limit != NULL)
        event_free(probe->limit);
    free(probe);
}

/* Returns the address at which that node has listened, so that other nodes can
 * probe it as well. */
static struct ov_buf *address_of(struct ep_hub *hub, uint32_t peer)
{
    const struct ep_boot_peer *known = ep_book_find(&hub->book, peer);
    struct ov_buf *buf = known == NULL ? NULL : ep_hub_buf(hub);

    if (buf != NULL)
        buf->len_bytes = ep_book_encode(known, buf->mem);
    return buf;
}

/* Reports the answer of a probe, whose connection the transport has closed, and
 * frees the probe. */
static void probe_answer(struct hub_probe *probe, enum hub_answer answer)
{
    struct hub_node *node = probe->link.node;
    struct ov_event ev = {
        .kind = OV_EV_PROBED,
        .node = probe->link.peer,
        .link = probe->asker,
        .seq = probe->seq,
        .is_refused = answer == HUB_NOBODY || answer == HUB_OVER,
    };
    hub_told told = probe->told;

    probe_free(probe);
    if (told != NULL) {
        told(node->hub, ev.node, answer);
        return;
    }
    if (ev.is_refused && ev.seq == 0)
        ev.buf = address_of(node->hub, ev.node);
    ep_hub_queue_put(node->hub, node->index, &ev);
}

static void on_limit(evutil_socket_t fd, short what, void *arg)
{
    struct hub_probe *probe = arg;
    struct ep_hub *hub = probe->link.node->hub;

    (void)fd;
    (void)what;
    hub->cfg.ops->drop(probe->link.conn, false);
    probe_answer(probe, HUB_SILENT);
    event_active(hub->later, EV_WRITE, 0); /* lets the queue run soon */
}

/* True when the same asker already has such a probe without an answer. */
static bool is_under_way(const struct hub_probe *wanted)
{
    const struct hub_probe *probe;

    LIST_FOREACH(probe, &wanted->link.node->hub->probes, entry)
    {
        if (probe->link.node == wanted->link.node &&
            probe->link.peer == wanted->link.peer &&
            probe->told == wanted->told && probe->asker == wanted->asker &&
            probe->seq == wanted->seq)
            return true;
    }
    return false;
}

/* A probe for the hub itself has a time limit that does not depend on the
 * heartbeat. */
static struct timeval limit_of(const struct hub_probe *probe)
{
    uint64_t ns = probe->link.node->hub->cfg.overlay.times.attempt_ns;

    if (probe->told != NULL)
        ns = probe->link.peer == 0 ? ROOT_NS : OTHERS_NS;
    return (struct timeval){(time_t)(ns / 1000000000),
                            (suseconds_t)(ns % 1000000000 / 1000)};
}

/* Starts the dial of a probe that is in the list. */
static int dial_probe(struct hub_probe *probe, const struct ep_boot_peer *peer)
{
    struct ep_hub *hub = probe->link.node->hub;
    struct timeval wait = limit_of(probe);
    struct ep_auth_hello hello = {
        .node = probe->link.node->self,
        .target = peer->node,
        .attach = EP_AUTH_PROBE | ++hub->probes_made,
    };

    if (probe->told != NULL)
        hello.attach |= EP_AUTH_ROOT;
    probe->limit = evtimer_new(hub->cfg.base, on_limit, probe);
    if (probe->limit == NULL || evtimer_add(probe->limit, &wait))
        return OV_ENOMEM;
    ep_auth_hello_make(hub->cfg.auth, peer->nonce, &hello, probe->link.hello);
    return hub->cfg.ops->dial(hub->transport, peer->address, probe->link.hello,
                              sizeof(probe->link.hello), &probe->link,
                              &probe->link.conn);
}

static void start_probe(const struct hub_probe *wanted)
{
    struct hub_node *node = wanted->link.node;
    const struct ep_boot_peer *known =
        ep_book_find(&node->hub->book, wanted->link.peer);
    struct hub_probe *probe;

    if (node->is_over || is_under_way(wanted))
        return;
    probe = malloc(sizeof(*probe));
    if (probe == NULL)
        return;
    *probe = *wanted;
    probe->link.state = HUB_LINK_PROBING;
    LIST_INSERT_HEAD(&node->hub->probes, probe, entry);
    if (known == NULL || dial_probe(probe, known))
        probe_answer(probe, HUB_SILENT);
}

void ep_hub_probe(struct hub_node *node, const struct ov_act *act)
{
    struct hub_probe probe = {.link = {.node = node, .peer = act->node},
                              .seq = act->seq,
                              .asker = act->link};

    start_probe(&probe);
}

void ep_hub_ask(struct ep_hub *hub, uint32_t peer, hub_told told)
{
    struct hub_probe probe = {.link = {.node = &hub->nodes[0], .peer = peer},
                              .told = told};

    start_probe(&probe);
}

void ep_hub_probe_end(struct hub_link *link, enum hub_answer answer)
{
    probe_answer((struct hub_probe *)link, answer);
}

void ep_hub_probes_drop(struct ep_hub *hub)
{
    struct hub_probe *probe;

    while ((probe = LIST_FIRST(&hub->probes)) != NULL) {
        hub->cfg.ops->drop(probe->link.conn, false);
        probe_free(probe);
    }
}
