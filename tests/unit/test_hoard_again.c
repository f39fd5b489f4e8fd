/* A queue of packets whose reader goes back to packets that are not forgotten
 * yet. */
#include "config.h"

#include "endpoints/sys/hoard.h"

#include <stdio.h>
#include <stdlib.h>

#include "endpoints/sys/spool.h"
#include "endpoints/sys/writer.h"
#include "overlay/base/err.h"
#include "tests/unit/rig.h"
#include "tests/unit/spill_file.h"

enum {
    BLOCK = EP_SPOOL_BLOCK_BYTES,
    PACKET_MAX = BLOCK - 4,
    TABLE_BYTES = 2 * 65536,
    LIMIT = 24 * BLOCK,
    LENGTHS_MAX = 1 << 17,
};

struct fixture {
    struct event_base *base;
    struct ep_writer *writer;
    struct ep_hoard *hoard;
    unsigned changes;
    uint32_t put, forgotten;       /* how many packets were put in, and how many
                                    * forgotten */
    uint32_t lengths[LENGTHS_MAX]; /* the length of each packet, by number */
    uint8_t table[TABLE_BYTES];    /* the bytes of which packets are pieces */
};

static void on_change(void *arg)
{
    ((struct fixture *)arg)->changes++;
}

static int setup(void **state)
{
    struct fixture *fx = calloc(1, sizeof(*fx));
    struct ep_hoard_cfg cfg = {.limit_bytes = LIMIT,
                               .dir = getenv("TMPDIR"),
                               .on_change = on_change,
                               .arg = fx};
    uint64_t seed = 1;

    for (uint32_t i = 0; i < TABLE_BYTES; i++)
        fx->table[i] = (uint8_t)rig_random(&seed);
    fx->base = event_base_new();
    assert_int_equal(ep_writer_open(fx->base, &fx->writer), 0);
    cfg.writer = fx->writer;
    assert_int_equal(ep_hoard_open(&cfg, &fx->hoard), 0);
    *state = fx;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *fx = *state;

    ep_hoard_close(fx->hoard);
    ep_writer_close(fx->writer, true);
    event_base_free(fx->base);
    assert_int_equal(spill_file_bytes(), -1);
    free(fx);
    return 0;
}

/* Returns the bytes of a packet; packets near each other differ. */
static const uint8_t *packet(const struct fixture *fx, uint32_t number)
{
    return fx->table + number * 40503u % 65536u;
}

static int put(struct fixture *fx, uint32_t len)
{
    int rc;

    assert_true(fx->put < LENGTHS_MAX);
    rc = ep_hoard_put(fx->hoard, packet(fx, fx->put), len);
    if (rc == 0)
        fx->lengths[fx->put++] = len;
    return rc;
}

/* Puts a packet, and waits for the file as long as necessary. Returns 0 or
 * OV_EFULL. */
static int put_soon(struct fixture *fx, uint32_t len)
{
    int rc;

    while ((rc = put(fx, len)) == OV_EAGAIN)
        rig_run_until(fx->base, &fx->changes, fx->changes + 1);
    return rc;
}

static void check_next(struct fixture *fx, uint32_t number)
{
    const uint8_t *mem = NULL;
    uint32_t len = 0;
    int rc;

    while ((rc = ep_hoard_get(fx->hoard, &mem, &len)) == OV_EAGAIN)
        rig_run_until(fx->base, &fx->changes, fx->changes + 1);
    assert_int_equal(rc, 0);
    assert_int_equal(len, fx->lengths[number]);
    assert_memory_equal(mem, packet(fx, number), len);
}

/* Passes as many packets as there are, at most `count`. *passed is the reader's
 * position. */
static void pass_some(struct fixture *fx, uint32_t *passed, uint32_t count)
{
    const uint8_t *mem;
    uint32_t len;

    for (; count > 0 && *passed < fx->put; count--) {
        check_next(fx, *passed);
        assert_int_equal(ep_hoard_pass(fx->hoard), 1);
        assert_int_equal(ep_hoard_passed(fx->hoard), ++*passed);
    }
    if (*passed == fx->put)
        assert_int_equal(ep_hoard_get(fx->hoard, &mem, &len), OV_ENOENT);
}

static void forget(struct fixture *fx, uint32_t before)
{
    ep_hoard_forget(fx->hoard, before);
    fx->forgotten = before;
    if (before == fx->put)
        assert_true(ep_hoard_is_empty(fx->hoard));
}

static void rewind_to(struct fixture *fx, uint32_t *passed)
{
    ep_hoard_rewind(fx->hoard);
    *passed = fx->forgotten;
    assert_int_equal(ep_hoard_passed(fx->hoard), fx->forgotten);
}

static void put_some(struct fixture *fx, uint64_t *seed)
{
    for (uint32_t n = rig_random(seed) % 60; n > 0; n--) {
        uint32_t most = rig_random(seed) % 5 == 0 ? 100 : 65536;

        if (put_soon(fx, 1 + rig_random(seed) % most) != 0)
            return;
    }
}

/* Puts, passes, forgets and goes back at random, in phases: all packets that
 * are not forgotten come again, in order. */
static void what_was_passed_can_be_read_once_more(void **state)
{
    const char *given = getenv("XYLEM_TEST_SEED");
    uint64_t seed = given != NULL ? strtoull(given, NULL, 10) : 20261128;
    struct fixture *fx = *state;
    uint32_t passed = 0, rewinds = 0;
    int64_t file_most = 0;

    print_message("seed %llu (XYLEM_TEST_SEED chooses another)\n",
                  (unsigned long long)seed);
    for (uint32_t turn = 0; turn < 900; turn++) {
        uint32_t what = rig_random(&seed) % 100;
        bool is_flood = turn / 30 % 2 == 0;

        if (what < (is_flood ? 60 : 20)) {
            put_some(fx, &seed);
        } else if (what < 90) {
            pass_some(fx, &passed, rig_random(&seed) % 100);
        } else if (what < 93) {
            rewind_to(fx, &passed);
            rewinds++;
        }
        if (!is_flood || what >= 97)
            forget(fx, fx->forgotten +
                           rig_random(&seed) % (passed - fx->forgotten + 1));
        if (spill_file_bytes() > file_most)
            file_most = spill_file_bytes();
    }
    rewind_to(fx, &passed);
    pass_some(fx, &passed, UINT32_MAX);
    forget(fx, passed);
    assert_true(rewinds > 10);
    assert_in_range(file_most, 2 * BLOCK, LIMIT);
}

/* The block at the reader's position is freed with its last packet, and the
 * next packet begins another block. */
static void all_that_was_passed_can_be_forgotten_at_once(void **state)
{
    struct fixture *fx = *state;
    uint32_t passed = 0;

    for (int i = 0; i < 100; i++) {
        for (int n = 0; n < 20; n++)
            assert_int_equal(put(fx, 100), 0);
        pass_some(fx, &passed, 15);
        forget(fx, passed);
        pass_some(fx, &passed, 5);
        rewind_to(fx, &passed);
        pass_some(fx, &passed, 5);
        forget(fx, passed);
    }
    assert_int_equal(spill_file_bytes(), -1);
}

static bool is_writer_idle(const void *arg)
{
    return ep_writer_is_idle(arg);
}

/* A part of the packets that come again cannot be read: the number of the next
 * packet is the same as if it could. */
static void a_lost_stretch_is_passed_as_a_whole(void **state)
{
    struct fixture *fx = *state;
    /* Two blocks are in memory. */
    const uint32_t kept = 2 * (EP_SPOOL_BLOCK_BYTES / 30004);
    uint32_t passed = 0, len, lost;
    const uint8_t *mem;
    int rc;

    while (fx->put < 100)
        assert_int_equal(put_soon(fx, 30000), 0);
    pass_some(fx, &passed, 100);
    forget(fx, kept + 3);
    rewind_to(fx, &passed);
    rig_run_until_true(fx->base, is_writer_idle, fx->writer);
    spill_file_cut();
    while ((rc = ep_hoard_get(fx->hoard, &mem, &len)) == OV_EAGAIN)
        rig_run_until(fx->base, &fx->changes, fx->changes + 1);
    assert_int_equal(rc, OV_ESYS);
    lost = len / 30000;
    assert_int_equal(ep_hoard_pass(fx->hoard), lost - 3);
    assert_int_equal(ep_hoard_passed(fx->hoard), kept + lost);
    forget(fx, kept + lost);
}

/* When room is reported a put succeeds, and when no room is reported it
 * fails. */
static void room_is_as_it_is_told(void **state)
{
    struct fixture *fx = *state;
    uint32_t refused = 0, passed = 0;
    uint64_t seed = 5;

    assert_int_equal(ep_hoard_room(fx->hoard, 1, PACKET_MAX), 0);
    assert_int_equal(ep_hoard_room(fx->hoard, 1, PACKET_MAX + 1), OV_EFULL);
    assert_int_equal(ep_hoard_room(fx->hoard, 2, PACKET_MAX - 3), OV_EFULL);
    while (refused < 50) {
        uint32_t len = 1 + rig_random(&seed) % 60000;
        int rc = ep_hoard_room(fx->hoard, 3, 3 * (uint64_t)len);

        for (int i = 0; rc == 0 && i < 3; i++)
            assert_int_equal(put(fx, len), 0);
        if (rc == 0)
            continue;
        refused++;
        if (rc == OV_EAGAIN) {
            rig_run_until(fx->base, &fx->changes, fx->changes + 1);
        } else {
            assert_int_equal(rc, OV_EFULL);
            pass_some(fx, &passed, UINT32_MAX);
            forget(fx, passed);
        }
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(what_was_passed_can_be_read_once_more),
        TEST(all_that_was_passed_can_be_forgotten_at_once),
        TEST(a_lost_stretch_is_passed_as_a_whole),
        TEST(room_is_as_it_is_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
