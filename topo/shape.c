/* The shape of a tree over a fabric of switches, level by level from the root.
 *
 * A depth is tried, that of a complete tree first. On each level three sorts
 * of hosts want a place: of a switch that was entered, so many that the rest
 * can still come below them; the first hosts of switches that must be entered
 * now, as their hosts take all levels that are left; and whoever can make use
 * of the places that are then free. A depth at which the first two find no
 * room is given up: then switches are entered as early as can be, and then one
 * more level is tried.
 */
#include "topo/shape.h"

#include <stdlib.h>
#include <string.h>

#include "overlay/base/err.h"

struct work {
    const struct topo_shape_ask *ask;
    struct topo_shape *out;
    uint32_t *mem;      /* owned: all that follows */
    uint32_t *order;    /* [hosts] by switch, of one as the list has them */
    uint32_t *level;    /* [nodes] those of the level above, by switch */
    uint32_t *under;    /* [nodes] of a node its switch */
    uint32_t *leads;    /* [nodes] a switch that is entered from it */
    uint32_t *first;    /* [switches + 1] of a switch its first in order */
    uint32_t *by_size;  /* [switches] to be entered: the largest first */
    uint32_t *taken;    /* [switches] hosts that have their place */
    uint32_t *own;      /* [switches] of the rest, for this level */
    uint32_t *room;     /* [switches] free places beneath its hosts */
    uint32_t *width;    /* [switches] its hosts on the level above */
    uint32_t *level_at; /* [switches] where they begin in level */
    uint32_t *led;      /* [switches] switches entered from it, this level */
    uint32_t *next;     /* [switches] the next one of the same list */
    uint32_t *near;     /* [switches] list by what is above a switch */
    uint32_t *offers;   /* [switches] those with hosts on the level above */
    uint32_t offers_count;
    uint32_t waiting; /* switches in by_size */
    uint32_t entered; /* of these, the first ones */
    uint32_t used;    /* nodes that have their place */
    bool is_eager;    /* switches are entered as early as can be */
};

/* Nodes of a complete tree of so many levels below its top. */
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

/* Hosts by switch, by counting. */
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

/* The switches to be entered, the largest first, of equal ones as they come.
 * That of the launcher is not to be entered. */
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

/* The next hosts of a switch, beneath parent. */
static void place(struct work *w, uint32_t s, uint32_t count, uint32_t parent)
{
    for (; count > 0; count--) {
        uint32_t node = w->used++;

        w->out->parents[node] = parent;
        w->out->host[node] = w->order[w->first[s] + w->taken[s]++];
    }
}

/* The children of a node are all there, from `first`: in the list's order. */
static void settle(struct work *w, uint32_t first)
{
    qsort(w->out->host + first, w->used - first, sizeof(*w->out->host),
          compare_hosts);
    for (uint32_t node = first; node < w->used; node++) {
        w->under[node] = w->ask->under[w->out->host[node]];
        w->leads[node] = TOPO_NONE;
    }
}

/* Who is on the level above. */
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

/* What each switch must place now for the rest to find room below; a place
 * holds `below` of them. False: there are not so many places. */
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

/* How many switches are entered on this level: those that must; those of
 * several hosts, who make more places; and any others as far as the places are
 * of no use to those above. TOPO_NONE: there is no room for those that must. */
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

/* The switch `entered` is entered from `from`, whose nodes take turns. */
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

/* Enters switches from neighbours, as far as those have room. */
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

/* Enters the others from wherever there is room, one after the other; first
 * where places are left that own hosts cannot fill. */
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

/* Own hosts take the places that are left. */
static void fill(struct work *w)
{
    for (uint32_t i = 0; i < w->offers_count; i++) {
        uint32_t s = w->offers[i];
        uint32_t wanted = left_of(w, s) - w->own[s];

        w->own[s] += wanted < w->room[s] ? wanted : w->room[s];
        /* From now on: how many of its nodes had their turn. */
        w->room[s] = 0;
    }
}

/* The children of a node on the level above: switches that are entered from
 * it, and its share of its own switch's. */
static void place_beneath(struct work *w, uint32_t node)
{
    uint32_t s = w->under[node], first = w->used, turn = w->room[s]++;
    uint32_t total = w->own[s] + w->led[s];
    uint32_t share = total / w->width[s] + (turn < total % w->width[s]);
    uint32_t lead = w->leads[node];

    while (lead != TOPO_NONE) {
        place(w, lead, 1, node);
        lead = w->next[lead];
    }
    place(w, s, share - (w->used - first), node);
    settle(w, first);
}

/* False: the depth is too small. */
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
    fill(w);
    for (uint32_t n = above.first; n <= above.last; n++)
        place_beneath(w, n);
    return true;
}

/* The first level below a launcher that is under no switch: each place goes to
 * the switch that has most hosts for those it got. */
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
        place(w, w->by_size[i], w->own[w->by_size[i]], 0);
    settle(w, 1);
}

/* --- the whole
 * */

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

    /* It ends: with no limit on the depth all find a place. */
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
