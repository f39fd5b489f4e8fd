/* Gives neighbouring hosts to the same subtree. */
#include "topo/spread.h"

#include <stdlib.h>
#include <string.h>

#include "overlay/base/err.h"

struct work {
    uint32_t *mem;    /* owned: memory of the arrays below */
    uint32_t *sizes;  /* [nodes] the size of each subtree */
    uint32_t *turns;  /* [nodes] the number of the visit at which the next child
                         of a node is visited */
    uint32_t *visits; /* [nodes] the number of the visit of each node */
    uint32_t *hosts;  /* [nodes] the hosts, sorted by switch, and for each
                         switch in the given order */
    uint32_t *next;   /* [switches + 1] index in `hosts` of the next host of
                         each switch */
};

static uint32_t switch_of(const struct topo_spread_ask *ask, uint32_t host)
{
    return ask->under != NULL ? ask->under[host] : 0;
}

/* Numbers the visits of all nodes. A parent has a lower number than its
 * children, so it is handled before them. */
static void visit_all(struct work *w, const struct topo_tree *tree)
{
    for (uint32_t n = tree->nodes - 1; n > 0; n--)
        w->sizes[topo_tree_parent(tree, n)] += ++w->sizes[n];
    w->turns[0] = 1;
    for (uint32_t n = 1; n < tree->nodes; n++) {
        uint32_t parent = topo_tree_parent(tree, n), turn = w->turns[parent];

        w->visits[turn] = n;
        w->turns[parent] += w->sizes[n];
        w->turns[n] = turn + 1;
    }
}

static void sort_hosts(struct work *w, const struct topo_spread_ask *ask)
{
    uint32_t hosts = ask->tree->nodes - 1;

    for (uint32_t h = 0; h < hosts; h++)
        w->next[switch_of(ask, h) + 1]++;
    for (uint32_t s = 0; s < ask->switches; s++)
        w->next[s + 1] += w->next[s];
    for (uint32_t i = 0; i < hosts; i++) {
        uint32_t host = ask->order[i];

        w->hosts[w->next[switch_of(ask, host)]++] = host;
    }
    /* Each entry has moved on to the first host of the next switch, so shifting
     * all entries by one restores them. */
    memmove(w->next + 1, w->next, ask->switches * sizeof(*w->next));
    w->next[0] = 0;
}

int topo_spread(const struct topo_spread_ask *ask, uint32_t *host)
{
    const struct topo_tree *tree = ask->tree;
    size_t nodes = tree->nodes;
    struct work w = {.mem =
                         calloc(4 * nodes + ask->switches + 2, sizeof(*w.mem))};

    if (w.mem == NULL)
        return OV_ENOMEM;
    w.sizes = w.mem;
    w.turns = w.sizes + nodes;
    w.visits = w.turns + nodes;
    w.hosts = w.visits + nodes;
    w.next = w.hosts + nodes;
    visit_all(&w, tree);
    sort_hosts(&w, ask);
    for (uint32_t turn = 1; turn < tree->nodes; turn++) {
        uint32_t node = w.visits[turn];
        uint32_t s = ask->under != NULL ? ask->under[host[node]] : 0;

        host[node] = w.hosts[w.next[s]++];
    }
    host[0] = TOPO_NONE;
    free(w.mem);
    return 0;
}

uint32_t topo_spread_crossings(const struct topo_tree *tree,
                               const uint32_t *host, const uint32_t *under,
                               uint32_t launcher)
{
    uint32_t crossings = 0;

    for (uint32_t n = 1; n < tree->nodes; n++) {
        uint32_t parent = topo_tree_parent(tree, n);
        uint32_t above = parent == 0 ? launcher : under[host[parent]];

        crossings += above != TOPO_NONE && above != under[host[n]];
    }
    return crossings;
}
