/* Probes: dials that only ask whether somebody listens.
 *
 * A listener refuses each, with a reason that is proved. The system refuses
 * where nobody listens any more. Everything else, a silence too, is no answer.
 */
#include <stdlib.h>

#include "endpoints/hub/impl.h"
#include "overlay/base/err.h"

static void probe_free(struct hub_probe *probe)
{
    LIST_REMOVE(probe, entry);
    if (probe->limit != NULL)
        event_free(probe->limit);
    free(probe);
}

/* Where that node listened, for others to look there as well. */
static struct ov_buf *address_of(struct ep_hub *hub, uint32_t peer)
{
    const struct ep_boot_peer *known = ep_book_find(&hub->book, peer);
    struct ov_buf *buf = known == NULL ? NULL : ep_hub_buf(hub);

    if (buf != NULL)
        buf->len_bytes = ep_book_encode(known, buf->mem);
    return buf;
}

/* The transport has no part in it any more. */
static void probe_answer(struct hub_probe *probe, bool is_refused)
{
    struct hub_node *node = probe->link.node;
    struct ov_event ev = {.kind = OV_EV_PROBED,
                          .node = probe->link.peer,
                          .link = probe->asker,
                          .seq = probe->seq,
                          .is_refused = is_refused};
    bool is_told = probe->is_for_node;

    if (is_told && is_refused && ev.seq == 0)
        ev.buf = address_of(node->hub, ev.node);

    probe_free(probe);
    if (is_told)
        ep_hub_queue_put(node->hub, node->index, &ev);
}

static void on_limit(evutil_socket_t fd, short what, void *arg)
{
    struct hub_probe *probe = arg;
    struct ep_hub *hub = probe->link.node->hub;

    (void)fd;
    (void)what;
    hub->cfg.ops->drop(probe->link.conn, false);
    probe_answer(probe, false);
    event_active(hub->later, EV_WRITE, 0); /* steps what was queued */
}

/* One that is under way for the same asker. */
static struct hub_probe *find(const struct hub_node *node, uint32_t peer,
                              uint16_t asker, uint64_t seq)
{
    struct hub_probe *probe;

    LIST_FOREACH(probe, &node->hub->probes, entry)
    {
        if (probe->link.node == node && probe->link.peer == peer &&
            probe->asker == asker && probe->seq == seq)
            return probe;
    }
    return NULL;
}

/* Starts the dial; the probe is in the list. */
static int begin(struct hub_probe *probe, const struct ep_boot_peer *peer)
{
    struct ep_hub *hub = probe->link.node->hub;
    uint64_t ns = hub->cfg.overlay.timers.attempt_ns;
    struct timeval wait = {(time_t)(ns / 1000000000),
                           (suseconds_t)(ns % 1000000000 / 1000)};
    struct ep_auth_hello hello = {
        .node = probe->link.node->self,
        .target = peer->node,
        .attach = EP_AUTH_PROBE | ++hub->probes_made,
    };

    probe->limit = evtimer_new(hub->cfg.base, on_limit, probe);
    if (probe->limit == NULL || evtimer_add(probe->limit, &wait))
        return OV_ENOMEM;
    ep_auth_hello_make(hub->cfg.auth, peer->nonce, &hello, probe->link.hello);
    return hub->cfg.ops->dial(hub->transport, peer->address, probe->link.hello,
                              sizeof(probe->link.hello), &probe->link,
                              &probe->link.conn);
}

void ep_hub_probe(struct hub_node *node, uint32_t peer,
                  const struct ov_act *act)
{
    struct ep_hub *hub = node->hub;
    const struct ep_boot_peer *known = ep_book_find(&hub->book, peer);
    uint64_t seq = act == NULL ? 0 : act->seq;
    uint16_t asker = act == NULL ? 0 : act->link;
    struct hub_probe *probe = find(node, peer, asker, seq);

    if (node->is_over)
        return;
    if (probe != NULL) { /* its answer will do */
        probe->is_for_node |= act != NULL;
        return;
    }
    probe = calloc(1, sizeof(*probe));
    if (probe == NULL)
        return;
    probe->link.node = node;
    probe->link.peer = peer;
    probe->link.state = HUB_LINK_PROBING;
    probe->is_for_node = act != NULL;
    probe->seq = seq;
    probe->asker = asker;
    LIST_INSERT_HEAD(&hub->probes, probe, entry);
    if (known == NULL || begin(probe, known))
        probe_answer(probe, false);
}

void ep_hub_probe_end(struct hub_link *link, bool is_refused)
{
    probe_answer((struct hub_probe *)link, is_refused);
}

void ep_hub_probes_drop(struct ep_hub *hub)
{
    struct hub_probe *probe;

    while ((probe = LIST_FIRST(&hub->probes)) != NULL) {
        hub->cfg.ops->drop(probe->link.conn, false);
        probe_free(probe);
    }
}
