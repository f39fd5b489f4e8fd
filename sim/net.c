/* Simulates the network: each host has one full-duplex port, which carries one
 * message at a time. */
#include "sim/net.h"

#include <string.h>

#include "overlay/link.h"
#include "sim/buffer.h"
#include "sim/check_links.h"
#include "sim/fault.h"
#include "sim/measure.h"
#include "sim/tally.h"

static const struct sim_link_model *between(const struct sim_world *w,
                                            uint32_t a, uint32_t b)
{
    const struct sim_network *network = &w->cfg.network;

    if (network->under != NULL)
        return network->under[a] == network->under[b] ? &network->near
                                                      : &network->far;
    if (network->switch_nodes == 0 ||
        a / network->switch_nodes == b / network->switch_nodes)
        return &network->near;
    return &network->far;
}

/* --- sending */

/* Makes the load of a frame of records where lines are folded: its bytes are
 * real to the last. */
static struct sim_load *real_load_of(struct sim_world *w,
                                     const struct ov_act *act)
{
    const struct ov_slice *slice = &w->step.out.slice[act->slice_first];
    uint32_t len_bytes = act->head_bytes;
    struct sim_load *load;

    for (unsigned i = 0; i < act->slices; i++)
        len_bytes += slice[i].len_bytes;
    load = sim_load_new(&w->store, len_bytes, 0);
    load->head_bytes = load->len_bytes = len_bytes;
    memcpy(load->head, w->step.out.head + act->head_first, act->head_bytes);
    len_bytes = act->head_bytes;
    for (unsigned i = 0; i < act->slices; i++) {
        memcpy(load->head + len_bytes, slice[i].buf->mem + slice[i].off_bytes,
               slice[i].len_bytes);
        len_bytes += slice[i].len_bytes;
        sim_buffer_put(w, slice[i].buf);
    }
    return load;
}

/* Makes the load of a frame that a node sends. When the node passes a received
 * frame on unchanged, its load is shared. */
static struct sim_load *load_of(struct sim_world *w, const struct ov_act *act)
{
    const struct ov_slice *slice = &w->step.out.slice[act->slice_first];
    uint16_t extents = 0;
    struct sim_load *load;

    if (w->cfg.overlay.folds && act->head_bytes > 0 &&
        ov_frame_is_up(w->step.out.head[act->head_first]))
        return real_load_of(w, act);
    if (act->head_bytes == 0) {
        load = sim_view_of(slice->buf)->load;
        OV_ASSERT(act->slices == 1 && slice->off_bytes == 0 &&
                  slice->len_bytes == slice->buf->len_bytes);
        load->refs++;
        sim_buffer_put(w, slice->buf);
        return load;
    }
    for (unsigned i = 0; i < act->slices; i++)
        extents = (uint16_t)(extents +
                             sim_load_touched(sim_view_of(slice[i].buf)->load,
                                              slice[i].off_bytes,
                                              slice[i].len_bytes));
    load = sim_load_new(&w->store, act->head_bytes, extents);
    memcpy(load->head, w->step.out.head + act->head_first, act->head_bytes);
    load->head_bytes = act->head_bytes;
    load->len_bytes = act->head_bytes;
    for (unsigned i = 0; i < act->slices; i++) {
        sim_load_copy(load, sim_view_of(slice[i].buf)->load, slice[i].off_bytes,
                      slice[i].len_bytes);
        sim_buffer_put(w, slice[i].buf);
    }
    return load;
}

static uint64_t max_ns(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

void sim_net_send(struct sim_world *w, uint32_t n, const struct ov_act *act)
{
    struct sim_host *host = &w->hosts[n];
    struct sim_wire *wire = sim_wire(w, n, act->link);
    struct sim_load *load = load_of(w, act);
    const struct sim_link_model *model = between(w, n, wire->peer);
    struct sim_item item = {.link = act->link, .era = wire->era};
    uint64_t start_ns;

    sim_check_send(w, n, act->link, load);
    if (!wire->is_up) {
        sim_load_put(&w->store, load);
        return;
    }
    sim_measure_send(w, n, wire->peer, load);
    w->step.now_ns += sim_host_cost_ns(w, n);
    start_ns = max_ns(w->step.now_ns, host->out_ns);
    host->out_ns =
        start_ns + host->slow * sim_time_ns(load->len_bytes, model->bandwidth);
    sim_push(w, host->out_ns, SIM_ITEM_SENT, n, item);
    start_ns += model->latency_ns;
    if (w->cfg.network.jitter_ns > 0)
        start_ns += sim_random_in(&w->random, 0, w->cfg.network.jitter_ns);
    wire->last_ns = max_ns(start_ns, wire->last_ns);
    item.link = wire->peer_link;
    item.what.load = load;
    sim_push(w, wire->last_ns, SIM_ITEM_ARRIVE, wire->peer, item);
}

bool sim_net_sent(struct sim_world *w, const struct sim_item *item,
                  struct ov_event *ev)
{
    struct sim_wire *wire = sim_wire(w, item->node, item->link);

    if (!wire->is_up || wire->era != item->era)
        return false;
    sim_check_sent(w, item->node, item->link);
    *ev = (struct ov_event){.kind = OV_EV_SENT, .link = item->link, .count = 1};
    return true;
}

/* --- receiving */

/* True when the connection to which the item belongs still exists. */
static bool is_current(const struct sim_world *w, const struct sim_item *item)
{
    const struct sim_wire *wire = sim_wire(w, item->node, item->link);

    return sim_host_runs(w, item->node) && wire->is_up &&
           wire->era == item->era;
}

/* Handles a frame that the receiving host rejects: the sender's end of the link
 * is reset, while the receiver keeps its own end, on which nothing more
 * arrives. */
static void reject(struct sim_world *w, uint32_t peer,
                   const struct sim_item *item)
{
    const struct sim_wire *wire = sim_wire(w, item->node, item->link);
    uint64_t latency_ns = between(w, item->node, peer)->latency_ns;

    sim_load_put(&w->store, item->what.load);
    sim_push(
        w, item->at_ns + latency_ns, SIM_ITEM_DOWN, peer,
        (struct sim_item){.link = wire->peer_link, .era = wire->era, .arg = 1});
}

void sim_net_arrive(struct sim_world *w, const struct sim_item *item)
{
    struct sim_host *host = &w->hosts[item->node];
    uint32_t peer = sim_wire(w, item->node, item->link)->peer;
    uint64_t start_ns;

    if (!is_current(w, item)) {
        sim_load_put(&w->store, item->what.load);
        return;
    }
    if (sim_fault_holds(w, peer, item->node, item))
        return;
    if (sim_fault_rejects(w, peer, item->node)) {
        reject(w, peer, item);
        return;
    }
    start_ns = max_ns(item->at_ns, host->in_ns);
    host->in_ns =
        start_ns +
        host->slow * sim_time_ns(item->what.load->len_bytes,
                                 between(w, peer, item->node)->bandwidth);
    sim_push(w, host->in_ns, SIM_ITEM_DELIVER, item->node, *item);
}

bool sim_net_deliver(struct sim_world *w, const struct sim_item *item,
                     struct ov_event *ev)
{
    struct sim_host *host = &w->hosts[item->node];
    struct sim_view *view;

    if (!is_current(w, item)) {
        sim_load_put(&w->store, item->what.load);
        return false;
    }
    view = sim_buffer_arrived(w, item->node, item->link, item->what.load);
    *ev = (struct ov_event){
        .kind = OV_EV_FRAME, .link = item->link, .buf = &view->buf};
    host->cpu_ns =
        max_ns(host->cpu_ns, item->at_ns) + sim_host_cost_ns(w, item->node);
    return true;
}

/* --- connections */

void sim_net_close(struct sim_world *w, uint32_t n, uint16_t link)
{
    struct sim_wire *wire = sim_wire(w, n, link);
    uint64_t end_ns = w->step.now_ns + between(w, n, wire->peer)->latency_ns;

    if (!wire->is_up) {
        sim_world_fail(w, "node %u closes link %u, which is closed", n,
                       (unsigned)link);
        return;
    }
    wire->is_up = false;
    sim_check_closed(w, n, link);
    sim_push(w, max_ns(end_ns, wire->last_ns), SIM_ITEM_DOWN, wire->peer,
             (struct sim_item){.link = wire->peer_link, .era = wire->era});
}

bool sim_net_down(struct sim_world *w, const struct sim_item *item,
                  struct ov_event *ev)
{
    uint64_t in_ns = w->hosts[item->node].in_ns;
    struct sim_wire *wire = sim_wire(w, item->node, item->link);

    if (!is_current(w, item) ||
        sim_fault_holds(w, wire->peer, item->node, item))
        return false;
    if (item->arg == 0 && sim_fault_rejects(w, wire->peer, item->node))
        return false;     /* a fault keeps the news of the end from this node */
    if (item->arg == 0) { /* the node learns it after the frames that are coming
                             in */
        struct sim_item last = *item;

        last.arg = 1;
        sim_push(w, max_ns(in_ns, item->at_ns), SIM_ITEM_DOWN, item->node,
                 last);
        return false;
    }
    wire->is_up = false;
    sim_check_closed(w, item->node, item->link);
    *ev = (struct ov_event){.kind = OV_EV_LINK_DOWN, .link = item->link};
    return true;
}

void sim_net_dial(struct sim_world *w, uint32_t n, uint32_t peer)
{
    sim_push(w, w->step.now_ns + w->cfg.network.connect_ns, SIM_ITEM_CONNECT, n,
             (struct sim_item){.arg = peer});
}

/* Queues the result of a probe. Beside the node that is dialled the item has
 * the link and number by which the node knows which neighbour asked. */
void sim_net_probe(struct sim_world *w, uint32_t n, const struct ov_act *act)
{
    struct sim_item item = {
        .arg = act->node, .link = act->link, .what.seq = act->seq};
    uint32_t peer = act->node;
    uint64_t at_ns = w->step.now_ns + w->cfg.network.connect_ns;

    if (sim_fault_is_silent(w, n, peer))
        at_ns += w->cfg.overlay.times.attempt_ns;
    sim_push(w, at_ns, SIM_ITEM_PROBED, n, item);
}

bool sim_net_probed(struct sim_world *w, const struct sim_item *item,
                    struct ov_event *ev)
{
    uint32_t n = item->node, peer = item->arg;

    *ev = (struct ov_event){.kind = OV_EV_PROBED,
                            .node = peer,
                            .link = item->link,
                            .seq = item->what.seq};
    ev->is_refused = !sim_fault_is_silent(w, n, peer) &&
                     !sim_fault_cuts(w, n, peer) &&
                     (!sim_host_runs(w, peer) || sim_fault_refuses(w, peer) ||
                      sim_fault_rejects(w, n, peer));
    if (ev->is_refused)
        ev->buf = ov_buf_ref(&w->address.buf);
    sim_tally_add(w, SIM_COUNT_PROBES_REFUSED, ev->is_refused);
    return true;
}

static void open_wire(struct sim_world *w, uint32_t n, uint16_t link,
                      uint32_t peer, uint16_t peer_link, bool is_dialled)
{
    *sim_wire(w, n, link) = (struct sim_wire){.peer = peer,
                                              .era = w->step.era,
                                              .peer_link = peer_link,
                                              .is_up = true,
                                              .is_dialled = is_dialled};
}

bool sim_net_dial_failed(struct sim_world *w, const struct sim_item *item,
                         struct ov_event *ev)
{
    (void)w;
    *ev = (struct ov_event){.kind = OV_EV_DIAL_FAILED, .node = item->arg};
    return true;
}

/* True when the node that is dialled accepts the connection. */
static bool is_taken(const struct sim_world *w, uint32_t n, uint32_t peer)
{
    return sim_host_runs(w, peer) && !sim_fault_refuses(w, peer) &&
           !sim_fault_cuts(w, n, peer) && !sim_fault_rejects(w, n, peer) &&
           sim_has_children(w, peer);
}

bool sim_net_connect(struct sim_world *w, const struct sim_item *item,
                     struct ov_event *ev, struct ov_event *dialled)
{
    uint32_t n = item->node, peer = item->arg;
    uint16_t near = ov_node_free_link(sim_node(w, n)), far = OV_NO_LINK;

    if (sim_fault_is_silent(w, n, peer)) {
        sim_push(w, item->at_ns + w->cfg.overlay.times.attempt_ns,
                 SIM_ITEM_DIAL_FAILED, n, *item);
        return false;
    }
    if (is_taken(w, n, peer))
        far = ov_node_free_link(sim_node(w, peer));
    if (near == OV_NO_LINK || far == OV_NO_LINK)
        return sim_net_dial_failed(w, item, ev);
    w->step.era++;
    open_wire(w, n, near, peer, far, true);
    open_wire(w, peer, far, n, near, false);
    *sim_child(w, peer, far) = (struct sim_child){0};
    *dialled = (struct ov_event){.kind = OV_EV_LINK_UP, .link = far, .node = n};
    *ev = (struct ov_event){
        .kind = OV_EV_LINK_UP, .link = near, .node = peer, .dialled = true};
    return true;
}

void sim_net_break(struct sim_world *w, uint32_t n, uint32_t above)
{
    for (uint16_t link = 0; link < ov_node_links(sim_node(w, n)); link++) {
        const struct sim_wire *wire = sim_wire(w, n, link);
        struct sim_item item = {.link = link, .era = wire->era};

        if (!wire->is_up || !wire->is_dialled ||
            (above != TOPO_NONE && wire->peer != above))
            continue;
        sim_push(w, w->queue.now_ns, SIM_ITEM_DOWN, n, item);
        item.link = wire->peer_link;
        sim_push(w, w->queue.now_ns, SIM_ITEM_DOWN, wire->peer, item);
    }
}
