/* Simulated jobs: their results, and times computed by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/measure.h"
#include "sim/report.h"

#define US UINT64_C(1000)
#define MS UINT64_C(1000000)
#define S  UINT64_C(1000000000)

enum { WIDE = 256 /* a wide window, in frames */, BINOMIAL_ORDER_MAX = 12 };

static struct sim_world w;

static struct sim_cfg cfg_of(uint32_t nodes, uint32_t arity,
                             uint64_t stdin_bytes, uint64_t out_bytes)
{
    struct sim_cfg cfg =
        sim_cfg_default((struct topo_tree){.nodes = nodes, .arity = arity});

    cfg.job.has_stdin = stdin_bytes > 0;
    cfg.job.stdin_bytes = stdin_bytes;
    cfg.job.out_bytes = out_bytes;
    cfg.job.ends_on_loss = false;
    return cfg;
}

static void run(const struct sim_cfg *cfg)
{
    const char *why = "";

    if (sim_cfg_check(cfg, &why))
        fail_msg("%s", why);
    assert_int_equal(sim_world_open(&w, cfg), 0);
    while (sim_world_run(&w, 1000000))
        ;
    sim_world_finish(&w);
    if (w.end.why[0] != '\0')
        fail_msg("%s", w.end.why);
}

static void run_to(const struct sim_cfg *cfg, enum sim_end end)
{
    run(cfg);
    if (sim_report_end(&w) != end)
        sim_report_print(&w, stdout);
    assert_int_equal(sim_report_end(&w), end);
}

/* All nodes read all of stdin, and everything that is written is shown,
 * whatever the shape; the checks of the simulator itself follow every byte. */
static void jobs_of_all_shapes_end_well(void **state)
{
    static const struct {
        uint32_t nodes, arity;
    } shapes[] = {{2, 1},   {3, 1},    {20, 1},   {40, 2},
                  {100, 3}, {100, 99}, {1000, 16}};

    (void)state;
    for (unsigned i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
        struct sim_cfg cfg =
            cfg_of(shapes[i].nodes, shapes[i].arity, 300000, 5000);

        run_to(&cfg, SIM_END_WELL);
        for (uint32_t n = 1; n < shapes[i].nodes; n++) {
            assert_int_equal(w.processes[n].stdin_bytes, 300000);
            assert_int_equal(w.processes[n].got, 5000);
        }
        sim_world_close(&w);
    }
}

/* I5: the same configuration gives the same run twice; another seed, with
 * chance in it, gives another run. */
static void a_seed_is_a_run(void **state)
{
    struct sim_cfg cfg = cfg_of(50, 3, 100000, 3000);
    uint64_t digest, steps;

    (void)state;
    cfg.network.jitter_ns = 50 * US;
    run_to(&cfg, SIM_END_WELL);
    digest = w.counts.digest;
    steps = w.counts.steps;
    sim_world_close(&w);
    run_to(&cfg, SIM_END_WELL);
    assert_true(w.counts.digest == digest);
    assert_int_equal(w.counts.steps, steps);
    sim_world_close(&w);
    cfg.seed++;
    run_to(&cfg, SIM_END_WELL);
    assert_true(w.counts.digest != digest);
    sim_world_close(&w);
}

/* --- faults */

static struct sim_fault fault_of(enum sim_fault_kind kind, uint32_t node)
{
    return (struct sim_fault){.kind = (uint8_t)kind,
                              .node = node,
                              .peer = TOPO_NONE,
                              .at_ns = 1 * MS,
                              .length_ns = SIM_NEVER,
                              .factor = 10};
}

static void run_with(struct sim_cfg cfg, struct sim_fault fault,
                     enum sim_end end)
{
    cfg.faults = &fault;
    cfg.faults_count = 1;
    run_to(&cfg, end);
}

/* Returns the time at which the root gives up a node with such a fault: at once
 * when nothing listens there; otherwise after the adoption time, preceded by
 * the heartbeat time when only silence shows the fault. */
static uint64_t verdict_ns(const struct ov_times *t, enum sim_fault_kind kind)
{
    if (kind == SIM_FAULT_KILL)
        return t->refused_ns;
    return t->adoption_ns + (kind == SIM_FAULT_CUT ? 0 : t->heartbeat_ns);
}

/* In the middle of a job, each kind of loss costs only the lost node, whatever
 * is beneath it: the others read all of stdin and all of their output is
 * shown. */
static void a_loss_costs_nobody_else_a_byte(void **state)
{
    static const enum sim_fault_kind losses[] = {
        SIM_FAULT_KILL, SIM_FAULT_CUT,     SIM_FAULT_DEAF,
        SIM_FAULT_MUTE, SIM_FAULT_SILENCE, SIM_FAULT_FREEZE};

    (void)state;
    for (unsigned i = 0; i < sizeof(losses) / sizeof(losses[0]); i++) {
        struct sim_cfg cfg = cfg_of(40, 3, 3000000, 300000);
        uint64_t at_ns = verdict_ns(&cfg.overlay.times, losses[i]);

        run_with(cfg, fault_of(losses[i], 5), SIM_END_LOSS);
        assert_int_equal(w.launcher->lost, 5);
        assert_int_equal(w.launcher->given_up, 1);
        assert_in_range(w.launcher->lost_ns, at_ns, at_ns + 100 * MS);
        for (uint32_t n = 1; n < 40; n++) {
            if (n == 5)
                continue;
            assert_int_equal(w.processes[n].stdin_bytes, 3000000);
            assert_int_equal(w.processes[n].got, 300000);
        }
        sim_world_close(&w);
    }
}

/* A link that breaks between two living nodes costs nothing, and neither does
 * the permanent loss of a way between two nodes that have another one. */
static void a_broken_link_costs_nothing(void **state)
{
    static const enum sim_fault_kind kinds[] = {SIM_FAULT_RESET, SIM_FAULT_CUT,
                                                SIM_FAULT_DEAF, SIM_FAULT_MUTE};

    (void)state;
    for (unsigned i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        struct sim_fault fault = fault_of(kinds[i], 5);

        fault.peer = 1;
        run_with(cfg_of(40, 3, 3000000, 300000), fault, SIM_END_WELL);
        assert_true(w.launcher->lost_ns == SIM_NEVER);
        sim_world_close(&w);
    }
}

/* When a loss ends the job, the processes of the other nodes are killed, and
 * everything that they wrote before is shown. */
static void a_loss_ends_a_job_that_wants_that(void **state)
{
    struct sim_cfg cfg = cfg_of(40, 3, 0, 1000000);

    (void)state;
    cfg.job.every_ns = MS;
    cfg.job.ends_on_loss = true;
    run_with(cfg, fault_of(SIM_FAULT_KILL, 5), SIM_END_LOSS);
    assert_int_equal(w.launcher->lost, 5);
    assert_int_equal(w.launcher->given_up, 1);
    for (uint32_t n = 1; n < 40; n++) {
        if (n == 5)
            continue;
        assert_true(w.processes[n].written < 1000000);
        assert_int_equal(w.processes[n].got, w.processes[n].written);
    }
    sim_world_close(&w);
}

/* A console that takes nothing for a while delays all nodes, but only for that
 * time. */
static void a_console_that_was_stuck_goes_on(void **state)
{
    struct sim_cfg cfg = cfg_of(40, 3, 0, 3000000);

    (void)state;
    cfg.job.console_stuck_ns = MS;
    cfg.job.console_length_ns = 30 * S;
    run_to(&cfg, SIM_END_WELL);
    assert_true(sim_report_shown_ns(&w) > MS && w.end.at_ns > 30 * S &&
                w.end.at_ns < 31 * S);
    sim_world_close(&w);
}

/* A process that does not read stdin gets none, and is not waited for. */
static void stdin_goes_to_those_who_read_it(void **state)
{
    static const struct topo_range targets[] = {{3, 5}, {39, 39}};
    struct sim_cfg cfg = cfg_of(40, 3, 3000000, 0);

    (void)state;
    cfg.job.targets = targets;
    cfg.job.targets_count = 2;
    run_to(&cfg, SIM_END_WELL);
    for (uint32_t n = 1; n < 40; n++)
        assert_int_equal(w.processes[n].stdin_bytes,
                         (n >= 3 && n <= 5) || n == 39 ? 3000000 : 0);
    sim_world_close(&w);
}

/* A node that stands still for less than the heartbeat time is waited for. */
static void a_short_freeze_is_no_loss(void **state)
{
    struct sim_fault fault = fault_of(SIM_FAULT_FREEZE, 5);

    (void)state;
    fault.length_ns = 3 * S;
    run_with(cfg_of(40, 3, 30000000, 300000), fault, SIM_END_WELL);
    assert_true(sim_report_stdin_ns(&w) > 3 * S);
    sim_world_close(&w);
}

static void a_refused_dial_is_tried_again(void **state)
{
    struct sim_fault fault = fault_of(SIM_FAULT_REFUSE, 5);

    (void)state;
    fault.at_ns = 0;
    fault.length_ns = 5 * S;
    run_with(cfg_of(40, 3, 3000, 300), fault, SIM_END_WELL);
    assert_true(w.launcher->joined_ns > 5 * S);
    sim_world_close(&w);
}

/* A reader that never reads stops all others when the window is full; the
 * launcher is told which one it is, and nothing else fails. */
static void a_reader_that_never_reads_is_named(void **state)
{
    static const struct sim_reader reader = {.node = 8,
                                             .kind = SIM_READER_NEVER};
    struct sim_cfg cfg = cfg_of(40, 3, 30000000, 0);

    (void)state;
    cfg.job.readers = &reader;
    cfg.job.readers_count = 1;
    cfg.limit_ns = 60 * S;
    run_to(&cfg, SIM_END_STUCK);
    assert_int_equal(w.launcher->stall_rank, 7);
    assert_int_equal(w.launcher->stall_node, 8);
    assert_true(w.launcher->fed_bytes <=
                (uint64_t)cfg.overlay.down_frames * cfg.overlay.frame_bytes);
    sim_world_close(&w);
}

/* --- times computed by hand */

/* Checks that a time is within 5 % of the computed one. */
static void assert_near(uint64_t ns, double want_ns)
{
    if ((double)ns < want_ns * 0.95 || (double)ns > want_ns * 1.05)
        fail_msg("%llu ns, by hand %.0f ns", (unsigned long long)ns, want_ns);
}

static uint64_t stdin_time_ns(void)
{
    return sim_report_stdin_ns(&w) - w.measure->fed_first_ns;
}

/* A message of one frame goes down a chain: each hop costs the overhead of both
 * ends, the latency and the time on the wire. */
static void one_frame_down_a_chain(void **state)
{
    struct sim_cfg cfg = cfg_of(50, 1, 60000, 0);
    double wire_ns = (60000 + 32) / 12.5;

    (void)state;
    run_to(&cfg, SIM_END_WELL);
    assert_near(stdin_time_ns(), 49 * (2 * 500 + 2000 + wire_ns));
    sim_world_close(&w);
}

/* Many frames: when the window covers the way there and back, the wire is full
 * and the last frame follows the others. */
static void a_pipeline_down_a_chain(void **state)
{
    struct sim_cfg cfg = cfg_of(50, 1, 1000 * (65536 - 24), 0);
    double wire_ns = 65536 / 12.5;

    (void)state;
    cfg.overlay.down_frames = WIDE;
    run_to(&cfg, SIM_END_WELL);
    assert_near(stdin_time_ns(),
                999 * wire_ns + 49 * (2 * 500 + 2000 + wire_ns));
    sim_world_close(&w);
}

/* All nodes hang on the root, which sends every byte to each. */
static void a_flat_tree_sends_everything_from_the_root(void **state)
{
    struct sim_cfg cfg = cfg_of(101, 100, 200 * (65536 - 24), 0);
    double wire_ns = 65536 / 12.5;

    (void)state;
    run_to(&cfg, SIM_END_WELL);
    assert_near(stdin_time_ns(), 200 * 100 * wire_ns + 2000);
    sim_world_close(&w);
}

/* The time of a tree of arity k is the time in which a parent sends every byte
 * k times. */
static void a_pipeline_down_a_tree_of_arity_k(void **state)
{
    static const uint32_t arities[] = {2, 4, 8};
    double wire_ns = 65536 / 12.5;

    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        uint32_t k = arities[i], nodes = 1, level = 1, height = 0;
        struct sim_cfg cfg;

        for (; nodes < 500; height++)
            nodes += level *= k;
        cfg = cfg_of(nodes, k, 1000 * (65536 - 24), 0);
        cfg.overlay.down_frames = WIDE;
        run_to(&cfg, SIM_END_WELL);
        assert_near(stdin_time_ns(),
                    999 * k * wire_ns + height * (k * wire_ns + 3000));
        sim_world_close(&w);
    }
}

/* Makes a binomial tree: a node of order k has children of the orders 0 to k -
 * 1. Nodes are numbered level by level; children of the greatest order come
 * first, or last. */
static void binomial(uint32_t order, bool is_greatest_first, uint32_t *parents)
{
    uint32_t orders[1 << BINOMIAL_ORDER_MAX] = {order};
    uint32_t end = 1;

    for (uint32_t at = 0; at < 1u << order; at++) {
        for (uint32_t i = 0; i < orders[at]; i++) {
            orders[end] = is_greatest_first ? orders[at] - 1 - i : i;
            parents[end++] = at;
        }
    }
}

/* One frame goes down a binomial tree of 2^k nodes; it is so large that the
 * messages that open the stream take no time beside it. A child has the frame
 * after a hop of two overheads, the latency and the time on the wire, the next
 * child one time on the wire later. With the greatest order first the longest
 * way is one hop for each order: k hops, the textbook's binomial broadcast.
 * With the greatest order last each order waits for all those before it: k (k -
 * 1) / 2 times on the wire more. */
static void one_frame_down_a_binomial_tree(void **state)
{
    uint32_t parents[1 << BINOMIAL_ORDER_MAX];
    double wire_ns = (1 << 20) / 12.5, hop_ns = 2 * 500 + 10000 + wire_ns;

    (void)state;
    for (uint32_t k = 1; k <= BINOMIAL_ORDER_MAX; k++) {
        for (int is_first = 0; is_first < 2; is_first++) {
            struct sim_cfg cfg = cfg_of(1u << k, k, (1 << 20) - 32, 0);
            double waits = is_first ? 0 : k * (k - 1) / 2;

            cfg.overlay.frame_bytes = 1 << 20;
            cfg.overlay.up_window_bytes = 4 << 20;
            cfg.network.near.latency_ns = 10 * US;
            binomial(k, is_first, parents);
            assert_int_equal(
                topo_tree_init(&cfg.overlay.plan, parents, 1u << k), 0);
            run_to(&cfg, SIM_END_WELL);
            assert_near(stdin_time_ns(), k * hop_ns + waits * wire_ns);
            sim_world_close(&w);
        }
    }
}

/* All output comes in at the root's port, which limits the speed. */
static void output_is_as_fast_as_the_root_takes_it(void **state)
{
    struct sim_cfg cfg = cfg_of(101, 10, 0, 2000000);

    (void)state;
    run_to(&cfg, SIM_END_WELL);
    assert_near(sim_report_shown_ns(&w) - w.launcher->joined_ns,
                100 * 2000000 / 12.5);
    sim_world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(jobs_of_all_shapes_end_well),
        cmocka_unit_test(a_seed_is_a_run),
        cmocka_unit_test(a_loss_costs_nobody_else_a_byte),
        cmocka_unit_test(a_broken_link_costs_nothing),
        cmocka_unit_test(a_loss_ends_a_job_that_wants_that),
        cmocka_unit_test(a_console_that_was_stuck_goes_on),
        cmocka_unit_test(stdin_goes_to_those_who_read_it),
        cmocka_unit_test(a_short_freeze_is_no_loss),
        cmocka_unit_test(a_refused_dial_is_tried_again),
        cmocka_unit_test(a_reader_that_never_reads_is_named),
        cmocka_unit_test(one_frame_down_a_chain),
        cmocka_unit_test(a_pipeline_down_a_chain),
        cmocka_unit_test(a_flat_tree_sends_everything_from_the_root),
        cmocka_unit_test(a_pipeline_down_a_tree_of_arity_k),
        cmocka_unit_test(one_frame_down_a_binomial_tree),
        cmocka_unit_test(output_is_as_fast_as_the_root_takes_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
