/* The cost of trees: which arity the formula picks, and how its times compare
 * with the simulator. tests/sim/arity.c shows whether the picks are good. */
#include "topo/cost.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "overlay/base/err.h"
#include "sim/report.h"

static struct sim_world w;

/* Simulates the sending of 4 KiB to all nodes until the launcher knows that all
 * have it, or of a line from each node to the launcher. */
static double simulate(const struct topo_cost *cost, struct topo_tree tree,
                       bool is_down)
{
    struct sim_cfg cfg = sim_cfg_default(tree);
    double ns;

    cfg.network.near =
        (struct sim_link_model){.latency_ns = (uint64_t)cost->latency_ns,
                                .bandwidth = (uint64_t)cost->bandwidth};
    cfg.network.overhead_ns = (uint64_t)cost->overhead_ns;
    cfg.job.has_stdin = is_down;
    cfg.job.stdin_bytes = is_down ? 4096 : 0;
    cfg.job.out_bytes = is_down ? 0 : 64;
    assert_int_equal(sim_world_open(&w, &cfg), 0);
    while (sim_world_run(&w, 1000000))
        ;
    sim_world_finish(&w);
    assert_int_equal(sim_report_end(&w), SIM_END_WELL);
    ns = (double)((is_down ? w.launcher->goodbye_ns : sim_report_shown_ns(&w)) -
                  w.launcher->joined_ns);
    sim_world_close(&w);
    return ns;
}

/* The list has the smallest arity of each depth, down to 3, and no other
 * arity. */
static void test_arities_are_the_smallest_of_their_depth(void **state)
{
    struct topo_cost cost = topo_cost_default;

    (void)state;
    for (uint32_t hosts = 1; hosts < 3000; hosts += hosts / 50 + 1) {
        for (int ratio = 0; ratio < 8; ratio++) {
            struct topo_tree tree = {.nodes = hosts + 1}, other = tree;

            cost.latency_ns = cost.overhead_ns * (1 << ratio);
            tree.arity = topo_cost_arity(&cost, hosts + 1, 1, 256);
            assert_in_range(tree.arity, 2, 256);
            other.arity = tree.arity - 1;
            if (tree.arity > 3)
                assert_true(topo_tree_height(&other) > topo_tree_height(&tree));
        }
    }
    assert_int_equal(topo_cost_arity(&cost, 2, 1, 256), 2);
    assert_in_range(topo_cost_arity(&cost, 10001, 1, 8), 3, 8);
}

/* The greater the latency between hosts, the fewer levels. */
static void test_the_pick_follows_the_machine(void **state)
{
    static const struct topo_cost near = {2e3, 500, 12.5e9};
    static const struct topo_cost far = {50e3, 1e3, 1e9};

    (void)state;
    assert_true(topo_cost_arity(&far, 10001, 1, 256) >
                topo_cost_arity(&near, 10001, 1, 256));
}

/* The predicted time is an estimate: it may be wrong by a factor of two. */
static void test_times_are_those_of_the_simulator_by_two(void **state)
{
    (void)state;
    for (uint32_t hosts = 10; hosts <= 1000; hosts *= 10) {
        for (uint32_t arity = 2; arity <= 16; arity *= 2) {
            struct topo_tree tree = {.nodes = hosts + 1, .arity = arity};
            struct topo_times times =
                topo_cost_times(&topo_cost_default, &tree, 1);
            double down = simulate(&topo_cost_default, tree, true);
            double up = simulate(&topo_cost_default, tree, false);

            printf("%u hosts, arity %u: %.0f and %.0f us, simulated %.0f and "
                   "%.0f\n",
                   hosts, arity, times.broadcast_ns / 1e3,
                   times.gather_ns / 1e3, down / 1e3, up / 1e3);
            assert_true(times.broadcast_ns > down / 2);
            assert_true(times.broadcast_ns < down * 2);
            assert_true(times.gather_ns > up / 2);
            assert_true(times.gather_ns < up * 2);
        }
    }
}

/* A table that describes a complete tree costs the same as the complete
 * tree. */
static void test_a_table_costs_the_same(void **state)
{
    uint32_t parents[200];

    (void)state;
    for (uint32_t arity = 1; arity < 20; arity++) {
        struct topo_tree plain = {.nodes = 200, .arity = arity}, table;
        struct topo_times a, b;

        for (uint32_t n = 0; n < 200; n++)
            parents[n] = topo_tree_parent(&plain, n);
        assert_int_equal(topo_tree_init(&table, parents, 200), 0);
        a = topo_cost_times(&topo_cost_default, &plain, 4);
        b = topo_cost_times(&topo_cost_default, &table, 4);
        assert_true(a.broadcast_ns == b.broadcast_ns);
        assert_true(a.gather_ns == b.gather_ns);
    }
}

static int read_text(const char *text, struct topo_cost *cost, char *why)
{
    char path[] = "/tmp/test_cost.XXXXXX";
    int fd = mkstemp(path), rc;

    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (int)strlen(text));
    close(fd);
    rc = topo_cost_read(cost, path, why);
    unlink(path);
    return rc;
}

static void test_a_model_is_read_from_a_file(void **state)
{
    static const char *const bad[] = {"latency\n",        "latency 20\n",
                                      "latency 20us 3\n", "speed 1G\n",
                                      "bandwidth 0\n",    "overhead -1us\n",
                                      "latency nanus\n",  "bandwidth 1Gbit\n"};
    struct topo_cost cost = topo_cost_default;
    char why[TOPO_WHY_MAX];

    (void)state;
    assert_int_equal(read_text("# ours\nlatency 2us # one way\n\n"
                               "bandwidth 12.5G\noverhead 500ns\n",
                               &cost, why),
                     0);
    assert_true(cost.latency_ns == 2000 && cost.overhead_ns == 500);
    assert_true(cost.bandwidth == 12.5e9);
    for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_int_equal(read_text(bad[i], &cost, why), OV_EINVAL);
        assert_non_null(strstr(why, ":1: a line is `latency 20us'"));
        assert_true(cost.latency_ns == 2000 && cost.overhead_ns == 500);
    }
    assert_int_equal(topo_cost_read(&cost, "/nowhere/x", why), OV_ENOENT);
    /* The file has no end, and no end of a line. */
    assert_int_equal(topo_cost_read(&cost, "/dev/zero", why), OV_EINVAL);
    assert_non_null(strstr(why, "/dev/zero:1: a line is `latency 20us'"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_arities_are_the_smallest_of_their_depth),
        cmocka_unit_test(test_the_pick_follows_the_machine),
        cmocka_unit_test(test_times_are_those_of_the_simulator_by_two),
        cmocka_unit_test(test_a_table_costs_the_same),
        cmocka_unit_test(test_a_model_is_read_from_a_file),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
