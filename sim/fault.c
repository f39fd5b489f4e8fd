/* Faults: bits on a host, and what waits for their end. */
#include "sim/fault.h"

#include <stdlib.h>

#include "overlay/base/err.h"
#include "sim/host.h"
#include "sim/net.h"

/* An item that waits for the end of a fault of its host. */
struct sim_frozen {
    struct sim_frozen *next;
    uint32_t host; /* with the fault */
    struct sim_item item;
};

int sim_fault_init(struct sim_world *w)
{
    for (uint32_t i = 0; i < w->cfg.faults_count; i++)
        sim_push(w, w->cfg.faults[i].at_ns, SIM_ITEM_FAULT,
                 w->cfg.faults[i].node, (struct sim_item){.arg = i});
    return 0;
}

void sim_fault_fini(struct sim_world *w)
{
    while (w->frozen != NULL) {
        struct sim_frozen *frozen = w->frozen;

        if (frozen->item.kind == SIM_ITEM_ARRIVE ||
            frozen->item.kind == SIM_ITEM_DELIVER)
            sim_load_put(&w->store, frozen->item.what.load);
        w->frozen = frozen->next;
        free(frozen);
    }
}

static bool has(const struct sim_world *w, uint32_t n, enum sim_fault_kind kind)
{
    return (w->hosts[n].faults & (1u << kind)) != 0;
}

/* Newest first; the end of the fault turns them around. */
static void keep(struct sim_world *w, uint32_t host,
                 const struct sim_item *item)
{
    struct sim_frozen *frozen = malloc(sizeof(*frozen));

    OV_ASSERT(frozen != NULL);
    *frozen = (struct sim_frozen){w->frozen, host, *item};
    w->frozen = frozen;
}

bool sim_fault_freezes(struct sim_world *w, const struct sim_item *item)
{
    if (!has(w, item->node, SIM_FAULT_FREEZE))
        return false;
    keep(w, item->node, item);
    return true;
}

/* The host whose fault swallows what goes from one to the other. */
static uint32_t swallower(const struct sim_world *w, uint32_t from, uint32_t to)
{
    if ((w->hosts[from].faults | w->hosts[to].faults) == 0)
        return TOPO_NONE;
    if (has(w, from, SIM_FAULT_SILENCE))
        return from;
    if (has(w, to, SIM_FAULT_SILENCE))
        return to;
    if (has(w, from, SIM_FAULT_MUTE) && to < from)
        return from;
    if (has(w, to, SIM_FAULT_DEAF) && from < to)
        return to;
    return TOPO_NONE;
}

bool sim_fault_holds(struct sim_world *w, uint32_t from, uint32_t to,
                     const struct sim_item *item)
{
    uint32_t host = swallower(w, from, to);

    if (host == TOPO_NONE)
        return false;
    keep(w, host, item);
    return true;
}

bool sim_fault_is_silent(const struct sim_world *w, uint32_t from, uint32_t to)
{
    return swallower(w, from, to) != TOPO_NONE ||
           swallower(w, to, from) != TOPO_NONE || has(w, to, SIM_FAULT_FREEZE);
}

bool sim_fault_refuses(const struct sim_world *w, uint32_t from, uint32_t to)
{
    return has(w, to, SIM_FAULT_REFUSE) || has(w, from, SIM_FAULT_CUT);
}

/* May others take the host for lost because of it? */
static bool is_loss(const struct sim_world *w, const struct sim_fault *fault)
{
    if (fault->kind == SIM_FAULT_SLOW || fault->kind == SIM_FAULT_REFUSE)
        return fault->kind == SIM_FAULT_REFUSE;
    if (fault->kind == SIM_FAULT_KILL || fault->kind == SIM_FAULT_CUT)
        return true;
    return fault->length_ns >= w->cfg.overlay.timers.heartbeat_ns / 2;
}

void sim_fault_begin(struct sim_world *w, const struct sim_item *item)
{
    const struct sim_fault *fault = &w->cfg.faults[item->arg];
    struct sim_host *host = &w->hosts[fault->node];

    if (!sim_host_runs(w, fault->node) ||
        has(w, fault->node, (enum sim_fault_kind)fault->kind))
        return; /* no more can be broken */
    w->now_ns = item->at_ns;
    host->is_touched |= is_loss(w, fault);
    if (fault->kind == SIM_FAULT_KILL) {
        sim_host_end(w, fault->node, SIM_HOST_DEAD);
        return;
    }
    if (fault->kind == SIM_FAULT_SLOW)
        host->slow = (uint16_t)fault->factor;
    if (fault->kind == SIM_FAULT_CUT)
        sim_net_break(w, fault->node);
    if (fault->kind == SIM_FAULT_FREEZE && fault->length_ns == SIM_NEVER)
        w->leaving++; /* nobody waits for it */
    host->faults = (uint8_t)(host->faults | 1u << fault->kind);
    if (fault->length_ns < SIM_NEVER - item->at_ns)
        sim_push(w, item->at_ns + fault->length_ns, SIM_ITEM_HEAL, fault->node,
                 (struct sim_item){.arg = item->arg});
}

void sim_fault_heal(struct sim_world *w, const struct sim_item *item)
{
    const struct sim_fault *fault = &w->cfg.faults[item->arg];
    struct sim_host *host = &w->hosts[fault->node];
    struct sim_frozen **at = &w->frozen, *due = NULL;

    host->faults = (uint8_t)(host->faults & ~(1u << fault->kind));
    if (fault->kind == SIM_FAULT_SLOW)
        host->slow = 1;
    while (*at != NULL) {
        struct sim_frozen *frozen = *at;

        if (frozen->host == fault->node) {
            *at = frozen->next;
            frozen->next = due;
            due = frozen;
        } else {
            at = &frozen->next;
        }
    }
    while (due != NULL) {
        struct sim_frozen *next = due->next;
        struct sim_host *waits = &w->hosts[due->item.node];

        if (due->item.kind == SIM_ITEM_TIMER &&
            due->item.at_ns == waits->timer_ns)
            waits->timer_ns = item->at_ns; /* still the live one */
        sim_push(w, item->at_ns, due->item.kind, due->item.node, due->item);
        free(due);
        due = next;
    }
}
