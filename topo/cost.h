/* Formulas that estimate how long the messages of a tree take, and the arity
 * that they make the best.
 *
 * What is estimated is a small job: 4 KiB of stdin go to all nodes, their
 * confirmations come back, and the root gets a line of output from each
 * process. The network is that of the simulator (sim/model.h): a message takes
 * the time `overhead` (o) of a processor at each end, the time of its bytes at
 * `bandwidth` (B), and `latency` (L) on the way.
 *
 * D is the number of levels, K the sum over all levels of the most children
 * that a node of the level has, k the number of the root's children, N the
 * number of hosts, F the number of hosts in the root's largest subtree, b the
 * bytes of the lines of one host, and w the time that 4 KiB take at B:
 *
 *     broadcast   processors  o (6.5 K + N k / 1000 + F / 75) + 0.4 K w
 *                 ways        c D (L + 0.6 o)
 *     gathering   processors  o (6 K - 3 k + N k / 1000 + F / 60
 *                                + F b / 490000)
 *                 ways        c D (L + 0.6 o) + 2 L F b / 300000
 *                 bytes       N b / B
 *
 * c is 2.5 for an arity of at most three, else 3.5: with more children, not all
 * get their first frames at once. As the parts (processors, ways, bytes)
 * overlap in time, the total is not their sum x + y + z but (x^1.7 + y^1.7 +
 * z^1.7)^(1/1.7). The weights are fitted to 825 runs of the simulator (30 to
 * 10,000 hosts, latencies of 1 to 100 overheads). The formulas ignore shared or
 * slow processors and links, and the start of the daemons.
 */
#ifndef TOPO_COST_H
#define TOPO_COST_H

#include "topo/tree.h"
#include "topo/why.h"

struct topo_cost {
    double latency_ns;
    double overhead_ns;
    double bandwidth; /* bytes per second, more than 0 */
};

/* TCP over Ethernet of 10 Gbit/s. The overhead was measured with xylem. */
extern const struct topo_cost topo_cost_default;

/* Replaces the values that the file names, in lines `latency 20us`, `overhead
 * 500ns`, `bandwidth 12.5G` (bytes a second), with # comments. Returns 0;
 * OV_EINVAL (with a sentence that names file and line in why, TOPO_WHY_MAX
 * bytes), OV_ENOENT or OV_ESYS. After an error the cost is as before. */
int topo_cost_read(struct topo_cost *cost, const char *path, char *why);

struct topo_times {
    double broadcast_ns; /* the time until the root knows that all nodes have
                          * the stdin */
    double gather_ns;    /* the time until the root has one line from each
                          * process */
};

/* Estimates the times for `procs` processes, at least 1, on each host.
 * O(levels) for a complete tree, O(nodes * levels * log nodes) for a table. */
struct topo_times topo_cost_times(const struct topo_cost *cost,
                                  const struct topo_tree *tree, uint32_t procs);

/* The best arity, from 2 to max, of a complete tree of `nodes` nodes, the root
 * included, with `procs` processes on each node but the root. For each depth
 * only the smallest arity that reaches it is considered. Among the arities
 * whose time is within 3 % of the shortest time, the largest is returned: fewer
 * levels start faster and are repaired faster. In the simulator no other arity
 * is better by more than 10 % (tests/sim/arity.c). O(max * levels). */
uint32_t topo_cost_arity(const struct topo_cost *cost, uint32_t nodes,
                         uint32_t procs, uint32_t max);

#endif
