/* Computes the formulas of cost.h. */
#include "topo/cost.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "overlay/base/err.h"

enum {
    DOWN_BYTES = 4096 + 64,
    LINE_BYTES = 70, /* size of a line of output, with the head of its record */
    LEVELS_MAX = 32,
    FILE_LINE_MAX = 1024
};

/* OVERLAP says how much the parts of a time overlap (1: not at all). FLATTER is
 * by which share a tree with fewer levels may take longer and is still chosen.
 */
#define OVERLAP 1.7
#define FLATTER 0.03

const struct topo_cost topo_cost_default = {
    .latency_ns = 20e3,
    .overhead_ns = 25e3,
    .bandwidth = 1.25e9,
};

/* The numbers of a tree that its cost depends on. */
struct sums {
    double levels;
    double children; /* children of the busiest node of each level, added up */
    double root;     /* children of the root */
    double largest;  /* hosts in the root's largest subtree */
    double hosts;
};

static uint32_t count_children(const struct topo_tree *tree, uint32_t node)
{
    struct topo_range kids = topo_tree_children(tree, node);

    return kids.first > kids.last ? 0 : kids.last - kids.first + 1;
}

/* In a complete tree the first node of a level has the most children and the
 * largest subtree. */
static struct sums sum(const struct topo_tree *tree)
{
    struct sums sums = {.root = count_children(tree, 0),
                        .hosts = tree->nodes - 1};
    struct topo_range level = {0, 0};

    while (level.first <= level.last) {
        uint32_t last = tree->parents == NULL ? level.first : level.last;
        uint32_t most = 0;

        for (uint32_t node = level.first; node <= last; node++) {
            uint32_t count = count_children(tree, node);

            most = count > most ? count : most;
            if (topo_tree_parent(tree, node) == 0 &&
                topo_tree_size(tree, node) > sums.largest)
                sums.largest = topo_tree_size(tree, node);
        }
        sums.levels += most > 0;
        sums.children += most;
        level = topo_tree_below(tree, level);
    }
    return sums;
}

/* Adds up parts of a time that overlap. */
static double overlap(double a, double b, double c)
{
    return pow(pow(a, OVERLAP) + pow(b, OVERLAP) + pow(c, OVERLAP),
               1 / OVERLAP);
}

struct topo_times topo_cost_times(const struct topo_cost *cost,
                                  const struct topo_tree *tree, uint32_t procs)
{
    struct sums s = sum(tree);
    double o = cost->overhead_ns, l = cost->latency_ns;
    double byte_ns = 1e9 / cost->bandwidth, lines = (double)procs * LINE_BYTES;
    double each = tree->arity <= 3 ? 2.5 : 3.5;
    double ways = each * s.levels * (l + 0.6 * o);
    double root = s.hosts * s.root / 1000;
    double down = o * (6.5 * s.children + root + s.largest / 75) +
                  0.4 * s.children * DOWN_BYTES * byte_ns;
    double up = o * (6 * s.children - 3 * s.root + root + s.largest / 60 +
                     s.largest * lines / 490e3);

    return (struct topo_times){
        .broadcast_ns = overlap(down, ways, 0),
        .gather_ns = overlap(up, ways + 2 * l * s.largest * lines / 300e3,
                             s.hosts * lines * byte_ns),
    };
}

static double both_ns(const struct topo_cost *cost,
                      const struct topo_tree *tree, uint32_t procs)
{
    struct topo_times times = topo_cost_times(cost, tree, procs);

    return times.broadcast_ns + times.gather_ns;
}

uint32_t topo_cost_arity(const struct topo_cost *cost, uint32_t nodes,
                         uint32_t procs, uint32_t max)
{
    struct topo_tree tree = {.nodes = nodes, .arity = nodes > 3 ? 3 : 2};
    uint32_t arities[LEVELS_MAX], count = 0, depth = UINT32_MAX;
    double times_ns[LEVELS_MAX], best_ns = INFINITY;

    do {
        uint32_t levels = topo_tree_height(&tree);

        if (levels == depth)
            continue;
        depth = levels;
        arities[count] = tree.arity;
        times_ns[count] = both_ns(cost, &tree, procs);
        best_ns = fmin(best_ns, times_ns[count++]);
    } while (++tree.arity <= max && tree.arity < nodes && count < LEVELS_MAX);
    while (count > 1 && times_ns[count - 1] > best_ns * (1 + FLATTER))
        count--;
    return arities[count - 1];
}

/* --- reading the file */

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
        size_t len = strlen(line);
        bool is_whole = len > 0 && (line[len - 1] == '\n' || feof(in));

        if (is_whole && read_line(&read, line))
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
