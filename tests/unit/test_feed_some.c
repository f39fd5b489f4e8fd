/* Frames for some targets: each target gets its own bytes, in order, from
 * memory or from a file, and the number of the launcher's bytes that it took is
 * known.
 *
 * The expected result is a list of bytes for each target, written as the frames
 * are pushed; that list knows nothing of frames.
 */
#include "config.h"

#include "endpoints/daemon/feed.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <event2/event.h>

#include "endpoints/sys/writer.h"
#include "overlay/wire/push.h"
#include "tests/unit/hose.h"
#include "tests/unit/rig.h"

enum {
    TARGETS = 6,
    WINDOW = 8,
    WANT_MAX = 16 << 20,
    FRAME_MAX = 20000,
};

/* The bytes that a target should get, and those it has got. */
struct want {
    uint8_t *mem;  /* owned */
    uint8_t *kind; /* owned: for each byte, 1 when it was pushed by a client */
    size_t len, seen;
    size_t own_seen;
    bool is_closed, is_at_end;
};

struct some {
    struct hose *hose;
    struct ep_writer *writer;
    struct want want[TARGETS];
    uint64_t frames;
    uint8_t next;
};

static int open_slow(void **state, enum job_slow_policy policy, bool is_shared)
{
    struct some *some = calloc(1, sizeof(*some));
    struct ep_feed_slow slow = {.policy = policy,
                                .is_shared = is_shared,
                                .unread_ms = 1000000,
                                .window_frames = WINDOW,
                                .after_ms = 1,
                                .spill_bytes = 64 << 20,
                                .spill_dir = getenv("TMPDIR")};
    void *hose;

    assert_non_null(some);
    hose_setup(&hose);
    some->hose = hose;
    assert_int_equal(ep_writer_open(some->hose->base, &some->writer), 0);
    slow.writer = some->writer;
    assert_int_equal(ep_feed_slow(some->hose->feed, &slow), 0);
    for (uint32_t i = 0; i < TARGETS; i++) {
        assert_int_equal(hose_add(some->hose, i), 0);
        some->want[i].mem = malloc(WANT_MAX);
        some->want[i].kind = malloc(WANT_MAX);
        assert_non_null(some->want[i].mem);
        assert_non_null(some->want[i].kind);
    }
    *state = some;
    return 0;
}

static int waiting(void **state)
{
    return open_slow(state, JOB_SLOW_WAIT, false);
}

static int spilling(void **state)
{
    return open_slow(state, JOB_SLOW_SPILL, false);
}

static int spilling_in_shared(void **state)
{
    return open_slow(state, JOB_SLOW_SPILL, true);
}

static int teardown(void **state)
{
    struct some *some = *state;
    void *hose = some->hose;

    ep_feed_close(some->hose->feed);
    some->hose->feed = NULL;
    ep_writer_close(some->writer, true);
    hose_teardown(&hose);
    for (uint32_t i = 0; i < TARGETS; i++) {
        free(some->want[i].mem);
        free(some->want[i].kind);
    }
    free(some);
    return 0;
}

/* --- the expected result */

static void expect(struct some *some, uint32_t target, const uint8_t *mem,
                   size_t len, bool is_pushed)
{
    struct want *want = &some->want[target];

    if (want->is_closed)
        return;
    assert_true(want->len + len <= WANT_MAX);
    memcpy(want->mem + want->len, mem, len);
    memset(want->kind + want->len, is_pushed, len);
    want->len += len;
}

static void drink(struct some *some, uint32_t target, size_t most)
{
    static uint8_t got[FRAME_MAX];
    struct want *want = &some->want[target];

    while (most > 0 && !want->is_at_end) {
        ssize_t n = read(some->hose->readers[target].fd, got,
                         most < sizeof(got) ? most : sizeof(got));

        if (n < 0) {
            assert_int_equal(errno, EAGAIN);
            return;
        }
        want->is_at_end = n == 0;
        assert_true(want->seen + (size_t)n <= want->len);
        assert_memory_equal(got, want->mem + want->seen, (size_t)n);
        for (size_t i = want->seen; i < want->seen + (size_t)n; i++)
            want->own_seen += want->kind[i] == 0;
        want->seen += (size_t)n;
        most -= (size_t)n;
    }
}

/* --- pushing */

static void fill(struct some *some, uint8_t *mem, size_t len)
{
    for (size_t i = 0; i < len; i++)
        mem[i] = some->next++;
    some->next += 7; /* each frame differs from the one before */
}

static void push_all(struct some *some, uint32_t len)
{
    uint8_t mem[FRAME_MAX];

    fill(some, mem, len);
    for (uint32_t i = 0; i < TARGETS; i++)
        expect(some, i, mem, len, false);
    assert_int_equal(hose_push_mem(some->hose, mem, len, false), 0);
    some->frames++;
}

static void message(struct some *some, uint16_t flags,
                    const struct topo_range *range, uint16_t ranges,
                    const uint8_t *bytes, uint32_t len)
{
    static uint8_t mem[FRAME_MAX + 1024];
    struct ov_wr wr = ov_wr_init(mem, sizeof(mem));

    ov_push_encode(&wr, flags, range, ranges);
    ov_wr_bytes(&wr, bytes, len);
    assert_false(wr.bad);
    assert_int_equal(
        hose_push_mem(some->hose, mem, (uint32_t)(wr.at - mem), true), 0);
    some->frames++;
}

/* Pushes to the targets whose bits are set; with `in_two` they are named in two
 * messages. */
static void push_some(struct some *some, unsigned mask, uint32_t len,
                      bool closes, bool in_two)
{
    struct topo_range range[TARGETS];
    uint8_t mem[FRAME_MAX];
    uint16_t ranges = 0, flags = OV_PUSH_NEW, begun = 0;

    fill(some, mem, len);
    for (uint32_t i = 0; i < TARGETS; i++) {
        if ((mask >> i & 1) == 0)
            continue;
        range[ranges++] = (struct topo_range){i, i};
        expect(some, i, mem, len, true);
        some->want[i].is_closed |= closes;
    }
    if (in_two && ranges > 1) {
        begun = 1;
        message(some, OV_PUSH_NEW | OV_PUSH_MORE, range, 1, mem, 0);
        flags = 0;
    }
    if (closes)
        flags |= OV_PUSH_CLOSE;
    message(some, flags, range + begun, (uint16_t)(ranges - begun), mem, len);
}

static uint64_t limit_ns(void)
{
    return rig_now_ns() + RIG_LIMIT_S * UINT64_C(1000000000);
}

static void drink_up(struct some *some)
{
    const uint64_t until_ns = limit_ns();

    while (rig_now_ns() < until_ns) {
        bool is_all = some->hose->consumed == some->frames;

        event_base_loop(some->hose->base, EVLOOP_NONBLOCK);
        for (uint32_t t = 0; t < TARGETS; t++) {
            drink(some, t, SIZE_MAX);
            is_all &= some->want[t].seen == some->want[t].len &&
                      some->want[t].is_at_end == some->want[t].is_closed;
        }
        if (is_all)
            return;
    }
    fail_msg("not all of it comes");
}

/* --- tests */

static void each_gets_what_is_for_it(void **state)
{
    struct some *some = *state;

    push_all(some, 10);
    push_some(some, 0x05, 100, false, false);
    push_some(some, 0x06, 100, false, true);
    push_all(some, 1000);
    push_some(some, 0x00, 100, false, false); /* no target of this node */
    message(some, 0, NULL, 0, NULL, 0);       /* the message names the same set
                                               * again, without bytes */
    push_some(some, 0x3f, 100, false, true);
    drink_up(some);
    for (uint32_t i = 0; i < TARGETS; i++)
        assert_int_equal(ep_feed_taken(some->hose->feed, i), 1010);
}

static void the_same_targets_are_named_once(void **state)
{
    struct some *some = *state;
    uint8_t mem[50] = "the same targets, named in the message before this";

    push_some(some, 0x12, 100, false, true);
    push_all(some, 10);
    message(some, 0, NULL, 0, mem, sizeof(mem));
    expect(some, 1, mem, sizeof(mem), true);
    expect(some, 4, mem, sizeof(mem), true);
    drink_up(some);
}

static void a_close_is_for_its_targets_alone(void **state)
{
    struct some *some = *state;

    push_some(some, 0x03, 100, true, false);
    push_all(some, 500);
    push_some(some, 0x04, 0, true, false);
    push_some(some, 0x3f, 200, false, false);
    drink_up(some);
    assert_true(some->want[0].is_at_end);
    assert_true(some->want[2].is_at_end);
    assert_false(some->want[3].is_at_end);
    assert_int_equal(some->want[0].len, 100);
    assert_int_equal(some->want[2].len, 500);
    assert_int_equal(ep_feed_taken(some->hose->feed, 0), 0);
    assert_int_equal(ep_feed_taken(some->hose->feed, 2), 500);
}

/* The bytes in the pipe are the newest; of the launcher's bytes only those
 * count that the target took. */
static void pushed_bytes_are_not_the_launchers(void **state)
{
    struct some *some = *state;

    push_all(some, 1000);
    push_some(some, 0x01, 300, false, false);
    push_all(some, 1000);
    push_some(some, 0x01, 300, false, false);
    hose_settle(some->hose);
    assert_int_equal(ep_feed_taken(some->hose->feed, 0), 0);
    drink(some, 0, 900);
    assert_int_equal(ep_feed_taken(some->hose->feed, 0), 900);
    drink(some, 0, 300);
    assert_int_equal(ep_feed_taken(some->hose->feed, 0), 1000);
    drink(some, 0, 200);
    assert_int_equal(ep_feed_taken(some->hose->feed, 0), 1100);
    drink(some, 0, SIZE_MAX);
    assert_int_equal(ep_feed_taken(some->hose->feed, 0), 2000);
}

/* Messages that name no target, or are not valid, take a frame like others. */
static void what_is_no_message_is_for_nobody(void **state)
{
    struct some *some = *state;
    uint8_t junk[] = {0xff, 0xff, 0xff};

    message(some, 0, NULL, 0, junk, sizeof(junk)); /* no set was named before */
    assert_int_equal(hose_push_mem(some->hose, junk, sizeof(junk), true), 0);
    some->frames++;
    push_some(some, 0x01, 10, false, false);
    drink_up(some);
}

/* Lets targets 0 and 2 read until there is room in the window. */
static void make_room(struct some *some, uint64_t until_ns)
{
    while (some->hose->consumed + WINDOW <= some->frames) {
        assert_true(rig_now_ns() < until_ns);
        event_base_loop(some->hose->base, EVLOOP_NONBLOCK);
        drink(some, 0, SIZE_MAX);
        drink(some, 2, SIZE_MAX);
    }
}

/* One target does not read, and all others go on; the window is never
 * exceeded. */
static void a_slow_one_gets_its_own_from_the_file(void **state)
{
    struct some *some = *state;
    const uint64_t until_ns = limit_ns();

    for (unsigned i = 0; i < 400; i++) {
        push_some(some, i % 3 == 0 ? 0x03 : 0x06, 20000, false, i % 5 == 0);
        make_room(some, until_ns);
    }
    push_some(some, 0x02, 77, true, false);
    assert_int_equal(some->want[1].seen, 0);
    drink_up(some);
    assert_true(some->want[1].is_at_end);
}

/* However often a set is named, the record of which bytes belong to which sets
 * does not fill up. */
static void the_same_set_may_be_named_many_times(void **state)
{
    struct some *some = *state;
    const uint64_t until_ns = limit_ns();

    for (unsigned i = 0; i < 3000; i++) {
        push_some(some, 0x07, 2000, false, i % 2 == 0);
        make_room(some, until_ns);
    }
    assert_int_equal(some->hose->slow_told, 0);
    drink_up(some);
}

/* Before a target reads, no further frames are to come. */
static void who_is_behind_by_many_sets_is_told(void **state)
{
    struct some *some = *state;
    const uint64_t until_ns = limit_ns();

    while (some->hose->slow_told == 0) {
        push_some(some, some->frames % 2 == 0 ? 0x02 : 0x03, 2000, false,
                  false);
        make_room(some, until_ns);
    }
    assert_int_equal(some->hose->slow_what, JOB_STDIN_BEHIND);
    assert_int_equal(some->hose->slow_proc, 1);
    assert_in_range(some->frames, 512, 1024);
    drink_up(some);
    assert_int_equal(some->hose->slow_what, JOB_STDIN_FREE);
}

static void random_step(struct some *some)
{
    uint32_t target = (uint32_t)rand() % TARGETS;
    uint32_t len = rand() % 4 == 0 ? 0 : (uint32_t)rand() % FRAME_MAX;
    int dice = rand() % 100;

    event_base_loop(some->hose->base, EVLOOP_NONBLOCK);
    if (dice >= 50) {
        drink(some, target, (size_t)rand() % 50000);
    } else if (some->frames - some->hose->consumed >= WINDOW) {
        return;
    } else if (dice < 15) {
        push_all(some, len);
    } else {
        push_some(some, (unsigned)rand() % 64, len, rand() % 300 == 0,
                  rand() % 3 == 0);
    }
}

static void random_pushes_arrive_as_they_were_made(void **state)
{
    struct some *some = *state;
    const char *given = getenv("XYLEM_TEST_SEED");
    unsigned seed =
        given != NULL ? (unsigned)strtoul(given, NULL, 10) : 20261122;

    print_message("seed %u (XYLEM_TEST_SEED chooses another)\n", seed);
    srand(seed);
    for (unsigned i = 0; i < 3000; i++)
        random_step(some);
    drink_up(some);
    for (uint32_t i = 0; i < TARGETS; i++)
        assert_int_equal(ep_feed_taken(some->hose->feed, i),
                         some->want[i].own_seen);
}

#define SOME_TEST(name, policy)                                                \
    cmocka_unit_test_setup_teardown(name, policy, teardown)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        SOME_TEST(each_gets_what_is_for_it, waiting),
        SOME_TEST(the_same_targets_are_named_once, waiting),
        SOME_TEST(a_close_is_for_its_targets_alone, waiting),
        SOME_TEST(pushed_bytes_are_not_the_launchers, waiting),
        SOME_TEST(what_is_no_message_is_for_nobody, waiting),
        SOME_TEST(a_slow_one_gets_its_own_from_the_file, spilling),
        SOME_TEST(the_same_set_may_be_named_many_times, spilling),
        SOME_TEST(who_is_behind_by_many_sets_is_told, spilling_in_shared),
        SOME_TEST(random_pushes_arrive_as_they_were_made, waiting),
        SOME_TEST(random_pushes_arrive_as_they_were_made, spilling),
        SOME_TEST(random_pushes_arrive_as_they_were_made, spilling_in_shared),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
