/* A backlog gives back what was appended, from anywhere, out of a small file.
 */
#include "config.h"

#include "endpoints/daemon/backlog.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "endpoints/sys/spool_file.h"
#include "endpoints/sys/writer.h"
#include "tests/unit/rig.h"
#include "tests/unit/spill_file.h"

enum {
    SEGMENT = EP_BACKLOG_SEGMENT_BYTES,
    PIECE_MAX = 128 * 1024,
    LIMIT = 5 * SEGMENT,
};

struct fixture {
    struct event_base *base;
    struct ep_writer *writer;
    struct ep_backlog *log;
    unsigned saves, fetches;
    int save_err, fetch_err;
    uint64_t first, end;    /* what it holds */
    uint64_t fetched_bytes; /* of the last fetch, compared already */
    uint64_t fetch_pos;
    uint8_t pieces[EP_BACKLOG_PIECES_MAX][PIECE_MAX];
};

/* The byte at a position: no two segments look alike. */
static uint8_t byte_at(uint64_t pos)
{
    return (uint8_t)(pos ^ pos >> 8 ^ pos >> 15 ^ pos >> 21);
}

static void on_saved(void *arg, int err)
{
    struct fixture *fx = arg;

    fx->saves++;
    fx->save_err = err;
}

static void on_fetched(void *arg, const uint8_t *mem, uint32_t len_bytes,
                       int err)
{
    struct fixture *fx = arg;

    fx->fetches++;
    fx->fetch_err = err;
    fx->fetched_bytes = len_bytes;
    for (uint32_t i = 0; err == 0 && i < len_bytes; i++)
        assert_int_equal(mem[i], byte_at(fx->fetch_pos + i));
}

static int setup(void **state)
{
    static const struct ep_backlog_events events = {.on_saved = on_saved,
                                                    .on_fetched = on_fetched};
    struct fixture *fx = calloc(1, sizeof(*fx));
    struct ep_backlog_cfg cfg = {.limit_bytes = LIMIT,
                                 .dir = getenv("TMPDIR"),
                                 .events = &events,
                                 .arg = fx};

    fx->base = event_base_new();
    assert_int_equal(ep_writer_open(fx->base, &fx->writer), 0);
    cfg.writer = fx->writer;
    assert_int_equal(ep_backlog_open(&cfg, &fx->log), 0);
    *state = fx;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *fx = *state;

    assert_true(ep_backlog_close(fx->log));
    ep_writer_close(fx->writer, true);
    event_base_free(fx->base);
    assert_int_equal(spill_file_bytes(), -1);
    free(fx);
    return 0;
}

/* Appends n pieces and waits for it. Returns its errno. */
static int append(struct fixture *fx, const uint32_t *len, unsigned n)
{
    struct iovec iov[EP_BACKLOG_PIECES_MAX];
    uint64_t pos = fx->end;

    for (unsigned i = 0; i < n; i++) {
        iov[i].iov_base = fx->pieces[i];
        iov[i].iov_len = len[i];
        for (uint32_t k = 0; k < len[i]; k++)
            fx->pieces[i][k] = byte_at(pos++);
    }
    assert_int_equal(ep_backlog_append(fx->log, iov, n), 0);
    rig_run_until(fx->base, &fx->saves, fx->saves + 1);
    if (fx->save_err == 0)
        fx->end = pos;
    return fx->save_err;
}

static int append_one(struct fixture *fx, uint32_t len)
{
    return append(fx, &len, 1);
}

static void fetch(struct fixture *fx, uint64_t pos, uint32_t len)
{
    fx->fetch_pos = pos;
    assert_int_equal(ep_backlog_fetch(fx->log, pos, len), 0);
    rig_run_until(fx->base, &fx->fetches, fx->fetches + 1);
    assert_int_equal(fx->fetch_err, 0);
    assert_in_range(fx->fetched_bytes, 1, len);
}

static void start(struct fixture *fx, uint64_t pos)
{
    ep_backlog_start(fx->log, pos);
    fx->first = pos;
    fx->end = pos;
}

static void random_append(struct fixture *fx, uint64_t *seed)
{
    uint32_t len[EP_BACKLOG_PIECES_MAX];
    unsigned n = 1 + rig_random(seed) % EP_BACKLOG_PIECES_MAX;
    uint64_t room = ep_backlog_room(fx->log);
    unsigned fit = 0;

    for (; fit < n && room > 0; fit++) {
        len[fit] = 1 + rig_random(seed) % PIECE_MAX;
        if (len[fit] > room)
            len[fit] = (uint32_t)room;
        room -= len[fit];
    }
    if (fit > 0)
        assert_int_equal(append(fx, len, fit), 0);
    assert_int_equal(ep_backlog_room(fx->log), room);
}

static void random_step(struct fixture *fx, uint64_t *seed)
{
    uint64_t held = fx->end - fx->first;
    uint32_t dice = rig_random(seed) % 100;

    if (dice < 40) {
        random_append(fx, seed);
    } else if (dice < 70 && held > 0) {
        fetch(fx, fx->first + rig_random(seed) % held,
              1 + rig_random(seed) % (2 * EP_BACKLOG_READ_MAX));
    } else if (dice < 98 && held > 0) {
        fx->first += rig_random(seed) % (held + 1);
        ep_backlog_forget(fx->log, fx->first);
    } else if (dice == 99) {
        start(fx, rig_random(seed));
    }
    assert_in_range(spill_file_bytes() + 1, 0, LIMIT + 1);
}

/* Any order of appending, reading and forgetting, within the limit. */
static void what_was_appended_is_read(void **state)
{
    const char *given = getenv("XYLEM_TEST_SEED");
    uint64_t seed = given != NULL ? strtoull(given, NULL, 10) : 20261121;

    print_message("seed %llu (XYLEM_TEST_SEED chooses another)\n",
                  (unsigned long long)seed);
    start(*state, 12345);
    for (unsigned i = 0; i < 3000; i++)
        random_step(*state, &seed);
}

/* A hundred segments go through a file that never has more than three. */
static void the_file_is_as_large_as_what_was_held(void **state)
{
    struct fixture *fx = *state;

    start(fx, 0);
    while (fx->end < UINT64_C(100) * SEGMENT) {
        assert_int_equal(append_one(fx, PIECE_MAX), 0);
        if (fx->end > SEGMENT)
            fx->first = fx->end - SEGMENT;
        ep_backlog_forget(fx->log, fx->first);
        fetch(fx, fx->first, EP_BACKLOG_READ_MAX);
        assert_in_range(spill_file_bytes(), 1, 3 * SEGMENT);
    }
}

static void nothing_held_is_an_empty_file(void **state)
{
    struct fixture *fx = *state;

    start(fx, 0);
    assert_int_equal(append_one(fx, PIECE_MAX), 0);
    assert_true(spill_file_bytes() >= PIECE_MAX);
    start(fx, 7);
    while (spill_file_bytes() != 0)
        event_base_loop(fx->base, EVLOOP_ONCE);
}

/* The file can be no larger: what is in it is good, and after a start it can
 * be filled again. */
static void a_full_disk_takes_nothing_from_what_is_there(void **state)
{
    struct fixture *fx = *state;
    int err = 0;

    spill_file_limit(2 * SEGMENT + 1000);
    start(fx, 0);
    while ((err = append_one(fx, 100000)) == 0)
        assert_true(fx->end <= 2 * SEGMENT + 1000);
    spill_file_limit(RLIM_INFINITY);
    assert_int_equal(err, EFBIG);
    for (uint64_t pos = 0; pos < fx->end; pos += fx->fetched_bytes) {
        uint64_t left = fx->end - pos;

        fetch(fx, pos, left < 50000 ? (uint32_t)left : 50000);
    }
    start(fx, 99);
    assert_int_equal(append_one(fx, 100000), 0);
    fetch(fx, 99, 1000);
}

static void places_are_tried_before(void **state)
{
    (void)state;
    assert_int_equal(ep_spool_file_probe(getenv("TMPDIR")), 0);
    assert_int_equal(ep_spool_file_probe("/no/such/place"), ENOENT);
    assert_int_equal(ep_spool_file_probe("/dev/null"), ENOTDIR);
    assert_int_equal(spill_file_bytes(), -1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(what_was_appended_is_read),
        TEST(the_file_is_as_large_as_what_was_held),
        TEST(nothing_held_is_an_empty_file),
        TEST(a_full_disk_takes_nothing_from_what_is_there),
        cmocka_unit_test(places_are_tried_before),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
