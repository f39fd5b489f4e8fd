/* Placement of ranks on nodes, in blocks. */
#include "topo/place.h"

#include <inttypes.h>
#include <stdlib.h>

#include "overlay/base/err.h"

enum { NO_LIMIT = 0 };

/* What the user asks for, and the numbers that follow from it. */
struct plan {
    struct topo_place_ask ask;
    uint32_t nodes_max; /* how many nodes there are to choose from */
    char *why;
};

/* How many processes a node may have at most. */
static uint32_t node_limit(const struct plan *plan, uint32_t node)
{
    const struct topo_place_ask *ask = &plan->ask;
    uint32_t said = ask->hosts == NULL ? 0 : ask->hosts->items[node].slots;
    uint32_t limit = ask->ppn != 0 ? ask->ppn
                     : said != 0   ? said
                                   : plan->ask.slots_unsaid;

    return limit == NO_LIMIT ? UINT32_MAX : limit;
}

/* How many processes the first `nodes` nodes can have when no node has more
 * than `level`. */
static uint64_t room_below(const struct plan *plan, uint32_t nodes,
                           uint32_t level)
{
    uint64_t room = 0;

    for (uint32_t node = 0; node < nodes; node++) {
        uint32_t limit = node_limit(plan, node);

        room += limit < level ? limit : level;
    }
    return room;
}

/* Allocates the table for this many nodes; the caller fills in the counts. */
static int table_new(struct topo_place *out, uint32_t nodes, char *why)
{
    out->first = calloc((size_t)nodes + 1, sizeof(out->first[0]));
    if (out->first == NULL) {
        topo_why(why, "out of memory for the placement of processes");
        return OV_ENOMEM;
    }
    out->nodes = nodes;
    return 0;
}

static void node_append(struct topo_place *out, uint32_t node, uint32_t procs)
{
    out->first[node] = out->procs;
    out->procs += procs;
    out->first[node + 1] = out->procs;
}

/* Places the same number of processes on each node: one, or --ppn. */
static int place_equal(const struct plan *plan, struct topo_place *out)
{
    const struct topo_place_ask *ask = &plan->ask;
    uint32_t each = ask->ppn != 0 ? ask->ppn : 1;
    uint32_t nodes = ask->nodes != 0      ? ask->nodes
                     : ask->hosts != NULL ? plan->nodes_max
                                          : 1;

    if ((uint64_t)nodes * each > TOPO_NUMBER_MAX) {
        topo_why(plan->why,
                 "%u nodes with %u processes each make more processes than "
                 "there are numbers for (4294967294): lower -N or --ppn",
                 nodes, each);
        return OV_EINVAL;
    }

    int rc = table_new(out, nodes, plan->why);

    for (uint32_t node = 0; rc == 0 && node < nodes; node++)
        node_append(out, node, each);
    return rc;
}

/* Writes the sentence that -n is more than these nodes have room for. */
static int fail_room(const struct plan *plan, uint32_t nodes, uint64_t room)
{
    const struct topo_place_ask *ask = &plan->ask;

    if (ask->ppn != 0)
        topo_why(plan->why,
                 "asked for %u processes, but %u node%s with %u each (--ppn) "
                 "%s room for %" PRIu64 ": give more %s, or a larger --ppn",
                 ask->procs, nodes, nodes == 1 ? "" : "s", ask->ppn,
                 nodes == 1 ? "has" : "have", room,
                 ask->nodes != 0 ? "nodes (-N)" : "hosts");
    else if (ask->hosts == NULL)
        topo_why(plan->why,
                 "asked for %u processes, but this machine has %" PRIu64
                 " slots: give --ppn %u to run them all here, or name hosts "
                 "(--hosts)",
                 ask->procs, room, ask->procs);
    else
        topo_why(plan->why,
                 "asked for %u processes, but the %s %" PRIu64
                 " slot%s: give more hosts, more slots (HOST:N), or --ppn to "
                 "say how many go on each",
                 ask->procs, nodes == 1 ? "host has" : "hosts have", room,
                 room == 1 ? "" : "s");
    return OV_EINVAL;
}

/* -n alone, or with --ppn: fills node after node. */
static int place_filled(const struct plan *plan, struct topo_place *out)
{
    uint32_t procs = plan->ask.procs;
    uint64_t room = 0;
    uint32_t nodes = 0;

    while (nodes < plan->nodes_max && room < procs)
        room += node_limit(plan, nodes++);
    if (room < procs)
        return fail_room(plan, nodes, room);

    int rc = table_new(out, nodes, plan->why);

    for (uint32_t node = 0; rc == 0 && node < nodes; node++) {
        uint32_t limit = node_limit(plan, node);
        uint32_t left = procs - out->procs;

        node_append(out, node, left < limit ? left : limit);
    }
    return rc;
}

/* -n with -N: shares the processes evenly, as far as the limits allow. */
static int place_shared(const struct plan *plan, struct topo_place *out)
{
    uint32_t procs = plan->ask.procs;
    uint32_t nodes = plan->ask.nodes;
    uint32_t low = 1;
    uint32_t high = procs;

    if (procs < nodes) {
        topo_why(plan->why,
                 "%u processes (-n) cannot use %u nodes (-N): lower -N to %u, "
                 "or raise -n",
                 procs, nodes, procs);
        return OV_EINVAL;
    }

    uint64_t room = room_below(plan, nodes, UINT32_MAX);

    if (room < procs)
        return fail_room(plan, nodes, room);
    /* Finds, by bisection, the largest `level` such that giving each node
     * `level` processes, or as many as its limit allows, needs no more than -n.
     * The remaining processes go to the first nodes that may have one more. */
    while (low < high) {
        uint32_t mid = high - (high - low) / 2;

        if (room_below(plan, nodes, mid) <= procs)
            low = mid;
        else
            high = mid - 1;
    }

    uint32_t left = procs - (uint32_t)room_below(plan, nodes, low);
    int rc = table_new(out, nodes, plan->why);

    for (uint32_t node = 0; rc == 0 && node < nodes; node++) {
        uint32_t limit = node_limit(plan, node);
        uint32_t extra = left > 0 && limit > low;

        node_append(out, node, (limit < low ? limit : low) + extra);
        left -= extra;
    }
    return rc;
}

/* Finds out how many nodes there are to choose from. */
static int count_nodes(struct plan *plan)
{
    const struct topo_place_ask *ask = &plan->ask;

    if (ask->hosts != NULL)
        plan->nodes_max = ask->hosts->count;
    else if (ask->nodes == 0 && ask->ppn == 0)
        plan->nodes_max = 1;
    else
        plan->nodes_max = TOPO_HOSTS_MAX;
    if (plan->nodes_max == 0) {
        topo_why(plan->why, "the list of hosts is empty: name at least one");
        return OV_EINVAL;
    }
    if (ask->nodes <= plan->nodes_max)
        return 0;
    if (ask->hosts == NULL)
        topo_why(plan->why, "asked for %u nodes, but a job can have at most %u",
                 ask->nodes, plan->nodes_max);
    else
        topo_why(plan->why,
                 "asked for %u nodes, but there %s %u host%s: lower -N or name "
                 "more hosts",
                 ask->nodes, plan->nodes_max == 1 ? "is" : "are",
                 plan->nodes_max, plan->nodes_max == 1 ? "" : "s");
    return OV_EINVAL;
}

/* True when the list gives a number of slots for at least one host. */
static bool has_slots(const struct topo_hosts *hosts)
{
    for (uint32_t i = 0; i < hosts->count; i++) {
        if (hosts->items[i].slots > 0)
            return true;
    }
    return false;
}

/* Decides how -n alone treats hosts without a number of slots. */
static void settle_unsaid(struct plan *plan)
{
    struct topo_place_ask *ask = &plan->ask;

    if (ask->procs == 0 || ask->nodes != 0 || ask->ppn != 0 ||
        ask->hosts == NULL || ask->slots_unsaid != 0)
        return;
    if (has_slots(ask->hosts))
        ask->slots_unsaid = 1;
    else
        ask->nodes =
            ask->procs < plan->nodes_max ? ask->procs : plan->nodes_max;
}

int topo_place_init(struct topo_place *out, const struct topo_place_ask *ask,
                    char *why)
{
    struct plan plan = {.ask = *ask, .why = why};

    *out = (struct topo_place){0};

    int rc = count_nodes(&plan);

    if (rc != 0)
        return rc;
    if (ask->procs == TOPO_NONE) {
        topo_why(why, "asked for too many processes: 4294967294 at most");
        return OV_EINVAL;
    }
    settle_unsaid(&plan);
    if (plan.ask.procs == 0)
        return place_equal(&plan, out);
    if (plan.ask.nodes == 0)
        return place_filled(&plan, out);
    /* With -N the user decides where processes go: nodes without a number of
     * slots have no limit. */
    plan.ask.slots_unsaid = NO_LIMIT;
    return place_shared(&plan, out);
}

void topo_place_fini(struct topo_place *place)
{
    free(place->first);
    *place = (struct topo_place){0};
}
