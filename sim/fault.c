/* Faults: sets and clears the bits of a host, and keeps items that wait for a
 * fault's end. */
#include "sim/fault.h"

#include <stdlib.h>

#include "overlay/base/err.h"

/* An item that waits for the end of a fault of its host. */
struct frozen {
    struct frozen *next;
    uint32_t host; /* the host that has the fault */
    struct sim_item item;
};

/* The node that a fault has struck, and whether the fault is in effect. */
struct struck {
    uint32_t node;
    bool is_on;
};

struct sim_faults {
    struct frozen *frozen;
    struct struck struck[SIM_FAULTS_MAX];
    uint32_t words[SIM_WHEN_KINDS]; /* how often each kind of item was sent
                                       since all nodes joined */
};

int sim_fault_open(struct sim_world *w)
{
    w->faults = calloc(1, sizeof(*w->faults));
    if (w->faults == NULL)
        return OV_ENOMEM;
    for (uint32_t i = 0; i < w->cfg.faults_count; i++) {
        if (w->cfg.faults[i].when == SIM_WHEN_TIME)
            sim_push(w, w->cfg.faults[i].at_ns, SIM_ITEM_FAULT,
                     w->cfg.faults[i].node, (struct sim_item){.arg = i});
    }
    return 0;
}

void sim_fault_on_word(struct sim_world *w, enum sim_when when,
                       const uint32_t nodes[SIM_WHOM_KINDS])
{
    uint32_t nth = ++w->faults->words[when];

    for (uint32_t i = 0; i < w->cfg.faults_count; i++) {
        const struct sim_fault *fault = &w->cfg.faults[i];
        uint32_t node = nodes[fault->whom];

        if (fault->when != when || fault->nth != nth)
            continue;
        if (node == 0)
            node = nodes[SIM_WHOM_CLAIMS];
        sim_push(w, w->step.now_ns + fault->at_ns, SIM_ITEM_FAULT, node,
                 (struct sim_item){.arg = i});
    }
}

void sim_fault_close(struct sim_world *w)
{
    while (w->faults != NULL && w->faults->frozen != NULL) {
        struct frozen *frozen = w->faults->frozen;

        if (sim_item_has_load(&frozen->item))
            sim_load_put(&w->store, frozen->item.what.load);
        w->faults->frozen = frozen->next;
        free(frozen);
    }
    free(w->faults);
    w->faults = NULL;
}

static bool has(const struct sim_world *w, uint32_t n, enum sim_fault_kind kind)
{
    return (w->hosts[n].faults & (1u << kind)) != 0;
}

/* True when a fault of this kind is in effect between the node n and the node
 * `above`. Such a fault may concern all nodes above, or one of them. */
static bool has_between(const struct sim_world *w, uint32_t n, uint32_t above,
                        enum sim_fault_kind kind)
{
    if (!has(w, n, kind) || above > n)
        return false;
    for (uint32_t i = 0; i < w->cfg.faults_count; i++) {
        const struct sim_fault *fault = &w->cfg.faults[i];

        if (w->faults->struck[i].is_on && w->faults->struck[i].node == n &&
            fault->kind == kind &&
            (fault->peer == TOPO_NONE || fault->peer == above))
            return true;
    }
    return false;
}

/* Keeps an item until the fault of its host ends. The newest is first in the
 * list; the end of the fault reverses the order. */
static void keep_item(struct sim_world *w, uint32_t host,
                      const struct sim_item *item)
{
    struct frozen *frozen = malloc(sizeof(*frozen));

    OV_ASSERT(frozen != NULL);
    *frozen = (struct frozen){w->faults->frozen, host, *item};
    w->faults->frozen = frozen;
}

bool sim_fault_freezes(struct sim_world *w, const struct sim_item *item)
{
    if (!has(w, item->node, SIM_FAULT_FREEZE))
        return false;
    keep_item(w, item->node, item);
    return true;
}

/* The host because of whose fault a frame from one node to the other does not
 * arrive, or TOPO_NONE. */
static uint32_t swallower(const struct sim_world *w, uint32_t from, uint32_t to)
{
    if ((w->hosts[from].faults | w->hosts[to].faults) == 0)
        return TOPO_NONE;
    if (has(w, from, SIM_FAULT_SILENCE))
        return from;
    if (has(w, to, SIM_FAULT_SILENCE))
        return to;
    if (has_between(w, from, to, SIM_FAULT_MUTE))
        return from;
    if (has_between(w, to, from, SIM_FAULT_DEAF))
        return to;
    return TOPO_NONE;
}

bool sim_fault_holds(struct sim_world *w, uint32_t from, uint32_t to,
                     const struct sim_item *item)
{
    uint32_t host = swallower(w, from, to);

    if (host == TOPO_NONE)
        return false;
    keep_item(w, host, item);
    return true;
}

bool sim_fault_is_silent(const struct sim_world *w, uint32_t from, uint32_t to)
{
    return swallower(w, from, to) != TOPO_NONE ||
           swallower(w, to, from) != TOPO_NONE ||
           has(w, to, SIM_FAULT_FREEZE) ||
           (sim_fault_rejects(w, to, from) && !sim_fault_rejects(w, from, to));
}

bool sim_fault_rejects(const struct sim_world *w, uint32_t from, uint32_t to)
{
    if ((w->hosts[from].faults | w->hosts[to].faults) == 0)
        return false;
    return has_between(w, to, from, SIM_FAULT_REJECT) ||
           has_between(w, to, from, SIM_FAULT_REJECT_IN) ||
           has_between(w, from, to, SIM_FAULT_REJECT) ||
           has_between(w, from, to, SIM_FAULT_REJECT_OUT);
}

bool sim_fault_refuses(const struct sim_world *w, uint32_t to)
{
    return has(w, to, SIM_FAULT_REFUSE);
}

bool sim_fault_cuts(const struct sim_world *w, uint32_t from, uint32_t to)
{
    return has_between(w, from, to, SIM_FAULT_CUT) ||
           has_between(w, to, from, SIM_FAULT_CUT);
}

/* True when a fault by which hosts reject each other is already in effect at
 * the host. */
static bool is_rejected(const struct sim_world *w, uint32_t n)
{
    for (uint32_t i = 0; i < w->cfg.faults_count; i++) {
        if (w->faults->struck[i].is_on && w->faults->struck[i].node == n &&
            sim_fault_is_reject((enum sim_fault_kind)w->cfg.faults[i].kind))
            return true;
    }
    return false;
}

/* True when the root may declare a node lost because of a fault by which hosts
 * reject each other. When a single host rejects the node it is not lost,
 * because a second witness is asked. When that host is the root's, it depends
 * on other faults which child the root asks. */
static bool is_reject_loss(const struct sim_world *w, uint32_t n,
                           const struct sim_fault *fault, bool is_long)
{
    struct topo_range children = topo_tree_children(&w->cfg.overlay.plan, 0);

    if (fault->peer == 0)
        return is_long || w->cfg.faults_count > 1 ||
               children.first == children.last;
    return fault->peer == TOPO_NONE || is_rejected(w, n);
}

/* True when the root may declare the node lost because of the fault: mostly
 * when the fault keeps the node from the root for about the heartbeat time. */
static bool is_loss(const struct sim_world *w, uint32_t n,
                    const struct sim_fault *fault)
{
    bool is_long = fault->length_ns >= w->cfg.overlay.times.heartbeat_ns;

    switch ((enum sim_fault_kind)fault->kind) {
    case SIM_FAULT_KILL:
    case SIM_FAULT_REFUSE: /* looks like a dead node to others */
        return true;
    case SIM_FAULT_CUT:
    case SIM_FAULT_DEAF:
    case SIM_FAULT_MUTE:
        return is_long && (fault->peer == TOPO_NONE || fault->peer == 0);
    case SIM_FAULT_SILENCE:
    case SIM_FAULT_FREEZE:
        return is_long;
    case SIM_FAULT_REJECT:
    case SIM_FAULT_REJECT_IN:
    case SIM_FAULT_REJECT_OUT:
        return is_reject_loss(w, n, fault, is_long);
    case SIM_FAULT_SLOW:
    case SIM_FAULT_RESET:
    case SIM_FAULT_KINDS:
        break;
    }
    return false;
}

void sim_fault_touch(struct sim_world *w, uint32_t n,
                     const struct sim_fault *fault)
{
    w->hosts[n].is_touched |= is_loss(w, n, fault);
}

void sim_fault_begin(struct sim_world *w, const struct sim_item *item)
{
    const struct sim_fault *fault = &w->cfg.faults[item->arg];
    struct sim_host *host = &w->hosts[item->node];

    if (fault->kind == SIM_FAULT_SLOW)
        host->slow = (uint16_t)fault->factor;
    host->faults = (uint16_t)(host->faults | 1u << fault->kind);
    w->faults->struck[item->arg] = (struct struck){item->node, true};
    if (fault->length_ns < SIM_NEVER - item->at_ns)
        sim_push(w, item->at_ns + fault->length_ns, SIM_ITEM_HEAL, item->node,
                 (struct sim_item){.arg = item->arg});
}

/* Clears a kind of fault at a node, unless another fault of that kind is in
 * effect there. */
static void clear_fault(struct sim_world *w, uint32_t n, uint8_t kind)
{
    for (uint32_t i = 0; i < w->cfg.faults_count; i++) {
        if (w->faults->struck[i].is_on && w->faults->struck[i].node == n &&
            w->cfg.faults[i].kind == kind)
            return;
    }
    w->hosts[n].faults = (uint16_t)(w->hosts[n].faults & ~(1u << kind));
    if (kind == SIM_FAULT_SLOW)
        w->hosts[n].slow = 1;
}

void sim_fault_heal(struct sim_world *w, const struct sim_item *item)
{
    struct frozen **at = &w->faults->frozen, *due = NULL;

    w->faults->struck[item->arg].is_on = false;
    clear_fault(w, item->node, w->cfg.faults[item->arg].kind);
    while (*at != NULL) {
        struct frozen *frozen = *at;

        if (frozen->host == item->node) {
            *at = frozen->next;
            frozen->next = due;
            due = frozen;
        } else {
            at = &frozen->next;
        }
    }
    while (due != NULL) {
        struct frozen *next = due->next;
        struct sim_host *waits = &w->hosts[due->item.node];

        if (due->item.kind == SIM_ITEM_TIMER &&
            due->item.at_ns == waits->timer_ns)
            waits->timer_ns = item->at_ns; /* this is the node's only valid
                                              timer */
        sim_push(w, item->at_ns, due->item.kind, due->item.node, due->item);
        free(due);
        due = next;
    }
}
