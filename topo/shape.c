/* The shape of a tree over a fabric of switches, level by level from the root.
 *
 * The depth of a complete tree is tried first, then larger depths. A switch is
 * *entered* by the node that is the first of its hosts in the tree. On each
 * level, places go first to hosts of switches that were entered on higher
 * levels, enough of them for the switch's remaining hosts to fit below; then to
 * the first hosts of switches that must be entered now because their hosts need
 * all levels that are left; and then to other hosts that can use the free
 * places. When there is no room for the hosts that need a place on this level,
 * the same depth is tried once more with switches entered as early as possible,
 * and then one more level.
 */
#include "topo/shape.h"

#include <stdlib.h>
#include <string.h>

#include "overlay/base/err.h"

struct work {
    const struct topo_shape_ask *ask;
    struct topo_shape *out;
    uint32_t *mem;      /* owned: memory of the arrays below */
    uint32_t *order;    /* [hosts] sorted by switch, then by the list */
    uint32_t *level;    /* [nodes] nodes of the level above, sorted by switch */
    uint32_t *under;    /* [nodes] the switch of each node */
    uint32_t *leads;    /* [nodes] a switch that one of the node's children
                           enters, the first of a list */
    uint32_t *first;    /* [switches + 1] index in `order` of the first host of
                           each switch */
    uint32_t *by_size;  /* [switches] the switches to be entered, the largest
                           first */
    uint32_t *taken;    /* [switches] how many hosts of each are placed */
    uint32_t *own;      /* [switches] how many hosts of each to place on this
                           level */
    uint32_t *room;     /* [switches] free places below hosts of each that are
                           on the level above */
    uint32_t *width;    /* [switches] how many hosts of each are on the level
                           above */
    uint32_t *level_at; /* [switches] index in `level` of the first of these */
    uint32_t *led;      /* [switches] how many switches were entered on this
                           level from hosts of each */
    uint32_t *next;     /* [switches] the next switch in a list (leads, near) */
    uint32_t *near;     /* [switches] for each number in `above`, the first of a
                           list of switches */
    uint32_t *offers;   /* [switches] switches with hosts on the level above */
    uint32_t offers_count;
    uint32_t waiting; /* switches in by_size */
    uint32_t entered; /* how many of by_size, from the first on, were entered */
    uint32_t used;    /* how many nodes are placed */
    bool is_eager;    /* enter switches as early as possible */
};

/* How many nodes a complete tree with this many levels below its top has. */
static uint64_t full(uint32_t arity, uint32_t levels)
{
    uint64_t nodes = 1;

    for (; levels > 0 && nodes < UINT32_MAX; levels--)
        nodes = nodes * arity + 1;
    return nodes;
}

static uint32_t size_of(const struct work *w, uint32_t s)
{
    return w->first[s + 1] - w->first[s];
}

static uint32_t left_of(const struct work *w, uint32_t s)
{
    return size_of(w, s) - w->taken[s];
}

/* --- memory and order
 * */

static uint32_t *carve(uint32_t **at, size_t count)
{
    uint32_t *mem = *at;

    *at += count;
    return mem;
}

static int work_new(struct work *w)
{
    size_t nodes = (size_t)w->ask->hosts + 1, switches = w->ask->switches;
    uint32_t *at;

    w->mem = calloc(4 * nodes + 11 * switches + 1, sizeof(*w->mem));
    w->out->parents = calloc(nodes, sizeof(*w->out->parents));
    w->out->host = calloc(nodes, sizeof(*w->out->host));
    if (w->mem == NULL || w->out->parents == NULL || w->out->host == NULL)
        return OV_ENOMEM;
    at = w->mem;
    w->order = carve(&at, nodes);
    w->level = carve(&at, nodes);
    w->under = carve(&at, nodes);
    w->leads = carve(&at, nodes);
    w->first = carve(&at, switches + 1);
    w->by_size = carve(&at, switches);
    w->taken = carve(&at, switches);
    w->own = carve(&at, switches);
    w->room = carve(&at, switches);
    w->width = carve(&at, switches);
    w->level_at = carve(&at, switches);
    w->led = carve(&at, switches);
    w->next = carve(&at, switches);
    w->near = carve(&at, switches);
    w->offers = carve(&at, switches);
    return 0;
}

/* Sorts the hosts by switch, by counting. */
static void sort_hosts(struct work *w)
{
    const struct topo_shape_ask *ask = w->ask;

    for (uint32_t h = 0; h < ask->hosts; h++)
        w->first[ask->under[h] + 1]++;
    for (uint32_t s = 0; s < ask->switches; s++) {
        w->first[s + 1] += w->first[s];
        w->own[s] = w->first[s];
    }
    for (uint32_t h = 0; h < ask->hosts; h++)
        w->order[w->own[ask->under[h]]++] = h;
}

static int compare_keys(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

/* Sorts the switches to be entered, the largest first, switches of equal size
 * by number. The launcher's own switch is not among them. */
static int sort_switches(struct work *w)
{
    uint64_t *keys = calloc(w->ask->switches, sizeof(*keys));

    if (keys == NULL)
        return OV_ENOMEM;
    for (uint32_t s = 0; s < w->ask->switches; s++) {
        if (size_of(w, s) > 0 && s != w->ask->launcher)
            keys[w->waiting++] = (uint64_t)~size_of(w, s) << 32 | s;
    }
    qsort(keys, w->waiting, sizeof(*keys), compare_keys);
    for (uint32_t i = 0; i < w->waiting; i++)
        w->by_size[i] = (uint32_t)keys[i];
    free(keys);
    return 0;
}

/* --- one level
 * */

static int compare_hosts(const void *a, const void *b)
{
    const uint32_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

/* Places the next `count` hosts of a switch as children of `parent`. */
static void place_hosts(struct work *w, uint32_t s, uint32_t count,
                        uint32_t parent)
{
    for (; count > 0; count--) {
        uint32_t node = w->used++;

        w->out->parents[node] = parent;
        w->out->host[node] = w->order[w->first[s] + w->taken[s]++];
    }
}

/* Sorts the children of a node, which begin at node number `first` and are all
 * placed, by the order of the list of hosts. */
static void sort_children(struct work *w, uint32_t first)
{
    qsort(w->out->host + first, w->used - first, sizeof(*w->out->host),
          compare_hosts);
    for (uint32_t node = first; node < w->used; node++) {
        w->under[node] = w->ask->under[w->out->host[node]];
        w->leads[node] = TOPO_NONE;
    }
}

/* Lists the switches that have hosts on the level above. */
static void list_offers(struct work *w, struct topo_range above)
{
    uint32_t at = 0;

    w->offers_count = 0;
    for (uint32_t n = above.first; n <= above.last; n++)
        w->width[w->under[n]] = 0;
    for (uint32_t n = above.first; n <= above.last; n++) {
        if (w->width[w->under[n]]++ == 0)
            w->offers[w->offers_count++] = w->under[n];
    }
    for (uint32_t i = 0; i < w->offers_count; i++) {
        uint32_t s = w->offers[i];

        w->level_at[s] = at;
        at += w->width[s];
        w->width[s] = 0;
        w->led[s] = 0;
    }
    for (uint32_t n = above.first; n <= above.last; n++) {
        uint32_t s = w->under[n];

        w->level[w->level_at[s] + w->width[s]++] = n;
    }
}

/* Reserves the places that each entered switch needs on this level so that its
 * remaining hosts find room below; a place has room for `below` nodes below it.
 * False: there are too few places. */
static bool keep_own(struct work *w, uint64_t below, uint64_t *free_places,
                     uint64_t *spare)
{
    *free_places = *spare = 0;
    for (uint32_t i = 0; i < w->offers_count; i++) {
        uint32_t s = w->offers[i];
        uint64_t places = (uint64_t)w->width[s] * w->ask->arity;
        uint64_t need = (left_of(w, s) + below - 1) / below;

        if (need > places)
            return false;
        if (places > left_of(w, s))
            *spare += places - left_of(w, s);
        w->own[s] = (uint32_t)need;
        places -= need;
        w->room[s] = places < UINT32_MAX ? (uint32_t)places : UINT32_MAX;
        *free_places += places;
    }
    return true;
}

/* Decides how many switches are entered on this level: those that must be
 * entered now; those with several hosts, because their hosts bring new places;
 * and others, if switches that were entered before cannot use the places.
 * TOPO_NONE: there is no room for the switches that must be entered. */
static uint32_t count_entries(const struct work *w, uint32_t levels_below,
                              uint64_t free_places, uint64_t spare)
{
    uint64_t below = full(w->ask->arity, levels_below);
    uint64_t later =
        levels_below > 0 ? full(w->ask->arity, levels_below - 1) : 0;
    uint32_t must = 0, several = 0, count = w->waiting - w->entered;

    for (uint32_t i = w->entered; i < w->waiting; i++) {
        uint32_t size = size_of(w, w->by_size[i]);

        if (size > below)
            return TOPO_NONE;
        must += size > later;
        several += size > 1;
    }
    if (must > free_places)
        return TOPO_NONE;
    if (several < spare)
        several = spare < count ? (uint32_t)spare : count;
    if (!w->is_eager)
        count = must > several ? must : several;
    return count < free_places ? count : (uint32_t)free_places;
}

/* Notes that the switch `entered` is entered from a node under the switch
 * `from`; the nodes of that switch do this in turn. */
static void lead(struct work *w, uint32_t from, uint32_t entered)
{
    uint32_t turn = w->led[from]++ % w->width[from];
    uint32_t node = w->level[w->level_at[from] + turn];

    w->room[from]--;
    w->next[entered] = w->leads[node];
    w->leads[node] = entered;
    w->own[entered] = 1;
}

static uint32_t above_of(const struct work *w, uint32_t s)
{
    return w->ask->above == NULL ? 0 : w->ask->above[s];
}

/* Enters the first `count` waiting switches from nodes under neighbouring
 * switches, if these have room. */
static void enter_near(struct work *w, uint32_t count)
{
    for (uint32_t i = 0; i < w->ask->switches; i++)
        w->near[i] = TOPO_NONE;
    for (uint32_t i = w->offers_count; i-- > 0;) {
        uint32_t s = w->offers[i], *list = &w->near[above_of(w, s)];

        w->next[s] = *list;
        *list = s;
    }
    for (uint32_t i = w->entered; i < w->entered + count; i++) {
        uint32_t s = w->by_size[i], *list = &w->near[above_of(w, s)];

        w->own[s] = 0;
        while (*list != TOPO_NONE && w->room[*list] == 0)
            *list = w->next[*list];
        if (*list != TOPO_NONE)
            lead(w, *list, s);
    }
}

/* Enters the remaining switches from wherever there is room, one after the
 * other; first from switches whose own hosts cannot fill their places. */
static void enter_any(struct work *w, uint32_t count)
{
    uint32_t i = w->entered, end = w->entered + count;

    for (int pass = 0; pass < 2; pass++) {
        uint32_t active = w->offers_count;

        memcpy(w->near, w->offers, active * sizeof(*w->near));
        while (active > 0 && i < end) {
            uint32_t kept = 0;

            for (uint32_t o = 0; o < active; o++) {
                uint32_t s = w->near[o];
                uint32_t wanted = pass == 0 ? left_of(w, s) - w->own[s] : 0;

                while (i < end && w->own[w->by_size[i]] == 1)
                    i++;
                if (i == end || w->room[s] <= wanted)
                    continue;
                lead(w, s, w->by_size[i]);
                w->near[kept++] = s;
            }
            active = kept;
        }
    }
}

/* Gives each remaining place to a host of the same switch as the node above it.
 */
static void fill_places(struct work *w)
{
    for (uint32_t i = 0; i < w->offers_count; i++) {
        uint32_t s = w->offers[i];
        uint32_t wanted = left_of(w, s) - w->own[s];

        w->own[s] += wanted < w->room[s] ? wanted : w->room[s];
        /* from here on `room` counts how many nodes of the switch had their
         * turn */
        w->room[s] = 0;
    }
}

/* Places the children of a node on the level above: the switches that are
 * entered from it, and its share of the hosts of its own switch. */
static void place_beneath(struct work *w, uint32_t node)
{
    uint32_t s = w->under[node], first = w->used, turn = w->room[s]++;
    uint32_t total = w->own[s] + w->led[s];
    uint32_t share = total / w->width[s] + (turn < total % w->width[s]);
    uint32_t lead = w->leads[node];

    while (lead != TOPO_NONE) {
        place_hosts(w, lead, 1, node);
        lead = w->next[lead];
    }
    place_hosts(w, s, share - (w->used - first), node);
    sort_children(w, first);
}

/* Places one level. False: the depth is too small. */
static bool place_level(struct work *w, struct topo_range above,
                        uint32_t levels_below)
{
    uint64_t free_places, spare;
    uint32_t count;

    list_offers(w, above);
    if (!keep_own(w, full(w->ask->arity, levels_below), &free_places, &spare))
        return false;
    count = count_entries(w, levels_below, free_places, spare);
    if (count == TOPO_NONE)
        return false;
    enter_near(w, count);
    enter_any(w, count);
    w->entered += count;
    fill_places(w);
    for (uint32_t n = above.first; n <= above.last; n++)
        place_beneath(w, n);
    return true;
}

/* Places the first level below a launcher that is under no switch. Each place
 * goes to the switch that has the most hosts for each place it got so far. */
static void place_first(struct work *w)
{
    for (uint32_t i = 0; i < w->waiting; i++)
        w->own[w->by_size[i]] = 0;
    for (uint32_t k = 0; k < w->ask->arity && k < w->ask->hosts; k++) {
        uint32_t best = 0;

        for (uint32_t i = 0; i <= w->entered && i < w->waiting; i++) {
            uint32_t s = w->by_size[i], other = w->by_size[best];

            if ((uint64_t)size_of(w, s) * (w->own[other] + 1) >
                (uint64_t)size_of(w, other) * (w->own[s] + 1))
                best = i;
        }
        w->entered += w->own[w->by_size[best]]++ == 0;
    }
    for (uint32_t i = 0; i < w->entered; i++)
        place_hosts(w, w->by_size[i], w->own[w->by_size[i]], 0);
    sort_children(w, 1);
}

/* --- the whole tree */

static bool try_depth(struct work *w, uint32_t depth)
{
    struct topo_range above = {0, 0};

    memset(w->taken, 0, w->ask->switches * sizeof(*w->taken));
    w->entered = 0;
    w->used = 1;
    w->under[0] = w->ask->launcher;
    w->leads[0] = TOPO_NONE;
    w->out->host[0] = w->out->parents[0] = TOPO_NONE;
    for (uint32_t level = 1; level <= depth && w->used <= w->ask->hosts;
         level++) {
        if (w->under[above.first] == TOPO_NONE)
            place_first(w);
        else if (!place_level(w, above, depth - level))
            return false;
        above = (struct topo_range){above.last + 1, w->used - 1};
        if (above.first > above.last)
            return false;
    }
    return w->used > w->ask->hosts;
}

static void build(struct work *w)
{
    const struct topo_tree plain = {.nodes = w->ask->hosts + 1,
                                    .arity = w->ask->arity};
    uint32_t depth = topo_tree_height(&plain);

    /* The loop ends: when the depth is large enough, all hosts find a place. */
    for (;; depth++) {
        w->is_eager = false;
        if (try_depth(w, depth))
            return;
        w->is_eager = true;
        if (try_depth(w, depth))
            return;
    }
}

static void count_crossings(struct work *w)
{
    for (uint32_t n = 1; n < w->used; n++) {
        uint32_t above = w->under[w->out->parents[n]];

        w->out->crossings += above != TOPO_NONE && above != w->under[n];
    }
}

static bool is_good(const struct topo_shape_ask *ask)
{
    if (ask->hosts < 1 || ask->hosts >= TOPO_NONE - 1 || ask->arity < 1 ||
        ask->arity > TOPO_ARITY_MAX || ask->switches < 1 ||
        (ask->launcher >= ask->switches && ask->launcher != TOPO_NONE))
        return false;
    for (uint32_t h = 0; h < ask->hosts; h++) {
        if (ask->under[h] >= ask->switches)
            return false;
    }
    for (uint32_t s = 0; ask->above != NULL && s < ask->switches; s++) {
        if (ask->above[s] >= ask->switches)
            return false;
    }
    return true;
}

int topo_shape_init(struct topo_shape *out, const struct topo_shape_ask *ask)
{
    struct work w = {.ask = ask, .out = out};
    int rc;

    *out = (struct topo_shape){0};
    if (!is_good(ask))
        return OV_EINVAL;
    rc = work_new(&w);
    if (rc == 0) {
        sort_hosts(&w);
        rc = sort_switches(&w);
    }
    if (rc == 0) {
        build(&w);
        count_crossings(&w);
        rc = topo_tree_init(&out->tree, out->parents, ask->hosts + 1);
    }
    free(w.mem);
    if (rc != 0)
        topo_shape_fini(out);
    return rc;
}

void topo_shape_fini(struct topo_shape *shape)
{
    free(shape->parents);
    free(shape->host);
    *shape = (struct topo_shape){0};
}
