/* Checks that --arity auto picks well: simulates trees of other arities, too.
 *
 *     arity        a few machines of 100 and 1,000 hosts
 *     arity all    more, and of 10,000 hosts, as a table of docs/arity.md
 *
 * A machine is a latency, as a number of overheads, and the cost of a byte. The
 * job is that of topo/cost.h: 4 KiB to everybody until the launcher knows that
 * all have it, then a line of each process at the launcher. The pick may take
 * 10 % more than the best of all that are tried.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/report.h"
#include "topo/cost.h"

enum { ARITY_MOST = 256, MORE_PERCENT = 10 };

static struct sim_world w;
static bool has_failed;

static double simulate(const struct topo_cost *cost, struct topo_tree tree,
                       uint32_t lines)
{
    struct sim_cfg cfg = sim_cfg_default(tree);
    double ns;

    cfg.network.near =
        (struct sim_link_model){.latency_ns = (uint64_t)cost->latency_ns,
                                .bandwidth = (uint64_t)cost->bandwidth};
    cfg.network.overhead_ns = (uint64_t)cost->overhead_ns;
    cfg.job.has_stdin = lines == 0;
    cfg.job.stdin_bytes = lines == 0 ? 4096 : 0;
    cfg.job.out_bytes = lines * (uint64_t)cfg.job.line_bytes;
    cfg.job.burst_lines = lines > 0 ? lines : 1;
    if (sim_world_open(&w, &cfg)) {
        fprintf(stderr, "no memory\n");
        exit(1);
    }
    while (sim_world_run(&w, 1000000))
        ;
    sim_world_finish(&w);
    ns = (double)((lines == 0 ? w.launcher->goodbye_ns
                              : sim_report_shown_ns(&w)) -
                  w.launcher->joined_ns);
    if (sim_report_end(&w) != SIM_END_WELL) {
        fprintf(stderr, "arity %u: %s\n", tree.arity, w.end.why);
        exit(1);
    }
    sim_world_close(&w);
    return ns;
}

/* True when this arity is tried. Only a few of the larger arities are: those
 * with the fewest children for their depth, and some between. */
static bool is_tried(uint32_t arity, uint32_t hosts)
{
    static const uint32_t large[] = {12, 16, 20, 22, 24, 32, 40, 48, 64, 100};
    struct topo_tree tree = {.nodes = hosts + 1, .arity = arity}, less = tree;

    if (arity <= 8)
        return true;
    for (size_t i = 0; i < sizeof(large) / sizeof(large[0]); i++) {
        if (large[i] == arity)
            return true;
    }
    less.arity--;
    return topo_tree_height(&less) > topo_tree_height(&tree);
}

/* Checks what --arity auto picks for 1 and for 16 processes a host. */
static void try_machine(const struct topo_cost *cost, uint32_t hosts)
{
    static const uint32_t procs[] = {1, 16};
    double picked_ns[2] = {0}, best_ns[2] = {0};
    uint32_t pick[2], best[2] = {0}, last = 100;

    for (int i = 0; i < 2; i++)
        pick[i] = topo_cost_arity(cost, hosts + 1, procs[i], ARITY_MOST);
    for (uint32_t arity = 2; arity <= last && arity <= hosts; arity++) {
        struct topo_tree tree = {.nodes = hosts + 1, .arity = arity};
        double down;

        if (!is_tried(arity, hosts) && arity != pick[0] && arity != pick[1])
            continue;
        down = simulate(cost, tree, 0);
        for (int i = 0; i < 2; i++) {
            double ns = down + simulate(cost, tree, procs[i]);

            if (best[i] == 0 || ns < best_ns[i]) {
                best[i] = arity;
                best_ns[i] = ns;
            }
            if (arity == pick[i])
                picked_ns[i] = ns;
        }
    }
    for (int i = 0; i < 2; i++) {
        double more = 100 * (picked_ns[i] / best_ns[i] - 1);

        printf(" %u (%u, %.0f %%) |", pick[i], best[i], more);
        if (picked_ns[i] <= 0 || more > MORE_PERCENT) {
            printf(" FAILED");
            has_failed = true;
        }
    }
    fflush(stdout);
}

int main(int argc, char **argv)
{
    static const struct topo_cost machines[] = {
        {.overhead_ns = 25e3, .bandwidth = 1.25e9},
        {.overhead_ns = 1e3, .bandwidth = 1e9},
        {.overhead_ns = 500, .bandwidth = 12.5e9},
        {.overhead_ns = 25e3, .bandwidth = 125e6},
    };
    static const double ratios[] = {1, 4, 10, 30, 100};
    bool is_all = argc > 1 && strcmp(argv[1], "all") == 0;
    uint32_t most = is_all ? 10000 : 1000;

    printf("| overhead, bandwidth | latency |");
    for (uint32_t hosts = 100; hosts <= most; hosts *= 10)
        printf(" %u hosts, 1 process | 16 |", hosts);
    putchar('\n');
    for (size_t m = 0; m < (is_all ? 4 : 2); m++) {
        for (size_t i = 0; i < 5; i += is_all ? 1 : 2) {
            struct topo_cost cost = machines[m];

            cost.latency_ns = cost.overhead_ns * ratios[i];
            printf("| %g us, %g GB/s | %g overheads |", cost.overhead_ns / 1e3,
                   cost.bandwidth / 1e9, ratios[i]);
            for (uint32_t hosts = 100; hosts <= most; hosts *= 10)
                try_machine(&cost, hosts);
            putchar('\n');
        }
    }
    return has_failed;
}
