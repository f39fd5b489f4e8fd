/* The core as a whole: nodes in a little world. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/unit/world.h"

enum { LINES = 24 };

static bool joined(struct world *w)
{
    return w->is_joined;
}

static bool all_left(struct world *w)
{
    for (uint32_t n = 0; n < w->cfg.plan.nodes; n++) {
        if (!w->nodes[n].has_left)
            return false;
    }
    return true;
}

static bool all_final(struct world *w)
{
    for (uint32_t n = 1; n < w->cfg.plan.nodes; n++) {
        if (!w->nodes[n].is_final)
            return false;
    }
    return true;
}

static bool all_ate(struct world *w)
{
    if (w->to_feed > 0)
        return false;
    for (uint32_t n = 1; n < w->cfg.plan.nodes; n++) {
        if (w->nodes[n].eaten != w->fed)
            return false;
    }
    return true;
}

static struct ov_cfg small_cfg(uint32_t nodes, uint32_t arity)
{
    struct ov_cfg cfg =
        ov_cfg_default((struct topo_tree){.nodes = nodes, .arity = arity});

    cfg.frame_bytes = 8192;
    cfg.up_window_bytes = 64 * 1024;
    return cfg;
}

/* Checks that no node was declared lost, and none lost its parent. */
static void assert_nobody_is_missed(const struct world *w)
{
    for (uint32_t n = 0; n < w->cfg.plan.nodes; n++) {
        assert_false(w->nodes[n].is_lost);
        assert_int_equal(w->nodes[n].orphaned, 0);
    }
}

static void say_goodbye(struct world *w)
{
    world_control(w, OV_CONTROL_GOODBYE);
    world_until(w, all_left, 1000);
    assert_nobody_is_missed(w);
}

/* Trees of many shapes join and are told goodbye, and each node leaves once all
 * beneath it have left: no neighbour counts as lost. */
static void every_tree_joins_and_leaves(void **state)
{
    static const uint32_t shapes[][2] = {{1, 2}, {2, 1},  {3, 1},  {9, 1},
                                         {7, 2}, {40, 3}, {85, 4}, {200, 64}};
    struct world w;

    (void)state;
    for (unsigned i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
        world_open(&w, small_cfg(shapes[i][0], shapes[i][1]));
        world_until(&w, joined, 200);
        say_goodbye(&w);
        world_close(&w);
    }
}

/* Every reader gets every byte, in order: the checksums agree. */
static void stdin_reaches_every_reader(void **state)
{
    struct world w;

    (void)state;
    world_open(&w, small_cfg(40, 3));
    world_until(&w, joined, 200);
    world_open_stream(&w, (struct topo_range){1, 39});
    w.to_feed = 3000000;
    w.feed_ends = true;
    world_until(&w, all_ate, 5000);
    for (uint32_t n = 1; n < 40; n++)
        assert_true(w.nodes[n].eaten_sum == w.fed_sum);
    say_goodbye(&w);
    world_close(&w);
}

/* Every byte written arrives once, in order; then comes the final record. */
static void output_arrives_whole(void **state)
{
    struct world w;

    (void)state;
    world_open(&w, small_cfg(40, 3));
    world_until(&w, joined, 200);
    for (uint32_t n = 1; n < 40; n++)
        world_write(&w, n, 200000 + 1000 * n, 1 + n * 3);
    for (uint32_t n = 1; n < 40; n++)
        world_final(&w, n);
    world_until(&w, all_final, 20000);
    for (unsigned i = 0; i < 20000; i++)
        world_tick(&w);
    for (uint32_t n = 1; n < 40; n++) {
        assert_int_equal(w.nodes[n].to_write, 0);
        assert_int_equal(w.nodes[n].got, w.nodes[n].written);
        assert_true(w.nodes[n].got_sum == w.nodes[n].wrote_sum);
        assert_int_equal(ov_node_look(w.nodes[n].node, 0).kept_bytes, 0);
    }
    say_goodbye(&w);
    world_close(&w);
}

/* One process prints in a tight loop, and its neighbour in the tree a single
 * line: the line is taken before the flood has sent more than a few frames. */
static void a_flood_delays_a_line_by_a_round(void **state)
{
    struct world w;
    uint64_t before;

    (void)state;
    world_open(&w, small_cfg(15, 2));
    world_until(&w, joined, 200);
    /* Nodes 7 and 8 share the parent 3. */
    world_write(&w, 7, UINT64_C(100000000), 64);
    for (unsigned i = 0; i < 200; i++)
        world_tick(&w);
    before = w.nodes[7].got;
    world_write(&w, 8, 64, 64);
    for (unsigned i = 0; w.nodes[8].got == 0; i++) {
        assert_true(i < 100);
        world_tick(&w);
    }
    /* A round: at each of the three hops, the frames that the flood was granted
     * before. */
    assert_true(w.nodes[7].got - before <=
                3u * (w.cfg.up_frames + w.cfg.data_slots) * w.cfg.frame_bytes);
    world_close(&w);
}

static bool has_all(struct world *w)
{
    for (uint32_t n = 1; n < w->cfg.plan.nodes; n++) {
        if (w->nodes[n].to_write > 0 || w->nodes[n].got < w->nodes[n].written)
            return false;
    }
    return true;
}

/* On an idle tree nodes at all depths write one line after another: each line
 * takes a tick and a frame for every hop. Timers run once in a tick, so that a
 * pause of any length would be seen. */
static void lines_take_their_hops(struct ov_cfg cfg)
{
    static const uint32_t lens[] = {80, 1, 3000, 5000, 80, 2};
    struct world w;

    world_open(&w, cfg);
    world_until(&w, joined, 20000);
    for (unsigned i = 0; i < 100; i++)
        world_tick(&w);
    assert_int_equal(w.frames_up, 0);
    for (unsigned i = 0; i < LINES; i++) {
        uint32_t from =
            i % 4 == 3 ? 1 + i % (cfg.plan.nodes - 1) : cfg.plan.nodes - 1;
        uint32_t hops = topo_tree_depth(&cfg.plan, from);
        uint64_t start_ns = w.now_ns, frames = w.frames_up;
        uint32_t len = lens[i % (sizeof(lens) / sizeof(lens[0]))];

        world_write(&w, from, len, len);
        world_until(&w, has_all, 200);
        assert_int_equal((w.now_ns - start_ns) / WORLD_TICK_NS, hops);
        for (unsigned k = 0; k < 50; k++)
            world_tick(&w);
        assert_int_equal(w.frames_up - frames, hops);
    }
    world_close(&w);
}

/* A line on an idle tree is as quick as when two pieces never share a frame: it
 * takes no additional tick or frame. */
static void coalescing_costs_an_idle_tree_nothing(void **state)
{
    static const uint32_t shapes[][2] = {{2, 1},  {20, 1},   {40, 3},
                                         {85, 4}, {200, 64}, {60, 2}};

    (void)state;
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
        struct ov_cfg cfg = small_cfg(shapes[i][0], shapes[i][1]);

        lines_take_their_hops(cfg);
        cfg.batch_pieces = 1;
        lines_take_their_hops(cfg);
    }
}

/* Two processes of one node: each gets its quantum in turn. */
static void inputs_of_a_node_take_turns(void **state)
{
    struct ov_drr_input inputs[3];
    uint32_t spent[3] = {0};
    struct ov_drr drr;

    (void)state;
    ov_drr_init(&drr, inputs, 3, 1000);
    for (uint16_t i = 0; i < 3; i++)
        ov_drr_push(&drr, i);
    for (unsigned i = 0; i < 300; i++) {
        uint16_t who = ov_drr_first(&drr);
        uint32_t bytes = who == 0 ? 1000 : who == 1 ? 10 : 1700;

        spent[who] += bytes;
        ov_drr_spend(&drr, bytes, true);
    }
    assert_in_range(spent[0], spent[1], spent[1] + 2000);
    assert_in_range(spent[2] + 2000, spent[0], spent[0] + 4000);
}

/* One of many readers never reads: the others get as much as the window allows,
 * no node keeps more than its window, and the root names the reader, once. */
static void a_stuck_reader_is_named_once(void **state)
{
    struct world w;
    struct ov_node_view root;
    uint64_t window;

    (void)state;
    world_open(&w, small_cfg(40, 3));
    world_until(&w, joined, 200);
    w.nodes[22].is_stuck = true;
    world_open_stream(&w, (struct topo_range){1, 39});
    w.to_feed = 100000000;
    for (unsigned i = 0; i < 20100; i++)
        world_tick(&w);
    window =
        (uint64_t)w.cfg.down_frames * (w.cfg.frame_bytes - OV_DOWN_HEAD_BYTES);
    assert_int_equal(w.fed, window);
    for (uint32_t n = 1; n < 40; n++) {
        struct ov_node_view view = ov_node_look(w.nodes[n].node, 1);

        assert_int_equal(w.nodes[n].eaten, window);
        assert_true(view.down_head - view.down_base <= w.cfg.down_frames);
    }
    assert_nobody_is_missed(&w);
    assert_int_equal(w.stalls, 1);
    assert_int_equal(w.stall_node, 22);
    assert_int_equal(w.stall_rank, 21);
    root = ov_node_look(w.nodes[0].node, 1);
    assert_int_equal(root.down_node, 22);
    assert_int_equal(root.down_rank, 21);
    assert_int_equal(root.down_lead, w.cfg.down_frames);
    world_close(&w);
}

/* The root does not take the output: every node stops reading when its window
 * is full. */
static void a_stuck_sink_stops_the_writers(void **state)
{
    struct world w;

    (void)state;
    world_open(&w, small_cfg(40, 3));
    world_until(&w, joined, 200);
    w.sink_is_stuck = true;
    for (uint32_t n = 1; n < 40; n++)
        world_write(&w, n, 10000000, 100);
    for (unsigned i = 0; i < 2000; i++)
        world_tick(&w);
    for (uint32_t n = 1; n < 40; n++)
        assert_true(w.nodes[n].written <= w.cfg.up_window_bytes);
    w.sink_is_stuck = false;
    for (unsigned i = 0; i < 200000 && w.nodes[39].to_write > 0; i++)
        world_tick(&w);
    assert_int_equal(w.nodes[39].to_write, 0);
    world_close(&w);
}

static void run_for(struct world *w, uint64_t ms)
{
    for (uint64_t i = 0; i < ms; i++)
        world_tick(w);
}

/* Checks that all nodes but one have the parents of the plan. */
static void assert_parents_planned(const struct world *w, uint32_t but)
{
    for (uint32_t n = 1; n < w->cfg.plan.nodes; n++) {
        uint32_t parent = topo_tree_parent(&w->cfg.plan, n);

        if (n != but && parent != but)
            assert_int_equal(w->nodes[n].parent, parent);
    }
}

/* A daemon dies, and nothing listens there any longer: within a second its
 * children hang on their grandparent, and only the daemon is declared lost. */
static void a_dead_node_is_lost_and_its_children_are_not(void **state)
{
    struct world w;

    (void)state;
    world_open(&w, small_cfg(13, 3));
    world_until(&w, joined, 200);
    run_for(&w, 10); /* the last welcomes arrive */
    world_kill(&w, 1);
    run_for(&w, 3);
    for (uint32_t n = 4; n <= 6; n++)
        assert_int_equal(w.nodes[n].orphaned, 1);
    run_for(&w, 100);
    for (uint32_t n = 4; n <= 6; n++)
        assert_int_equal(w.nodes[n].parent, 0);
    assert_false(w.nodes[1].is_lost);
    run_for(&w, 1000);
    for (uint32_t n = 0; n < 13; n++)
        assert_int_equal(w.nodes[n].is_lost, n == 1);
    assert_parents_planned(&w, 1);
    assert_int_equal(ov_node_look(w.nodes[0].node, 0).joined, 12);
    world_close(&w);
}

/* An idle tree sends only what keeps its links alive, and no node is missed. A
 * node that falls silent is missed after the heartbeat time, and given up after
 * the adoption time. It is told when it runs again, and leaves. */
static void silence_is_judged_by_the_heartbeat(void **state)
{
    struct world w;
    uint64_t words;

    (void)state;
    world_open(&w, small_cfg(13, 3));
    world_until(&w, joined, 200);
    run_for(&w, 100);
    words = w.frames_link;
    run_for(&w, 28500);
    assert_nobody_is_missed(&w);
    /* Twelve links, both directions, every 4.7 seconds. */
    assert_int_equal(w.frames_link - words, 12 * 2 * 6);
    w.nodes[1].is_frozen = true;
    run_for(&w, 9000);
    assert_nobody_is_missed(&w);
    run_for(&w, 1400);
    for (uint32_t n = 4; n <= 6; n++) {
        assert_int_equal(w.nodes[n].orphaned, 1);
        assert_int_equal(w.nodes[n].parent, 0);
    }
    run_for(&w, 30000);
    assert_false(w.nodes[1].is_lost);
    run_for(&w, 5000);
    for (uint32_t n = 0; n < 13; n++)
        assert_int_equal(w.nodes[n].is_lost, n == 1);
    w.nodes[1].is_frozen = false;
    assert_int_equal(w.nodes[1].end, 0);
    run_for(&w, 1000);
    assert_int_equal(w.nodes[1].end, OV_END_DECLARED);
    assert_parents_planned(&w, 1);
    world_close(&w);
}

/* A node that runs again before it is given up finds its way back, with nothing
 * lost. */
static void a_node_that_was_silent_comes_back(void **state)
{
    struct world w;

    (void)state;
    world_open(&w, small_cfg(13, 3));
    world_until(&w, joined, 200);
    run_for(&w, 100);
    w.nodes[1].is_frozen = true;
    run_for(&w, 30000);
    w.nodes[1].is_frozen = false;
    run_for(&w, 6000);
    assert_int_equal(w.nodes[1].parent, 0);
    for (uint32_t n = 0; n < 13; n++)
        assert_false(w.nodes[n].is_lost);
    assert_parents_planned(&w, 1);
    world_control(&w, OV_CONTROL_GOODBYE);
    world_until(&w, all_left, 1000);
    world_close(&w);
}

/* A root that has announced a pause may be silent for any time, and finds all
 * nodes as they were; then silence counts again. No node is blamed for a stream
 * that stalls in that time. */
static void a_pause_of_the_root_is_no_loss(void **state)
{
    struct world w;

    (void)state;
    world_open(&w, small_cfg(13, 3));
    world_until(&w, joined, 200);
    world_open_stream(&w, (struct topo_range){5, 5});
    w.nodes[5].is_stuck = true;
    w.to_feed = 1 << 20;
    run_for(&w, 5000);
    world_pause(&w, true);
    run_for(&w, 10);
    w.nodes[0].is_frozen = true;
    run_for(&w, 100000);
    w.nodes[0].is_frozen = false;
    world_pause(&w, false);
    run_for(&w, 9000);
    assert_int_equal(w.stalls, 0);
    assert_nobody_is_missed(&w);
    w.nodes[0].is_frozen = true;
    run_for(&w, 11000);
    for (uint32_t n = 1; n <= 3; n++)
        assert_int_equal(w.nodes[n].orphaned, 1);
    w.nodes[0].is_frozen = false;
    world_close(&w);
}

/* Without a root all nodes look for it until the give-up time, and then
 * leave. */
static void without_a_root_everybody_goes(void **state)
{
    struct world w;
    uint64_t giveup_ms;

    (void)state;
    world_open(&w, small_cfg(13, 3));
    world_until(&w, joined, 200);
    run_for(&w, 10);
    giveup_ms = w.cfg.times.giveup_ns / WORLD_TICK_NS;
    world_kill(&w, 0);
    run_for(&w, giveup_ms - 1);
    for (uint32_t n = 1; n < 13; n++)
        assert_int_equal(w.nodes[n].end, 0);
    /* The nodes beneath lost their parent when it let them go. */
    run_for(&w, 20000);
    for (uint32_t n = 1; n < 13; n++)
        assert_int_equal(w.nodes[n].end, OV_END_ALONE);
    world_close(&w);
}

/* Only the nodes of a stream's set, and those on the way, see its frames. */
static void a_stream_goes_only_where_it_is_needed(void **state)
{
    struct world w;

    (void)state;
    world_open(&w, small_cfg(15, 2));
    world_until(&w, joined, 200);
    world_open_stream(&w, (struct topo_range){9, 10});
    w.to_feed = 200000;
    for (unsigned i = 0; i < 500; i++)
        world_tick(&w);
    assert_int_equal(w.nodes[9].eaten, 200000);
    assert_int_equal(w.nodes[10].eaten, 200000);
    assert_int_equal(ov_node_look(w.nodes[0].node, 1).down_lead, 0);
    for (uint32_t n = 1; n < 15; n++) {
        bool is_on_the_way = n == 1 || n == 4;
        struct ov_node_view view = ov_node_look(w.nodes[n].node, 1);

        if (n == 9 || n == 10)
            continue;
        assert_int_equal(w.nodes[n].eaten, 0);
        /* Nodes 9 and 10 hang below 4, which hangs below 1. */
        assert_int_equal(view.down_head > 0, is_on_the_way);
    }
    say_goodbye(&w);
    world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_tree_joins_and_leaves),
        cmocka_unit_test(stdin_reaches_every_reader),
        cmocka_unit_test(output_arrives_whole),
        cmocka_unit_test(a_flood_delays_a_line_by_a_round),
        cmocka_unit_test(coalescing_costs_an_idle_tree_nothing),
        cmocka_unit_test(inputs_of_a_node_take_turns),
        cmocka_unit_test(a_stuck_reader_is_named_once),
        cmocka_unit_test(a_stuck_sink_stops_the_writers),
        cmocka_unit_test(a_dead_node_is_lost_and_its_children_are_not),
        cmocka_unit_test(silence_is_judged_by_the_heartbeat),
        cmocka_unit_test(a_node_that_was_silent_comes_back),
        cmocka_unit_test(a_pause_of_the_root_is_no_loss),
        cmocka_unit_test(without_a_root_everybody_goes),
        cmocka_unit_test(a_stream_goes_only_where_it_is_needed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
