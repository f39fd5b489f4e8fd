/* What a tree costs, in closed form, and which arity is the best.
 *
 * The objective is a small job: 4 KiB of stdin to everybody, the word that all
 * have it, and a line of everybody at the root. The network is that of the
 * simulator (sim/model.h): a message takes `overhead` of a processor at each
 * end, its bytes at `bandwidth`, and `latency` on the way.
 *
 * With D levels, k the children of a node of a level, w the time of 4 KiB, and
 * b the bytes of the lines that the fullest node of a level passes on:
 *
 *     broadcast, confirmed   sum over levels of k (w + 4 overhead)
 *                            + D (2 latency + 5 overhead)
 *     gathering              sum over levels of 3 k overhead + b / 2
 *                            + D (2 latency + 5 overhead)
 *                            + a frame for each 64 hosts
 *
 * The weights are fitted to the simulator. What they leave out: what happens at
 * the same time, processors that are shared or slow, links that are.
 */
#ifndef TOPO_COST_H
#define TOPO_COST_H

#include "topo/tree.h"
#include "topo/why.h"

struct topo_cost {
    double latency_ns;
    double overhead_ns;
    double bandwidth; /* bytes a second, more than 0 */
};

/* TCP over Ethernet of 10 Gbit/s. The overhead was measured with xylem. */
extern const struct topo_cost topo_cost_default;

/* Replaces what the file names, in lines `latency 20us`, `overhead 500ns`,
 * `bandwidth 12.5G` (bytes a second), with # comments. Returns 0; OV_EINVAL
 * (words in why, TOPO_WHY_MAX bytes, with file and line), OV_ENOENT or OV_ESYS.
 * The cost is then as it was. */
int topo_cost_read(struct topo_cost *cost, const char *path, char *why);

struct topo_times {
    double broadcast_ns; /* until the root knows that all have it */
    double gather_ns;
};

/* O(levels) for a complete tree, O(nodes * levels * log nodes) for a table. */
struct topo_times topo_cost_times(const struct topo_cost *cost,
                                  const struct topo_tree *tree);

/* The arity from 2 to max of a complete tree of so many nodes, the root
 * included. It ranks by weights of its own: the simulator finds what it picks
 * within 10 % of the best at 100, 1,000 and 10,000 hosts. O(max * levels^2). */
uint32_t topo_cost_arity(const struct topo_cost *cost, uint32_t nodes,
                         uint32_t max);

#endif
