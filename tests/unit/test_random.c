/* The whole core in random little worlds.
 *
 * Trees of all shapes have random sizes and windows. Links break and nodes die
 * at any time, and nodes that hung on them find another parent. Nodes write and
 * read, stop and go on, and fall silent for a while. Messages take random
 * times, each link in order; timers come early and for nothing. A judge holds
 * every step to the bounds. At the end every byte of the living must have
 * arrived once, in order, only the dead are lost, and every buffer must have
 * come back. SEED=n runs one world alone.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/judge.h"

enum {
    WORLDS = 300,
    TICKS_MAX = 60000,
    NODES_MAX = 60,
    PLACES_MAX = NODES_MAX + 2
};

/* The events that happen in a world besides its own run. */
struct plot {
    uint32_t stop;   /* chance in 1000 per tick that something stops */
    uint32_t start;  /* chance that something goes on */
    uint32_t write;  /* chance that a process writes */
    uint32_t writes; /* how many writes are left */
    uint32_t cut;    /* chance that a link breaks */
    uint32_t cuts;   /* how many breaks are left */
    uint32_t kill;   /* chance that a node dies */
    uint32_t kills;  /* how many deaths are left */
    uint32_t tell;   /* chance that the root sends all nodes a message */
    uint32_t tells;  /* how many messages are left */
    uint32_t told;
    bool is_opened;
};

static struct world w;
static struct plot plot;
static uint64_t seed;

static uint16_t some(uint32_t low, uint32_t high)
{
    return (uint16_t)chance_in(&w.chance, low, high);
}

static struct ov_cfg random_cfg(struct chance *chance)
{
    struct topo_tree plan = {.nodes = chance_in(chance, 2, NODES_MAX),
                             .arity = chance_in(chance, 1, 6)};
    struct ov_cfg cfg = ov_cfg_default(plan);
    bool is_tight = chance_is(chance, 30);

    w.chance = *chance;
    cfg.frame_bytes = is_tight ? 4096 : some(4096, 12000);
    cfg.up_window_bytes = cfg.frame_bytes + OV_RESERVE_BYTES +
                          (is_tight ? 0 : chance_in(&w.chance, 0, 60000));
    cfg.kept_max = is_tight ? OV_KEPT_RESERVE + 1 : some(5, 100);
    cfg.batch_pieces = some(1, OV_PIECES_MAX);
    cfg.up_frames = is_tight ? 1 : some(1, 6);
    cfg.down_frames = is_tight ? 2 : some(2, 20);
    cfg.control_frames = some(2, 6);
    cfg.send_slots = some(2, 10);
    cfg.data_slots = some(1, cfg.send_slots - 1u);
    cfg.records_max = is_tight ? 1 : some(1, 200);
    *chance = w.chance;
    return cfg;
}

static void open_random(uint64_t from)
{
    struct chance chance = chance_from(from);
    struct ov_cfg cfg = random_cfg(&chance);

    seed = from;
    world_open(&w, cfg);
    judge_open(&w);
    w.chance = chance;
    w.delay_max = chance_is(&chance, 20) ? 0 : some(1, 12);
    w.spurious = chance_is(&chance, 50) ? 0 : some(1, 30);
    w.cut = some(0, 60);
    plot = (struct plot){
        .stop = some(0, 60),
        .start = some(10, 100),
        .write = some(5, 200),
        .writes = some(0, 3 * cfg.plan.nodes),
        .tell = some(20, 500),
        .tells = some(0, 20),
        .cut = chance_is(&w.chance, 50) ? 0 : some(1, 400),
        .cuts = some(1, 40),
        .kill = chance_is(&w.chance, 60) ? 0 : some(1, 100),
        .kills = some(1, 1 + cfg.plan.nodes / 4),
    };
}

static bool has_room(struct world *world)
{
    return ov_node_down_room(world->nodes[0].node, 0) > 0;
}

/* Picks a living node; nodes die only as long as there are others. */
static uint32_t some_node(void)
{
    uint32_t n;

    do {
        n = chance_in(&w.chance, 1, w.cfg.plan.nodes - 1);
    } while (w.nodes[n].is_dead);
    return n;
}

static bool happens(uint32_t per_mille)
{
    return chance_in(&w.chance, 0, 999) < per_mille;
}

static void go_on(void)
{
    w.sink_is_stuck = false;
    for (uint32_t n = 0; n < w.cfg.plan.nodes; n++) {
        if (w.nodes[n].is_dead)
            continue;
        if (w.nodes[n].is_stuck)
            world_unstick(&w, n);
        w.nodes[n].is_frozen = false;
    }
}

static void write_some(void)
{
    uint32_t n = some_node();
    uint32_t line = chance_is(&w.chance, 70) ? some(1, 120) : some(1, 2048);

    /* Each node has one line length, so that its lines can be told by their
     * number. */
    if (w.nodes[n].line != 0)
        line = w.nodes[n].line;
    if (line > w.cfg.frame_bytes / 2)
        line = w.cfg.frame_bytes / 2;
    world_write(&w, n, line * (uint64_t)some(1, 1 + 12000 / line), line);
    plot.writes--;
}

static void open_stream(void)
{
    uint32_t a = some_node(), b = some_node();

    world_open_stream(&w, (struct topo_range){a < b ? a : b, a < b ? b : a});
    w.to_feed = chance_is(&w.chance, 80) ? some(0, 60000) : 0;
    w.feed_ends = chance_is(&w.chance, 70);
    plot.is_opened = true;
}

/* Breaks a link, welcome or not; one end is told first. */
static void cut_some(void)
{
    uint32_t n = some_node();
    uint16_t link = w.nodes[n].node->tree.parent;
    const struct world_wire *wire;

    if (link == OV_NO_LINK || !world_wire(&w, n, link)->is_up)
        return;
    wire = world_wire(&w, n, link);
    if (chance_is(&w.chance, 50))
        world_break(&w, n, link);
    else
        world_break(&w, wire->peer, wire->peer_link);
    plot.cuts--;
}

/* Kills a node, unless it is the last that lives. */
static void kill_some(void)
{
    uint32_t alive = 0;

    for (uint32_t n = 1; n < w.cfg.plan.nodes; n++)
        alive += !w.nodes[n].is_dead;
    if (alive > 1)
        world_kill(&w, some_node());
    plot.kills--;
}

/* What the places and the asks of a node say about its members. */
struct tally {
    uint32_t members[PLACES_MAX]; /* by place: how many members the place has */
    uint32_t asks[PLACES_MAX];
    uint16_t claims[NODES_MAX]; /* by node: how many places and asks claim the
                                 * node */
};

static void tally_cells(const struct ov_claims *claims,
                        const struct ov_cell_list *list, struct tally *tally)
{
    for (uint32_t at = list->first; at != OV_NONE; at = claims->cells[at].next)
        tally->claims[claims->cells[at].node]++;
}

static void tally_asks(const struct ov_claims *claims, struct tally *tally)
{
    for (uint32_t i = 0; claims != NULL && i < claims->asks_used; i++) {
        const struct ov_ask *ask = &claims->asks[i];

        if (ask->state == OV_ASK_FREE)
            continue;
        tally->asks[ask->place]++;
        tally->claims[ask->node]++;
        tally_cells(claims, &ask->claimed, tally);
        tally_cells(claims, &ask->stripped, tally);
    }
}

/* Checks that the counts of places and members equal the number of references
 * to them. */
static void check_members(const struct ov_tree *tree)
{
    struct tally tally;

    assert_true(tree->places_used <= PLACES_MAX);
    memset(&tally, 0, sizeof(tally));
    tally_asks(tree->claims, &tally);
    for (uint32_t i = 0; tree->members.room > 0 && i <= tree->members.mask;
         i++) {
        const struct ov_member *member = &tree->members.table[i];

        if (member->node == TOPO_NONE)
            continue;
        assert_int_equal(member->asks, tally.claims[member->node]);
        assert_int_equal(member->state == OV_MEMBER_CONFIRMED,
                         member->place != OV_NO_PLACE);
        if (member->place == OV_NO_PLACE)
            continue;
        assert_true(member->place < tree->places_used);
        tally.members[member->place]++;
    }
    for (uint16_t i = 0; i < tree->places_used; i++) {
        const struct ov_place *place = &tree->places[i];
        bool is_free = place->kind == OV_PLACE_FREE;

        assert_int_equal(tally.members[i], is_free ? 0 : place->members);
        assert_int_equal(tally.asks[i], is_free ? 0 : place->asks);
    }
}

static void join_all(void)
{
    unsigned ticks = 0;

    while (!w.is_joined) {
        assert_true(ticks++ < TICKS_MAX);
        if (plot.cuts > 0 && happens(plot.cut))
            cut_some();
        world_tick(&w);
        for (uint32_t n = ticks % 8; n < w.cfg.plan.nodes; n += 8)
            check_members(&w.nodes[n].node->tree);
    }
}

static void plot_on(void)
{
    if (plot.cuts > 0 && happens(plot.cut))
        cut_some();
    if (plot.kills > 0 && happens(plot.kill))
        kill_some();
    if (happens(plot.stop)) {
        switch (chance_in(&w.chance, 0, 2)) {
        case 0:
            w.sink_is_stuck = true;
            break;
        case 1:
            w.nodes[some_node()].is_stuck = true;
            break;
        default:
            w.nodes[some_node()].is_frozen = true;
            break;
        }
    }
    if (happens(plot.start))
        go_on();
    if (plot.writes > 0 && happens(plot.write))
        write_some();
    if (has_room(&w) && plot.tells > 0 && happens(plot.tell)) {
        world_control(&w, OV_CONTROL_APP);
        plot.told++;
        plot.tells--;
    }
    if (has_room(&w) && !plot.is_opened && happens(plot.tell))
        open_stream();
}

/* True when everything is read, and the root knows it. */
static bool all_read(void)
{
    struct ov_node_view view = ov_node_look(w.nodes[0].node, 1);

    return w.to_feed == 0 && (!w.feed_ends || w.feed_ended) &&
           view.down_base == view.down_head;
}

static bool all_told(void)
{
    struct ov_node_view view = ov_node_look(w.nodes[0].node, 0);

    return plot.tells == 0 && view.down_base == view.down_head;
}

static bool all_written(void)
{
    for (uint32_t n = 1; n < w.cfg.plan.nodes; n++) {
        const struct world_node *me = &w.nodes[n];

        if (!me->is_dead && (me->got < me->written || me->to_write > 0))
            return false;
    }
    return plot.writes == 0;
}

static bool all_final(struct world *world)
{
    for (uint32_t n = 1; n < world->cfg.plan.nodes; n++) {
        if (!world->nodes[n].is_dead && !world->nodes[n].is_final)
            return false;
    }
    return true;
}

static bool all_left(struct world *world)
{
    for (uint32_t n = 0; n < world->cfg.plan.nodes; n++) {
        if (!world->nodes[n].is_dead && !world->nodes[n].has_left)
            return false;
    }
    return true;
}

static void check_bytes(void)
{
    for (uint32_t n = 1; n < w.cfg.plan.nodes; n++) {
        const struct world_node *me = &w.nodes[n];
        bool reads = n >= w.readers.first && n <= w.readers.last;

        assert_int_equal(me->end, 0);
        if (me->is_dead) {
            assert_true(me->got <= me->written);
            continue;
        }
        assert_int_equal(me->eaten, reads ? w.fed : 0);
        assert_true(me->eaten_sum == (reads ? w.fed_sum : 0));
        assert_int_equal(me->got, me->written);
        assert_true(me->got_sum == me->wrote_sum);
        assert_int_equal(me->controls, plot.told);
        assert_false(me->is_lost);
    }
}

static void live(void)
{
    unsigned ticks = 0;

    join_all();
    while (!plot.is_opened || !all_read() || !all_told() || !all_written()) {
        assert_true(ticks++ < TICKS_MAX);
        plot_on();
        world_tick(&w);
    }
    go_on();
    for (uint32_t n = 1; n < w.cfg.plan.nodes; n++) {
        if (!w.nodes[n].is_dead)
            world_final(&w, n);
    }
    world_until(&w, all_final, TICKS_MAX);
    check_bytes();
    world_until(&w, has_room, TICKS_MAX);
    world_control(&w, OV_CONTROL_GOODBYE);
    world_until(&w, all_left, TICKS_MAX);
    check_bytes();
    for (uint32_t n = 1; n < w.cfg.plan.nodes; n++)
        assert_int_equal(w.nodes[n].is_lost, w.nodes[n].is_dead);
}

static void one_world(uint64_t from)
{
    open_random(from);
    live();
    judge_close(&w);
    world_close(&w);
}

/* The head of the file describes this test. */
static void random_worlds_keep_all_rules(void **state)
{
    uint64_t only;

    (void)state;
    if (chance_given(&only)) {
        one_world(only);
        return;
    }
    for (uint64_t from = 1; from <= WORLDS; from++)
        one_world(from);
}

/* Prints the seed. cmocka leaves a failed test by a jump, so the seed is
 * printed here. */
static int tell_seed(void **state)
{
    (void)state;
    printf("last world: SEED=%" PRIu64 ", %" PRIu32 " nodes, arity %" PRIu32
           ", %" PRIu64 " ms\n",
           seed, w.cfg.plan.nodes, w.cfg.plan.arity, w.now_ns / WORLD_TICK_NS);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(random_worlds_keep_all_rules, tell_seed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
