/* Makes random faults. */
#include "sim/strikes.h"

#define MS UINT64_C(1000000)

struct maker {
    struct sim_strikes *strikes;
    const struct sim_cfg *cfg;
    struct sim_random *random;
    uint64_t joined_ns, end_ns;
    uint64_t last_ns; /* time of the previous strike */
};

static uint32_t in(struct maker *m, uint32_t low, uint32_t high)
{
    return (uint32_t)sim_random_in(m->random, low, high);
}

static uint32_t parent_of(const struct maker *m, uint32_t n)
{
    return topo_tree_parent(&m->cfg->overlay.plan, n);
}

/* Chooses a node: an inner one more often than not, and never the root. */
static uint32_t victim(struct maker *m)
{
    uint32_t n = in(m, 1, m->cfg->overlay.plan.nodes - 1);

    for (unsigned i = 0; i < 2; i++) {
        if (parent_of(m, n) != 0 && sim_random_is(m->random, 70))
            n = parent_of(m, n);
    }
    return n;
}

/* Chooses a time: while the tree joins, while data is in flight, or while an
 * earlier strike is being repaired. */
static uint64_t moment(struct maker *m)
{
    uint64_t heartbeat_ns = m->cfg->overlay.times.heartbeat_ns;
    uint32_t draw = in(m, 0, 99);

    if (m->last_ns != 0 && draw < 40)
        return m->last_ns +
               (draw < 15   ? sim_random_in(m->random, 0, 5 * MS)
                : draw < 25 ? sim_random_in(m->random, 0, heartbeat_ns / 4)
                            : sim_random_in(m->random, 0, 5 * heartbeat_ns));
    if (draw > 90)
        return sim_random_in(m->random, 0, m->joined_ns);
    return sim_random_in(m->random, m->joined_ns, m->end_ns);
}

/* Chooses how long a fault lasts, in tenths of the heartbeat time. Most are
 * near the time after which silence is judged, or for which a hold waits. */
static uint64_t length(struct maker *m)
{
    static const uint16_t tenths[] = {1, 4, 8, 9, 11, 14, 18, 24, 36, 45, 80};
    uint32_t draw = in(m, 0, sizeof(tenths) / sizeof(tenths[0]));

    if (draw == sizeof(tenths) / sizeof(tenths[0]))
        return SIM_NEVER;
    return m->cfg->overlay.times.heartbeat_ns / 10 * tenths[draw];
}

/* Adds a fault. Callers draw its random numbers before the call, because the
 * compiler chooses the order in which arguments are evaluated. */
static struct sim_fault *add_fault(struct maker *m, enum sim_fault_kind kind,
                                   uint32_t node, uint64_t at_ns)
{
    struct sim_fault *fault = &m->strikes->faults[m->strikes->count++];

    *fault = (struct sim_fault){.kind = (uint8_t)kind,
                                .node = node,
                                .at_ns = at_ns,
                                .peer = TOPO_NONE,
                                .factor = 1,
                                .length_ns = SIM_NEVER};
    return fault;
}

/* --- strikes */

/* Kills a node and some nodes above it, together or one after another. */
static void kill_path(struct maker *m, uint64_t at_ns)
{
    uint64_t reach_ns = sim_random_is(m->random, 30)   ? 0
                        : sim_random_is(m->random, 70) ? 3 * MS
                                                       : 2000 * MS;
    uint32_t n = victim(m);

    for (uint32_t levels = in(m, 2, 3); levels > 0 && n != 0; levels--) {
        add_fault(m, SIM_FAULT_KILL, n, at_ns);
        at_ns += sim_random_in(m->random, 0, reach_ns);
        n = parent_of(m, n);
    }
}

/* Resets many links on one path, so that asks are interrupted. */
static void reset_path(struct maker *m, uint64_t at_ns)
{
    uint64_t reach_ns = sim_random_is(m->random, 50) ? MS : 50 * MS;
    uint32_t n = in(m, 1, m->cfg->overlay.plan.nodes - 1);

    for (unsigned i = 0; i < SIM_STRIKE_PATH && n != 0; i++) {
        add_fault(m, SIM_FAULT_RESET, n,
                  at_ns + sim_random_in(m->random, 0, reach_ns));
        n = parent_of(m, n);
    }
}

/* Breaks the connection between a node and one above it, in one direction or
 * both. */
static void part(struct maker *m, uint64_t at_ns)
{
    static const enum sim_fault_kind kinds[] = {
        SIM_FAULT_CUT,    SIM_FAULT_DEAF,      SIM_FAULT_MUTE,
        SIM_FAULT_REJECT, SIM_FAULT_REJECT_IN, SIM_FAULT_REJECT_OUT};
    enum sim_fault_kind kind = kinds[in(m, 0, 5)];
    struct sim_fault *fault = add_fault(m, kind, victim(m), at_ns);

    fault->length_ns = length(m);
    if (sim_random_is(m->random, 15))
        return; /* the fault concerns all nodes above */
    fault->peer = parent_of(m, fault->node);
    while (fault->peer != 0 && sim_random_is(m->random, 30))
        fault->peer = parent_of(m, fault->peer);
}

static void stop(struct maker *m, uint64_t at_ns)
{
    static const enum sim_fault_kind kinds[] = {
        SIM_FAULT_SILENCE, SIM_FAULT_FREEZE, SIM_FAULT_FREEZE, SIM_FAULT_REFUSE,
        SIM_FAULT_SLOW};
    enum sim_fault_kind kind = kinds[in(m, 0, 4)];
    struct sim_fault *fault = add_fault(m, kind, victim(m), at_ns);

    fault->length_ns = length(m);
    fault->factor = fault->kind == SIM_FAULT_SLOW ? in(m, 2, 50) : 1;
}

/* Makes orphans, so that there is something to adopt. */
static void make_orphans(struct maker *m, uint64_t at_ns)
{
    bool is_death = sim_random_is(m->random, 60);

    add_fault(m, is_death ? SIM_FAULT_KILL : SIM_FAULT_RESET, victim(m), at_ns);
}

/* Kills or resets a node during an adoption: the orphan, its new parent, or a
 * node on the way to the root. */
static void adoption(struct maker *m, uint64_t at_ns)
{
    static const enum sim_fault_kind kinds[] = {
        SIM_FAULT_KILL, SIM_FAULT_KILL, SIM_FAULT_RESET, SIM_FAULT_RESET,
        SIM_FAULT_FREEZE};

    make_orphans(m, at_ns);
    for (uint32_t i = in(m, 1, 3); i > 0; i--) {
        struct sim_fault *fault = add_fault(m, kinds[in(m, 0, 4)], 0, 0);

        fault->when = (uint8_t)in(m, SIM_WHEN_TIME + 1, SIM_WHEN_KINDS - 1);
        fault->nth = sim_random_is(m->random, 60) ? in(m, 1, 4) : in(m, 1, 40);
        fault->whom = (uint8_t)in(m, 0, SIM_WHOM_KINDS - 1);
        if (sim_random_is(m->random, 60))
            fault->at_ns =
                sim_random_in(m->random, 0, 4 * m->cfg->network.far.latency_ns);
        if (fault->kind == SIM_FAULT_FREEZE)
            fault->length_ns = length(m);
    }
}

/* Freezes a node that has received an ask, and breaks the link of the claiming
 * node, which then asks by another way. */
static void overtaken(struct maker *m, uint64_t at_ns)
{
    uint32_t nth = in(m, 1, 12);
    struct sim_fault *fault;

    make_orphans(m, at_ns);
    for (unsigned i = 0; i < 2; i++) {
        fault = add_fault(m, i == 0 ? SIM_FAULT_FREEZE : SIM_FAULT_RESET, 0, 0);
        fault->when = SIM_WHEN_ASK;
        fault->nth = nth;
        fault->whom = i == 0 ? SIM_WHOM_HEARS : SIM_WHOM_CLAIMS;
        if (i == 0)
            fault->length_ns =
                m->cfg->overlay.times.heartbeat_ns / 10 * in(m, 1, 8);
        else
            fault->at_ns = sim_random_in(m->random, 0, 50 * MS);
    }
}

/* Adds faults of all kinds at random nodes, many of them while the tree
 * joins. */
static void scatter(struct maker *m)
{
    for (uint32_t i = in(m, 1, SIM_STRIKES_MAX + 1); i > 0; i--) {
        uint64_t reach_ns = sim_random_is(m->random, 50) ? 3 * MS : 100 * MS;
        uint32_t kind = in(m, 0, SIM_FAULT_KINDS - 1);
        uint32_t node = in(m, 1, m->cfg->overlay.plan.nodes - 1);
        uint64_t at_ns = sim_random_in(m->random, 0, reach_ns);
        struct sim_fault *fault =
            add_fault(m, (enum sim_fault_kind)kind, node, at_ns);

        fault->factor = in(m, 2, 50);
        if (sim_random_is(m->random, 50))
            fault->length_ns = sim_random_in(m->random, 1, 30) * 500 * MS;
    }
}

void sim_strikes_make(struct sim_strikes *strikes, const struct sim_cfg *cfg,
                      uint64_t joined_ns, uint64_t end_ns,
                      struct sim_random *random)
{
    struct maker m = {strikes, cfg, random, joined_ns, end_ns, 0};

    strikes->count = 0;
    if (sim_random_is(random, 35)) {
        scatter(&m);
        return;
    }
    for (uint32_t i = in(&m, 1, SIM_STRIKES_MAX); i > 0; i--) {
        uint64_t at_ns = moment(&m);
        uint32_t draw = in(&m, 0, 99);

        if (draw < 15)
            add_fault(&m, SIM_FAULT_KILL, victim(&m), at_ns);
        else if (draw < 30)
            kill_path(&m, at_ns);
        else if (draw < 35)
            add_fault(&m, SIM_FAULT_RESET, victim(&m), at_ns);
        else if (draw < 50)
            reset_path(&m, at_ns);
        else if (draw < 62)
            part(&m, at_ns);
        else if (draw < 74)
            stop(&m, at_ns);
        else if (draw < 84)
            overtaken(&m, at_ns);
        else
            adoption(&m, at_ns);
        m.last_ns = at_ns;
    }
}
