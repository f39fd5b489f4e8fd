/* The cost of a tree, in closed form. */
#include "topo/cost.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "overlay/base/err.h"

enum { DOWN_BYTES = 4096 + 64, LINE_BYTES = 96, FILE_LINE_MAX = 1024 };

const struct topo_cost topo_cost_default = {
    .latency_ns = 20e3,
    .overhead_ns = 25e3,
    .bandwidth = 1.25e9,
};

/* What a tree comes to, summed over its levels. */
struct sums {
    double levels;
    double children;  /* of the node that has most */
    double passed_on; /* by the node with most beneath it: lines */
};

static void add_node(const struct topo_tree *tree, uint32_t node,
                     uint32_t *children, uint32_t *beneath)
{
    struct topo_range kids = topo_tree_children(tree, node);
    uint32_t count = kids.first > kids.last ? 0 : kids.last - kids.first + 1;
    uint32_t size = count == 0 ? 0 : topo_tree_size(tree, node) - 1;

    *children = count > *children ? count : *children;
    *beneath = size > *beneath ? size : *beneath;
}

/* In a complete tree the first node of a level has most of all. */
static struct sums sum(const struct topo_tree *tree)
{
    struct sums sums = {0};
    struct topo_range level = {0, 0};

    while (level.first <= level.last) {
        uint32_t children = 0, beneath = 0;
        uint32_t last = tree->parents == NULL ? level.first : level.last;

        for (uint32_t node = level.first; node <= last; node++)
            add_node(tree, node, &children, &beneath);
        sums.levels += children > 0;
        sums.children += children;
        sums.passed_on += beneath;
        level = topo_tree_below(tree, level);
    }
    return sums;
}

struct topo_times topo_cost_times(const struct topo_cost *cost,
                                  const struct topo_tree *tree)
{
    struct sums sums = sum(tree);
    double byte_ns = 1e9 / cost->bandwidth;
    double ways = sums.levels * (2 * cost->latency_ns + 5 * cost->overhead_ns);

    return (struct topo_times){
        .broadcast_ns =
            sums.children * (DOWN_BYTES * byte_ns + 4 * cost->overhead_ns) +
            ways,
        .gather_ns =
            (sums.children * 3 + (tree->nodes - 1) / 64.0) * cost->overhead_ns +
            sums.passed_on * LINE_BYTES * byte_ns / 2 + ways,
    };
}

/* What a level adds is less here than in the times, for part of it goes on
 * while the level above is still served; so the arity does more harm. */
static double rank_ns(const struct topo_cost *cost,
                      const struct topo_tree *tree)
{
    struct sums sums = sum(tree);
    double byte_ns = 1e9 / cost->bandwidth;

    return sums.children * (DOWN_BYTES * byte_ns + 9 * cost->overhead_ns) +
           sums.levels * 1.5 * cost->latency_ns +
           sums.passed_on * LINE_BYTES * byte_ns / 2;
}

uint32_t topo_cost_arity(const struct topo_cost *cost, uint32_t nodes,
                         uint32_t max)
{
    struct topo_tree tree = {.nodes = nodes, .arity = 2};
    double best_ns = rank_ns(cost, &tree);
    uint32_t best = 2;

    for (tree.arity = 3; tree.arity <= max && tree.arity < nodes;
         tree.arity++) {
        double ns = rank_ns(cost, &tree);

        if (ns < best_ns) {
            best_ns = ns;
            best = tree.arity;
        }
    }
    return best;
}

/* --- the file
 * */

static const struct unit {
    const char *name;
    double worth;
} times[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {NULL, 0}},
  rates[] = {{"", 1}, {"K", 1e3}, {"M", 1e6}, {"G", 1e9}, {NULL, 0}};

static bool read_value(const char *text, const struct unit *units,
                       double *value)
{
    char *end;
    double number = strtod(text, &end);

    if (end == text || !(number >= 0) || number > 1e15)
        return false;
    for (; units->name != NULL; units++) {
        if (strcmp(end, units->name) == 0) {
            *value = number * units->worth;
            return true;
        }
    }
    return false;
}

static bool read_line(struct topo_cost *cost, char *line)
{
    static const char blanks[] = " \t\r\n";
    char *rest = NULL;
    const char *key, *value;

    line[strcspn(line, "#")] = '\0';
    key = strtok_r(line, blanks, &rest);
    value = strtok_r(NULL, blanks, &rest);
    if (key == NULL)
        return true;
    if (value == NULL || strtok_r(NULL, blanks, &rest) != NULL)
        return false;
    if (strcmp(key, "latency") == 0)
        return read_value(value, times, &cost->latency_ns);
    if (strcmp(key, "overhead") == 0)
        return read_value(value, times, &cost->overhead_ns);
    return strcmp(key, "bandwidth") == 0 &&
           read_value(value, rates, &cost->bandwidth) && cost->bandwidth >= 1;
}

int topo_cost_read(struct topo_cost *cost, const char *path, char *why)
{
    FILE *in = fopen(path, "re");
    struct topo_cost read = *cost;
    char line[FILE_LINE_MAX];
    int rc = 0;

    if (in == NULL) {
        rc = errno == ENOENT ? OV_ENOENT : OV_ESYS;
        topo_why(why, "the model file %.300s cannot be opened: %s", path,
                 strerror(errno));
        return rc;
    }
    for (unsigned long number = 1;
         rc == 0 && fgets(line, sizeof(line), in) != NULL; number++) {
        if (read_line(&read, line))
            continue;
        topo_why(why,
                 "%.300s:%lu: a line is `latency 20us', `overhead 500ns' or "
                 "`bandwidth 12.5G'",
                 path, number);
        rc = OV_EINVAL;
    }
    if (rc == 0 && ferror(in)) {
        topo_why(why, "%.300s cannot be read: %s", path, strerror(errno));
        rc = OV_ESYS;
    }
    fclose(in);
    if (rc == 0)
        *cost = read;
    return rc;
}
