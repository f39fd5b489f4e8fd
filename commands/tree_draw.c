/* Draws a tree. A line stands for all those children of the nodes in the line
 * above whose subtrees look alike; lines below it stand for the children of
 * these nodes. */
#include "commands/tree_draw.h"

#include <stdlib.h>
#include <string.h>

#include "topo/hosts.h"

enum {
    DEPTH_MAX = 64,
    INDENT = 3,
    LIST_MIN = 24,
    LIST_MAX = 100,
    TEXT_MAX = 512,
    LINES_MAX = 70, /* the most lines; with more, lower levels are left out */
};

/* --- subtrees that look alike
 *
 * Each node gets a number, its kind, level by level from the lowest up, by the
 * kinds of its children. */

/* The kind of each node. Nodes of the same kind have subtrees of the same
 * shape, and the same links in them, and the links to their parents, go from
 * one switch to another. */
struct fold {
    uint32_t *kind; /* owned [nodes] */
    uint32_t kinds;
};

/* A node of the current level, and what its kind depends on: whether the link
 * to its parent goes to another switch, and the sorted kinds of its children.
 */
struct look {
    uint32_t node;
    uint32_t count;
    uint32_t *kinds; /* [count] borrowed: sorted kinds of its children */
    bool crosses;
};

bool tree_crosses(const struct ep_layout *layout, uint32_t node)
{
    uint32_t parent = topo_tree_parent(ep_layout_tree(layout), node);
    uint32_t own = ep_layout_switch(layout, node);
    uint32_t above = ep_layout_switch(layout, parent);

    return own != TOPO_NONE && above != TOPO_NONE && own != above;
}

static int compare_numbers(const void *a, const void *b)
{
    const uint32_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

static int compare_looks(const void *a, const void *b)
{
    const struct look *x = a, *y = b;

    if (x->crosses != y->crosses)
        return x->crosses ? 1 : -1;
    if (x->count != y->count)
        return x->count > y->count ? 1 : -1;
    for (uint32_t i = 0; i < x->count; i++) {
        if (x->kinds[i] != y->kinds[i])
            return x->kinds[i] > y->kinds[i] ? 1 : -1;
    }
    return 0;
}

/* Finds the kinds of the nodes of a level; the kinds of their children must be
 * known. `sorted` is memory with room for all nodes. */
static void fold_level(struct fold *fold, const struct ep_layout *layout,
                       struct topo_range level, struct look *looks,
                       uint32_t *sorted)
{
    const struct topo_tree *tree = ep_layout_tree(layout);
    uint32_t count = level.last - level.first + 1;

    for (uint32_t i = 0; i < count; i++) {
        struct topo_range kids = topo_tree_children(tree, level.first + i);
        struct look *look = &looks[i];

        *look = (struct look){.node = level.first + i};
        look->crosses = look->node > 0 && tree_crosses(layout, look->node);
        if (kids.first > kids.last)
            continue;
        look->count = kids.last - kids.first + 1;
        look->kinds = &sorted[kids.first];
        memcpy(look->kinds, &fold->kind[kids.first],
               look->count * sizeof(*sorted));
        qsort(look->kinds, look->count, sizeof(*sorted), compare_numbers);
    }
    qsort(looks, count, sizeof(*looks), compare_looks);
    for (uint32_t i = 0; i < count; i++) {
        if (i == 0 || compare_looks(&looks[i - 1], &looks[i]) != 0)
            fold->kinds++;
        fold->kind[looks[i].node] = fold->kinds - 1;
    }
}

static void free_fold(struct fold *fold)
{
    free(fold->kind);
    *fold = (struct fold){0};
}

/* Finds the kinds of all nodes. Returns 0, or -1 when memory is out. O(nodes
 * log nodes). */
static int make_fold(struct fold *fold, const struct ep_layout *layout)
{
    const struct topo_tree *tree = ep_layout_tree(layout);
    struct look *looks = calloc(tree->nodes, sizeof(*looks));
    uint32_t *sorted = calloc(tree->nodes, sizeof(*sorted));
    uint32_t depth = topo_tree_height(tree);
    int rc = -1;

    *fold = (struct fold){0};
    fold->kind = calloc(tree->nodes, sizeof(*fold->kind));
    for (uint32_t up = 0;
         looks != NULL && sorted != NULL && fold->kind != NULL && up <= depth;
         up++) {
        struct topo_range level = {0, 0};

        for (uint32_t i = up; i < depth; i++)
            level = topo_tree_below(tree, level);
        fold_level(fold, layout, level, looks, sorted);
        rc = 0;
    }
    free(looks);
    free(sorted);
    if (rc != 0)
        free_fold(fold);
    return rc;
}

/* --- a drawing */

struct drawing {
    const struct ep_layout *layout;
    const struct topo_tree *tree;
    const struct tree_look *look;
    struct fold fold;
    FILE *out; /* NULL: only count the lines */
    uint32_t lines;
    uint32_t depth_max;      /* deeper levels are not drawn */
    bool goes_on[DEPTH_MAX]; /* for each level: more lines of it follow */
    bool has_failed;
};

/* Nodes that are drawn as one line. */
struct group {
    uint32_t *nodes; /* owned, ascending */
    uint32_t count;
};

/* --- one line */

static void put_stem(const struct drawing *d, uint32_t depth)
{
    const char *bar = d->look->is_utf8 ? "│  " : "|  ";
    const char *tee = d->look->is_utf8 ? "├─ " : "|- ";
    const char *end = d->look->is_utf8 ? "└─ " : "`- ";

    for (uint32_t i = 1; i < depth; i++)
        fputs(d->goes_on[i] ? bar : "   ", d->out);
    if (depth > 0)
        fputs(d->goes_on[depth] ? tee : end, d->out);
}

/* The hosts of a group in the list's order, folded to at most `room` bytes. */
static char *fold_hosts(const struct drawing *d, const struct group *group,
                        uint32_t room)
{
    struct topo_hosts hosts;
    char *text = NULL;
    int rc = 0;

    topo_hosts_init(&hosts);
    for (uint32_t i = 0; i < group->count && rc == 0; i++) {
        const char *name = ep_layout_host(d->layout, group->nodes[i]);

        rc = topo_hosts_add(&hosts, name, strlen(name), 0);
    }
    if (rc == 0 && room == 0)
        text = topo_hosts_fold(&hosts, hosts.count);
    /* topo_hosts_fold_short() may exceed its bound, so this tries smaller
     * bounds until the text fits. */
    for (uint32_t most = room; rc == 0 && most > 0; most -= most / 8 + 1) {
        free(text);
        text = topo_hosts_fold_short(&hosts, most);
        if (text == NULL || strlen(text) <= room)
            break;
    }
    topo_hosts_fini(&hosts);
    return text;
}

/* Returns the places of the nodes as text: virtual nodes have no host names. */
static char *fold_places(const struct drawing *d, const struct group *group)
{
    struct topo_range *items = calloc(group->count, sizeof(*items));
    char *text = calloc(1, TEXT_MAX);
    struct topo_ranges set;

    if (items != NULL && text != NULL) {
        topo_ranges_init(&set, items, group->count);
        for (uint32_t i = 0; i < group->count; i++) {
            uint32_t place = ep_layout_place(d->layout, group->nodes[i]);

            (void)topo_ranges_add(&set, (struct topo_range){place, place});
        }
        strcpy(text, "node ");
        topo_ranges_format(&set, text + strlen(text), TEXT_MAX - 5);
    }
    free(items);
    return text;
}

static const char *switch_name(const struct ep_layout *layout, uint32_t node)
{
    const struct topo_fabric *fabric = &ep_layout_plan(layout)->fabric;
    uint32_t s = ep_layout_switch(layout, node);

    if (s == TOPO_NONE)
        return NULL;
    return s < fabric->switches.count ? topo_hosts_name(&fabric->switches, s)
                                      : "not in the topology";
}

static uint32_t levels_beneath(const struct topo_tree *tree, uint32_t node)
{
    struct topo_range level = {node, node};
    uint32_t levels = 0;

    for (;; levels++) {
        level = topo_tree_below(tree, level);
        if (level.first > level.last)
            return levels;
    }
}

/* Writes how many nodes a line stands for, and how many are in the subtree of
 * each. */
static size_t describe_size(const struct drawing *d, const struct group *group,
                            uint32_t depth, char text[TEXT_MAX])
{
    uint32_t node = group->nodes[0];
    uint32_t beneath = topo_tree_size(d->tree, node) - 1;
    bool is_cut = beneath > 0 && depth >= d->depth_max;
    char count[32] = "", more[64] = "", levels[48] = "";

    if (group->count > 1)
        snprintf(count, sizeof(count), "%u", group->count);
    if (beneath > 0 && (group->count > 1 || is_cut))
        snprintf(more, sizeof(more), "%s%u beneath%s",
                 group->count > 1 ? ", " : "", beneath,
                 group->count > 1 ? " each" : "");
    if (is_cut)
        snprintf(levels, sizeof(levels), " on %u more levels",
                 levels_beneath(d->tree, node));
    if (count[0] == '\0' && more[0] == '\0')
        return 0;
    return (size_t)snprintf(text, TEXT_MAX, "  (%s%s%s)", count, more, levels);
}

/* Writes the text after the hosts of a line: how many nodes there are and, if
 * their links to the parents come from another switch, the switch. */
static void describe(const struct drawing *d, const struct group *group,
                     uint32_t depth, char text[TEXT_MAX])
{
    uint32_t node = group->nodes[0], last = group->nodes[group->count - 1];
    bool crosses = tree_crosses(d->layout, node);
    const char *first_name = switch_name(d->layout, node);
    size_t at;

    text[0] = '\0';
    at = describe_size(d, group, depth, text);
    if (first_name == NULL ||
        !(crosses || topo_tree_parent(d->tree, node) == 0))
        return;
    at += (size_t)snprintf(text + at, TEXT_MAX - at, "  %s%.100s",
                           crosses ? "=> " : "", first_name);
    if (ep_layout_switch(d->layout, node) != ep_layout_switch(d->layout, last))
        snprintf(text + at, TEXT_MAX - at, " to %.100s",
                 switch_name(d->layout, last));
}

static void put_root(const struct drawing *d)
{
    const char *under = switch_name(d->layout, 0);

    fprintf(d->out, "%s, the launcher%s%s\n", ep_layout_host(d->layout, 0),
            under != NULL ? "  " : "", under != NULL ? under : "");
}

static void put_group(struct drawing *d, const struct group *group,
                      uint32_t depth)
{
    char tail[TEXT_MAX];
    uint32_t taken, room = 0;
    char *hosts;

    d->lines++;
    if (d->out == NULL)
        return;
    if (depth == 0) {
        put_root(d);
        return;
    }

    describe(d, group, depth, tail);
    taken = depth * INDENT + (uint32_t)strlen(tail);
    if (d->look->width > 0) {
        room = d->look->width > taken + LIST_MIN ? d->look->width - taken
                                                 : LIST_MIN;
        room = room < LIST_MAX ? room : LIST_MAX;
    }
    hosts = ep_layout_is_virtual(d->layout) ? fold_places(d, group)
                                            : fold_hosts(d, group, room);
    if (hosts == NULL) {
        d->has_failed = true;
        return;
    }
    put_stem(d, depth);
    fprintf(d->out, "%s%s\n", hosts, tail);
    free(hosts);
}

/* --- the tree */

struct child {
    uint32_t kind, first; /* sorted by kind; kinds in the order of their
                             first nodes */
    uint32_t node;
};

static int compare_children(const void *a, const void *b)
{
    const struct child *x = a, *y = b;

    if (x->first != y->first)
        return x->first > y->first ? 1 : -1;
    return (x->node > y->node) - (x->node < y->node);
}

static int compare_kinds(const void *a, const void *b)
{
    const struct child *x = a, *y = b;

    if (x->kind != y->kind)
        return x->kind > y->kind ? 1 : -1;
    return (x->node > y->node) - (x->node < y->node);
}

/* Lists the children of all nodes of a group, sorted so that children of the
 * same kind are next to each other. */
static struct child *list_children(struct drawing *d, const struct group *group,
                                   uint32_t *count)
{
    struct topo_range kids = topo_tree_children(d->tree, group->nodes[0]);
    uint32_t each = kids.first > kids.last ? 0 : kids.last - kids.first + 1;
    struct child *all = calloc((size_t)group->count * each + 1, sizeof(*all));

    *count = 0;
    if (all == NULL) {
        d->has_failed = true;
        return NULL;
    }
    for (uint32_t i = 0; i < group->count && each > 0; i++) {
        kids = topo_tree_children(d->tree, group->nodes[i]);
        for (uint32_t n = kids.first; n <= kids.last; n++)
            all[(*count)++] =
                (struct child){.kind = d->fold.kind[n], .node = n};
    }
    qsort(all, *count, sizeof(*all), compare_kinds);
    for (uint32_t i = 0; i < *count; i++)
        all[i].first = i > 0 && all[i].kind == all[i - 1].kind
                           ? all[i - 1].first
                           : all[i].node;
    qsort(all, *count, sizeof(*all), compare_children);
    return all;
}

static void draw(struct drawing *d, const struct group *group, uint32_t depth)
{
    struct child *all;
    uint32_t count, end;

    put_group(d, group, depth);
    if (d->has_failed || depth >= d->depth_max ||
        (d->out == NULL && d->lines > LINES_MAX))
        return;
    all = list_children(d, group, &count);
    for (uint32_t at = 0; at < count && !d->has_failed; at = end) {
        struct group beneath = {0};

        for (end = at; end < count && all[end].kind == all[at].kind; end++)
            ;
        beneath.nodes = calloc(end - at, sizeof(*beneath.nodes));
        if (beneath.nodes == NULL) {
            d->has_failed = true;
            break;
        }
        for (uint32_t i = at; i < end; i++)
            beneath.nodes[beneath.count++] = all[i].node;
        d->goes_on[depth + 1] = end < count;
        draw(d, &beneath, depth + 1);
        free(beneath.nodes);
    }
    free(all);
}

/* Sets depth_max so that as many levels are drawn as fit. */
static void choose_depth(struct drawing *d, const struct group *top)
{
    FILE *out = d->out;

    d->out = NULL;
    for (uint32_t depth = 2; depth < DEPTH_MAX; depth++) {
        d->lines = 0;
        d->depth_max = depth;
        draw(d, top, 0);
        if (d->lines <= LINES_MAX)
            continue;
        d->depth_max = depth - 1;
        break;
    }
    d->out = out;
}

int tree_draw(const struct ep_layout *layout, const struct tree_look *look,
              FILE *out)
{
    struct drawing d = {.layout = layout,
                        .tree = ep_layout_tree(layout),
                        .look = look,
                        .out = out,
                        .depth_max = DEPTH_MAX - 1};
    uint32_t root = 0;
    struct group top = {.nodes = &root, .count = 1};

    if (make_fold(&d.fold, layout) != 0)
        return -1;
    if (!look->is_whole)
        choose_depth(&d, &top);
    draw(&d, &top, 0);
    free_fold(&d.fold);
    return d.has_failed ? -1 : 0;
}
