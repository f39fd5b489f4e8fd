/* One end of a link: its states, its slots, its silence. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/chance.h"
#include "tests/unit/lab.h"

/* --- states */

static jmp_buf panicked;

static void on_panic(const char *file, int line, const char *what)
{
    (void)file;
    (void)line;
    (void)what;
    longjmp(panicked, 1);
}

/* True when a link may move from `from` to `to`; a panic shows that it must
 * not. */
static bool moves(enum ov_link_state from, enum ov_link_state to)
{
    struct ov_link link = {.state = (uint8_t)from};

    ov_panic_set(on_panic);
    if (setjmp(panicked))
        return false;
    ov_link_move(&link, to);
    assert_int_equal(link.state, to);
    return true;
}

/* The whole table: a link opens, joins, is up, and may end from any state. */
static void only_the_moves_of_the_table_are_legal(void **state)
{
    static const char *const legal[OV_LINK_STATES] = {
        [OV_LINK_FREE] = "-x--",    /* may become open */
        [OV_LINK_OPEN] = "x-x-",    /* may become free or joining */
        [OV_LINK_JOINING] = "x--x", /* may become free or up */
        [OV_LINK_UP] = "x---",      /* may become free */
    };

    (void)state;
    for (unsigned from = 0; from < OV_LINK_STATES; from++) {
        for (unsigned to = 0; to < OV_LINK_STATES; to++)
            assert_int_equal(moves(from, to), legal[from][to] == 'x');
    }
}

/* A slot that was used before begins anew, but stays in the node's queue. */
static void an_opened_link_remembers_nothing(void **state)
{
    struct ov_link link;

    (void)state;
    memset(&link, 0xff, sizeof(link));
    link.state = OV_LINK_FREE;
    link.is_queued = true;
    link.next = 5;
    ov_link_open(&link, 7, 3, 42);
    assert_int_equal(link.state, OV_LINK_OPEN);
    assert_int_equal(link.peer, 7);
    assert_int_equal(link.place, 3);
    assert_int_equal(link.heard_ns, 42);
    assert_int_equal(link.spoke_ns, 42);
    assert_int_equal(link.attach, 0);
    assert_int_equal(link.in_flight, 0);
    assert_int_equal(link.data_in_flight, 0);
    assert_int_equal(link.data_bits, 0);
    assert_int_equal(link.refuse, 0);
    assert_true(link.is_queued);
    assert_int_equal(link.next, 5);
}

/* --- slots */

/* Data leaves slots free for messages between neighbours; both end at
 * send_slots. */
static void slots_end_where_the_configuration_says(void **state)
{
    struct ov_cfg cfg = lab_cfg(3, 2);
    struct ov_link link = {0};

    (void)state;
    assert_false(ov_link_can_send(&link, &cfg, false)); /* without free slots */
    ov_link_open(&link, 1, 0, 0);
    for (unsigned i = 0; i < cfg.data_slots; i++) {
        assert_true(ov_link_can_send(&link, &cfg, true));
        ov_link_on_send(&link, true, i);
    }
    assert_int_equal(link.spoke_ns, cfg.data_slots - 1);
    assert_false(ov_link_can_send(&link, &cfg, true));
    for (unsigned i = cfg.data_slots; i < cfg.send_slots; i++) {
        assert_true(ov_link_can_send(&link, &cfg, false));
        ov_link_on_send(&link, false, 0);
    }
    assert_false(ov_link_can_send(&link, &cfg, false));
    assert_false(ov_link_on_sent(&link, cfg.send_slots + 1u));
    assert_int_equal(link.in_flight, cfg.send_slots);
    assert_true(ov_link_on_sent(&link, cfg.send_slots));
    assert_false(ov_link_on_sent(&link, 1));
    assert_true(ov_link_can_send(&link, &cfg, true));
}

/* In whatever order frames are sent, the oldest completes first, and the number
 * of data frames among the others is right. */
static void sends_end_oldest_first(void **state)
{
    struct chance chance = chance_start(4);
    struct ov_cfg cfg = lab_cfg(3, 2);
    bool is_data[OV_SEND_SLOTS_MAX];
    unsigned count = 0, data;
    struct ov_link link = {0};

    (void)state;
    cfg.send_slots = OV_SEND_SLOTS_MAX;
    cfg.data_slots = OV_SEND_SLOTS_MAX - 1;
    ov_link_open(&link, 1, 0, 0);
    for (unsigned i = 0; i < 100000; i++) {
        bool next = chance_is(&chance, 50);

        if (chance_is(&chance, 55) && ov_link_can_send(&link, &cfg, next)) {
            ov_link_on_send(&link, next, i);
            is_data[count++] = next;
        } else {
            unsigned done = chance_in(&chance, 0, count < 4 ? count : 4);

            assert_true(ov_link_on_sent(&link, done));
            count -= done;
            memmove(is_data, is_data + done, count);
        }
        data = 0;
        for (unsigned k = 0; k < count; k++)
            data += is_data[k];
        assert_int_equal(link.in_flight, count);
        assert_int_equal(link.data_in_flight, data);
    }
}

/* --- silence, as the node notices it */

static struct lab lab;

/* Opens a root with this many children, all welcomed at time 0. */
static void open_root(uint32_t children)
{
    struct ov_cfg cfg = lab_cfg(children + 1, children);
    char hello[32];

    lab_open(&lab, cfg, 0);
    seen(&lab, 0, START);
    for (uint32_t n = 1; n <= children; n++) {
        snprintf(hello, sizeof(hello), "hello:%u#1", (unsigned)n);
        seen(&lab, 0, CALLED((uint16_t)(n - 1), n));
        heard(&lab, 0, (uint16_t)(n - 1), hello);
        seen(&lab, 0, SENT((uint16_t)(n - 1), 1));
    }
}

/* Runs all steps that are due at that time; counts how often a word is in the
 * actions. */
static unsigned count_seen(uint64_t ms, const char *word)
{
    unsigned count = 0, rounds = 0;

    do {
        const char *at = seen(&lab, ms, TICK);

        for (; (at = strstr(at, word)) != NULL; at++)
            count++;
        assert_true(++rounds < 1000);
    } while (lab.out->more);
    return count;
}

/* The root sends a beat after every 0.47 of the heartbeat time, not earlier. */
static void an_idle_link_beats_twice_in_the_heartbeat_time(void **state)
{
    (void)state;
    open_root(1);
    assert_int_equal(lab_wake(&lab, 0), 4700);
    assert_string_equal(seen(&lab, 4699, TICK), "");
    assert_string_equal(seen(&lab, 4700, TICK), "send:L0[beat]");
    assert_string_equal(seen(&lab, 4700, TICK), "");
    seen(&lab, 4800, SENT(0, 1));
    assert_string_equal(heard(&lab, 6300, 0, ""), "");
    assert_string_equal(seen(&lab, 9400, TICK), "send:L0[beat]");
    lab_close(&lab);
}

/* A beat goes to the other links, too, whether it was due or answers another
 * one; but not to links on which something was sent a short time before. */
static void a_beat_takes_the_others_along(void **state)
{
    (void)state;
    open_root(3);
    assert_string_equal(heard(&lab, 1600, 1, ""), "");
    assert_string_equal(heard(&lab, 2000, 1, ""),
                        "send:L0[beat] send:L1[beat] send:L2[beat]");
    assert_int_equal(lab_wake(&lab, 2000), 4700);
    for (uint16_t i = 0; i < 3; i++)
        seen(&lab, 2100, SENT(i, 1));
    assert_string_equal(heard(&lab, 3600, 0, ""), "");
    ov_link_on_send(&lab.node->links[2], false, UINT64_C(5200) * LAB_MS_NS);
    assert_string_equal(seen(&lab, 6699, TICK), "");
    assert_string_equal(seen(&lab, 6700, TICK), "send:L0[beat] send:L1[beat]");
    lab_close(&lab);
}

/* Opens node 1, with its parent at link 0 and child 2 at link 1. */
static void open_inner(void)
{
    lab_open(&lab, lab_cfg(3, 1), 1);
    seen(&lab, 0, START);
    seen(&lab, 0, DIALLED(0, 0));
    heard(&lab, 0, 0, "welcome:#1 path:0 limit:4");
    seen(&lab, 0, CALLED(1, 2));
    heard(&lab, 0, 1, "hello:2#1");
    heard(&lab, 0, 0, "answer:2#1");
    seen(&lab, 0, SENT(0, lab.node->links[0].in_flight));
    seen(&lab, 0, SENT(1, lab.node->links[1].in_flight));
}

/* A node with a parent answers the parent's beat, and sends beats to its
 * children; their answers need no answer. */
static void a_child_lets_its_parent_begin(void **state)
{
    (void)state;
    open_inner();
    assert_int_equal(lab_wake(&lab, 0), 4900);
    assert_string_equal(seen(&lab, 4100, TICK), "");
    assert_string_equal(heard(&lab, 4200, 0, ""),
                        "send:L0[beat] send:L1[beat]");
    assert_string_equal(heard(&lab, 4201, 1, ""), "");
    assert_int_equal(lab_wake(&lab, 4201), 4899);
    lab_close(&lab);
}

/* A child sends a beat by itself only when its parent is late, and even then it
 * sends two before the parent takes it for silent. */
static void two_beats_are_due_before_silence(void **state)
{
    (void)state;
    open_inner();
    assert_string_equal(seen(&lab, 4899, TICK), "");
    assert_string_equal(seen(&lab, 4900, TICK), "send:L0[beat] send:L1[beat]");
    seen(&lab, 4900, SENT(0, 1));
    seen(&lab, 4900, SENT(1, 1));
    assert_string_equal(seen(&lab, 9799, TICK), "");
    assert_string_equal(seen(&lab, 9800, TICK), "send:L0[beat] send:L1[beat]");
    lab_close(&lab);
}

/* A node that was held up takes no neighbour for silent, whatever it handles
 * first. */
static void a_new_link_after_a_pause_costs_no_other(void **state)
{
    (void)state;
    open_root(2);
    seen(&lab, 1000, ENDED(1));
    assert_null(strstr(seen(&lab, 12000, CALLED(1, 2)), "close"));
    for (uint64_t ms = 13000; ms <= 21000; ms += 1000)
        assert_null(strstr(seen(&lab, ms, TICK), "close:L0"));
    assert_non_null(strstr(seen(&lab, 22000, TICK), "close:L0"));
    lab_close(&lab);
}

/* Silence for the heartbeat time ends the link; a frame that arrives starts the
 * time again. */
static void a_silent_link_ends_after_the_heartbeat_time(void **state)
{
    (void)state;
    open_root(2);
    for (uint64_t ms = 1000; ms <= 9000; ms += 1000) {
        seen(&lab, ms, TICK);
        if (ms == 5000) {
            seen(&lab, ms, SENT(0, 1));
            seen(&lab, ms, SENT(1, 1));
        }
        if (ms == 5000)
            heard(&lab, ms, 1, "");
    }
    assert_string_equal(seen(&lab, 9999, TICK), "send:L0[beat] send:L1[beat]");
    assert_string_equal(seen(&lab, 10000, TICK), "close:L0");
    count_seen(13000, "close");
    assert_string_equal(seen(&lab, 15000, TICK), "close:L1");
    assert_true(lab.node->links_ns == OV_NEVER);
    lab_close(&lab);
}

/* No beat is sent on a link whose transport takes nothing more. */
static void a_full_link_gets_no_beat(void **state)
{
    (void)state;
    open_root(1);
    for (unsigned i = 0; i < lab.cfg.send_slots; i++)
        ov_link_on_send(&lab.node->links[0], false, 0);
    assert_string_equal(seen(&lab, 4700, TICK), "");
    assert_true(lab_wake(&lab, 4700) > 0); /* the timer does not fire again and
                                            * again */
    lab_close(&lab);
}

/* Three hundred children send beats, fall silent and are looked for, all at
 * once: more than one step can send, and yet everything is sent. */
static void many_links_end_at_the_same_moment(void **state)
{
    (void)state;
    open_root(300);
    assert_int_equal(count_seen(4700, "[beat]"), 300);
    assert_int_equal(count_seen(9400, "[beat]"), 300);
    assert_int_equal(count_seen(9900, "close"), 0);
    assert_int_equal(count_seen(10000, "close"), 300);
    assert_int_equal(count_seen(10000, "lost"), 0);
    assert_int_equal(ov_node_look(lab.node, 0).children, 0);
    assert_true(lab.node->links_ns == OV_NEVER);
    assert_int_equal(lab_wake(&lab, 10000), 500);
    assert_int_equal(count_seen(10500, "probe:"), 300);
    assert_int_equal(lab_wake(&lab, 10500), 2500);
    lab_close(&lab);
}

/* A process that was stopped for a minute ends no link to its children, few or
 * many; after that the time counts as before. */
static void a_late_loop_blames_nobody(void **state)
{
    static const uint32_t counts[] = {1, 300};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        open_root(counts[i]);
        assert_int_equal(count_seen(60000, "close"), 0);
        assert_int_equal(count_seen(64000, "close"), 0);
        assert_int_equal(count_seen(68000, "close"), 0);
        assert_int_equal(count_seen(69999, "close"), 0);
        assert_int_equal(count_seen(70000, "close"), counts[i]);
        lab_close(&lab);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_the_moves_of_the_table_are_legal),
        cmocka_unit_test(an_opened_link_remembers_nothing),
        cmocka_unit_test(slots_end_where_the_configuration_says),
        cmocka_unit_test(sends_end_oldest_first),
        cmocka_unit_test(an_idle_link_beats_twice_in_the_heartbeat_time),
        cmocka_unit_test(a_beat_takes_the_others_along),
        cmocka_unit_test(a_child_lets_its_parent_begin),
        cmocka_unit_test(two_beats_are_due_before_silence),
        cmocka_unit_test(a_new_link_after_a_pause_costs_no_other),
        cmocka_unit_test(a_silent_link_ends_after_the_heartbeat_time),
        cmocka_unit_test(a_full_link_gets_no_beat),
        cmocka_unit_test(many_links_end_at_the_same_moment),
        cmocka_unit_test(a_late_loop_blames_nobody),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
