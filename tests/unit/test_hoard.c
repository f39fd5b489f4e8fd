/* A queue returns each packet as it was put in, through memory and file. */
#include "config.h"

#include "endpoints/sys/hoard.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "endpoints/sys/spool.h"
#include "endpoints/sys/writer.h"
#include "overlay/base/err.h"
#include "tests/unit/rig.h"
#include "tests/unit/spill_file.h"

enum {
    BLOCK = EP_SPOOL_BLOCK_BYTES,
    HEAD = 4,
    PACKET_MAX = BLOCK - HEAD,
    TABLE_BYTES = PACKET_MAX + 65536,
    LIMIT = 24 * BLOCK,
    LENGTHS_MAX = 1 << 17,
};

struct fixture {
    struct event_base *base;
    struct ep_writer *writer;
    struct ep_hoard *hoard;
    unsigned changes;
    bool closes_in_change;
    bool is_in_call;
    uint32_t put, dropped; /* counts of packets */
    uint64_t held_bytes;
    uint32_t lengths[LENGTHS_MAX]; /* the length of each packet, by number */
    uint8_t table[TABLE_BYTES];    /* the bytes of which packets are pieces */
};

/* How often the code under test calls malloc(), and whether malloc() fails. */
static unsigned mallocs;
static bool is_malloc_refused;

void *__real_malloc(size_t len);
void *__wrap_malloc(size_t len);

void *__wrap_malloc(size_t len)
{
    mallocs++;
    return is_malloc_refused ? NULL : __real_malloc(len);
}

static void on_change(void *arg)
{
    struct fixture *fx = arg;

    assert_false(fx->is_in_call);
    fx->changes++;
    if (!fx->closes_in_change)
        return;
    ep_hoard_close(fx->hoard);
    fx->hoard = NULL;
}

static void open_in(struct fixture *fx, const char *dir, uint64_t limit_bytes,
                    uint32_t kept_blocks)
{
    const struct ep_hoard_cfg cfg = {.writer = fx->writer,
                                     .limit_bytes = limit_bytes,
                                     .kept_blocks = kept_blocks,
                                     .dir = dir,
                                     .on_change = on_change,
                                     .arg = fx};

    ep_hoard_close(fx->hoard);
    assert_int_equal(ep_hoard_open(&cfg, &fx->hoard), 0);
    assert_true(ep_hoard_is_empty(fx->hoard));
    fx->put = 0;
    fx->dropped = 0;
    fx->held_bytes = 0;
}

static int setup(void **state)
{
    struct fixture *fx = calloc(1, sizeof(*fx));
    uint64_t seed = 1;

    signal(SIGXFSZ, SIG_IGN);
    for (uint32_t i = 0; i < TABLE_BYTES; i++)
        fx->table[i] = (uint8_t)rig_random(&seed);
    fx->base = event_base_new();
    assert_int_equal(ep_writer_open(fx->base, &fx->writer), 0);
    open_in(fx, getenv("TMPDIR"), LIMIT, 0);
    *state = fx;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *fx = *state;

    ep_hoard_close(fx->hoard);
    ep_hoard_close(NULL);
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

/* --- puts and gets that are checked */

static int put(struct fixture *fx, uint32_t len)
{
    int rc;

    assert_true(fx->put < LENGTHS_MAX);
    fx->is_in_call = true;
    rc = ep_hoard_put(fx->hoard, packet(fx, fx->put), len);
    fx->is_in_call = false;
    if (rc != 0)
        return rc;
    fx->lengths[fx->put++] = len;
    fx->held_bytes += len;
    assert_false(ep_hoard_is_empty(fx->hoard));
    return 0;
}

/* Puts a packet, and waits for the file if necessary. Returns 0 or OV_EFULL. */
static int put_soon(struct fixture *fx, uint32_t len)
{
    int rc;

    while ((rc = put(fx, len)) == OV_EAGAIN)
        rig_run_until(fx->base, &fx->changes, fx->changes + 1);
    return rc;
}

static int get(struct fixture *fx, const uint8_t **mem, uint32_t *len)
{
    int rc;

    fx->is_in_call = true;
    rc = ep_hoard_get(fx->hoard, mem, len);
    fx->is_in_call = false;
    return rc;
}

static int get_soon(struct fixture *fx, const uint8_t **mem, uint32_t *len)
{
    int rc;

    while ((rc = get(fx, mem, len)) == OV_EAGAIN)
        rig_run_until(fx->base, &fx->changes, fx->changes + 1);
    return rc;
}

/* Checks the first packet, without removing it. */
static const uint8_t *check_first(struct fixture *fx)
{
    const uint8_t *mem = NULL;
    uint32_t len = 0;

    assert_false(ep_hoard_is_empty(fx->hoard));
    assert_int_equal(get_soon(fx, &mem, &len), 0);
    assert_int_equal(len, fx->lengths[fx->dropped]);
    assert_memory_equal(mem, packet(fx, fx->dropped), len);
    return mem;
}

static void drop(struct fixture *fx)
{
    fx->is_in_call = true;
    ep_hoard_drop(fx->hoard);
    fx->is_in_call = false;
    fx->held_bytes -= fx->lengths[fx->dropped++];
    assert_int_equal(ep_hoard_is_empty(fx->hoard), fx->dropped == fx->put);
}

static void take(struct fixture *fx)
{
    check_first(fx);
    drop(fx);
}

static void take_all(struct fixture *fx)
{
    const uint8_t *mem;
    uint32_t len;

    while (fx->dropped < fx->put)
        take(fx);
    assert_true(ep_hoard_is_empty(fx->hoard));
    assert_int_equal(get(fx, &mem, &len), OV_ENOENT);
}

static void put_until_full(struct fixture *fx, uint32_t len)
{
    int rc;

    while ((rc = put_soon(fx, len)) == 0)
        ;
    assert_int_equal(rc, OV_EFULL);
}

static bool is_file_empty(const void *arg)
{
    (void)arg;
    return spill_file_bytes() == 0;
}

/* --- order and bytes
 * */

static uint32_t random_length(uint64_t *seed)
{
    uint32_t kind = rig_random(seed) % 100;

    if (kind == 0)
        return 1 + rig_random(seed) % PACKET_MAX;
    if (kind < 20)
        return 1 + rig_random(seed) % 100;
    return 1 + rig_random(seed) % 65536;
}

/* Puts some packets, perhaps while one in use must not change. */
static void random_puts(struct fixture *fx, uint64_t *seed)
{
    bool is_held = rig_random(seed) % 2 == 0 && fx->put > fx->dropped;
    const uint8_t *mem = is_held ? check_first(fx) : NULL;

    for (uint32_t n = rig_random(seed) % 100; n > 0; n--) {
        if (put_soon(fx, random_length(seed)) != 0)
            break;
    }
    if (!is_held)
        return;
    assert_memory_equal(mem, packet(fx, fx->dropped), fx->lengths[fx->dropped]);
    assert_ptr_equal(mem, check_first(fx));
    if (rig_random(seed) % 2 == 0)
        drop(fx);
}

/* Random puts and gets, in phases: mostly puts until the queue is full, mostly
 * gets until it is empty, and both about equally often. */
static void packets_come_out_as_they_went_in(void **state)
{
    const char *given = getenv("XYLEM_TEST_SEED");
    uint64_t seed = given != NULL ? strtoull(given, NULL, 10) : 20261127;
    struct fixture *fx = *state;
    int64_t file_most = 0;

    print_message("seed %llu (XYLEM_TEST_SEED chooses another)\n",
                  (unsigned long long)seed);
    for (uint32_t turn = 0; turn < 600; turn++) {
        static const uint32_t puts_of_100[] = {80, 50, 20};

        if (rig_random(&seed) % 100 < puts_of_100[turn / 20 % 3]) {
            random_puts(fx, &seed);
        } else {
            for (uint32_t n = rig_random(&seed) % 100; n > 0; n--) {
                if (fx->dropped < fx->put)
                    take(fx);
            }
        }
        if (spill_file_bytes() > file_most)
            file_most = spill_file_bytes();
    }
    take_all(fx);
    assert_in_range(file_most, 2 * BLOCK, LIMIT);
}

static void a_packet_is_at_most_as_large_as_a_block(void **state)
{
    struct fixture *fx = *state;

    assert_int_equal(put(fx, 0), OV_EINVAL);
    assert_int_equal(put(fx, PACKET_MAX + 1), OV_EINVAL);
    assert_int_equal(put(fx, UINT32_MAX), OV_EINVAL);
    assert_true(ep_hoard_is_empty(fx->hoard));
    for (int i = 0; i < 10; i++) {
        assert_int_equal(put_soon(fx, PACKET_MAX), 0);
        assert_int_equal(put_soon(fx, 1), 0);
    }
    take_all(fx);
}

/* --- stretches
 * */

/* Tens of thousands of packets take memory by blocks, in the file too. */
static void small_packets_share_their_memory(void **state)
{
    struct fixture *fx = *state;
    uint64_t seed = 3;
    unsigned blocks;

    mallocs = 0;
    for (int i = 0; i < 60000; i++)
        assert_int_equal(put_soon(fx, 1 + rig_random(&seed) % 40), 0);
    blocks = (unsigned)((fx->held_bytes + 60000 * HEAD) / BLOCK) + 1;
    assert_true(blocks > EP_SPOOL_MEM_BLOCKS);
    assert_in_range(mallocs, 1, 2 * blocks + 2);
    take_all(fx);
}

/* A packet put after one that is in use joins the same stretch, unchanged. */
static void packets_behind_one_that_is_got_share_too(void **state)
{
    struct fixture *fx = *state;
    const uint8_t *mem;

    assert_int_equal(put(fx, 10), 0);
    mem = check_first(fx);
    mallocs = 0;
    for (int i = 0; i < 10000; i++)
        assert_int_equal(put(fx, 1 + (uint32_t)i % 10), 0);
    assert_in_range(mallocs, 0, 1); /* one allocation, for the next block */
    assert_ptr_equal(check_first(fx), mem);
    drop(fx);
    take(fx);
    for (int i = 0; i < 100; i++)
        assert_int_equal(put(fx, 20), 0);
    take_all(fx);
    assert_int_equal(spill_file_bytes(), -1);
}

/* The reader is at most two packets behind, and often none: any number of
 * packets goes through one block, and the file is not even made. */
static void a_reader_that_has_caught_up_needs_no_file(void **state)
{
    struct fixture *fx = *state;

    for (uint32_t i = 0; i < 10000; i++) {
        assert_int_equal(put(fx, 1 + i % 3000), 0);
        check_first(fx);
        assert_int_equal(put(fx, 1 + i % 50), 0);
        assert_int_equal(put(fx, 7), 0);
        drop(fx);
        check_first(fx);
        assert_int_equal(put(fx, 2), 0);
        drop(fx);
        take(fx);
        if (i % 7 > 0)
            take_all(fx);
        else
            take(fx);
        assert_true(ep_hoard_is_empty(fx->hoard));
    }
    assert_int_equal(fx->changes, 0);
    assert_int_equal(spill_file_bytes(), -1);
}

/* --- the limit
 * */

static void a_full_one_has_room_again_when_it_is_empty(void **state)
{
    struct fixture *fx = *state;

    open_in(fx, getenv("TMPDIR"), 8 * BLOCK, 0);
    for (int i = 0; i < 3; i++) {
        put_until_full(fx, 10000);
        assert_int_equal(put(fx, 10000), OV_EFULL);
        assert_in_range(fx->held_bytes, 7 * BLOCK, 8 * BLOCK);
        assert_in_range(spill_file_bytes(), 3 * BLOCK, 8 * BLOCK);
        take_all(fx);
    }
    rig_run_until_true(fx->base, is_file_empty, NULL);
}

/* The loop has not run. The queue is empty, so it cannot be full. */
static void an_empty_one_is_never_full(void **state)
{
    struct fixture *fx = *state;

    open_in(fx, getenv("TMPDIR"), BLOCK, 0);
    for (int i = 0; i < 3; i++) {
        unsigned changes = fx->changes;

        assert_int_equal(put_soon(fx, PACKET_MAX - 10), 0);
        assert_int_equal(put(fx, 100), OV_EFULL);
        assert_int_equal(fx->changes, changes);
        take_all(fx);
        assert_int_equal(put(fx, 100), 0);
        take_all(fx);
    }
}

static void without_memory_it_is_full_and_whole(void **state)
{
    struct fixture *fx = *state;

    is_malloc_refused = true; /* the allocation for the stretch fails */
    assert_int_equal(put(fx, 10), OV_EFULL);
    is_malloc_refused = false;
    assert_true(ep_hoard_is_empty(fx->hoard));
    assert_int_equal(put(fx, 10), 0);
    assert_int_equal(put(fx, 10), 0);
    is_malloc_refused = true; /* the allocation for the next block fails */
    assert_int_equal(put(fx, PACKET_MAX), OV_EFULL);
    is_malloc_refused = false;
    assert_int_equal(put(fx, PACKET_MAX), 0);
    take_all(fx);
}

/* --- a file that fails
 * */

/* The disk is full in the middle of a block: accepted packets are kept, and a
 * disk that has room again is used again. */
static void a_full_disk_takes_nothing_from_what_is_there(void **state)
{
    struct fixture *fx = *state;

    spill_file_limit(2 * BLOCK + BLOCK / 2);
    put_until_full(fx, 30000);
    spill_file_limit(RLIM_INFINITY);
    assert_in_range(fx->held_bytes, 3 * BLOCK, 7 * BLOCK);
    take(fx);
    assert_int_equal(put(fx, 30000), OV_EFULL);
    take_all(fx);
    assert_int_equal(put_soon(fx, 30000), 0);
    while (fx->held_bytes < 10 * BLOCK)
        assert_int_equal(put_soon(fx, 30000), 0);
    take_all(fx);
}

static void without_a_place_for_the_file_memory_is_used(void **state)
{
    struct fixture *fx = *state;

    open_in(fx, "/no/such/place", LIMIT, 0);
    for (int i = 0; i < 2; i++) {
        put_until_full(fx, 5000);
        assert_in_range(fx->held_bytes, BLOCK / 2, EP_SPOOL_MEM_BLOCKS * BLOCK);
        assert_int_equal(spill_file_bytes(), -1);
        take_all(fx);
    }
}

/* Takes the next stretch, which cannot be read; get() reports it until it is
 * dropped. */
static void take_lost(struct fixture *fx)
{
    const uint8_t *mem = fx->table;
    uint32_t lost = 0;
    uint32_t again = 0;
    uint64_t bytes = 0;

    assert_int_equal(get_soon(fx, &mem, &lost), OV_ESYS);
    assert_int_equal(errno, EIO);
    errno = 0;
    assert_int_equal(get(fx, &mem, &again), OV_ESYS);
    assert_int_equal(errno, EIO);
    assert_int_equal(again, lost);
    assert_ptr_equal(mem, fx->table);
    while (bytes < lost)
        bytes += fx->lengths[fx->dropped++];
    assert_int_equal(bytes, lost);
    assert_in_range(bytes, 1, BLOCK);
    fx->held_bytes -= bytes;
    ep_hoard_drop(fx->hoard);
}

static bool is_writer_idle(const void *arg)
{
    return ep_writer_is_idle(arg);
}

/* Two full blocks, or as many more as were asked for, stay in memory. */
static void what_soon_leaves_is_not_written(void **state)
{
    struct fixture *fx = *state;

    for (uint32_t kept = 0; kept < 4; kept += 3) {
        open_in(fx, getenv("TMPDIR"), LIMIT, kept);
        for (int i = 0; i < 50; i++) {
            while (fx->put - fx->dropped < 2 + kept) {
                assert_false(ep_hoard_is_saving(fx->hoard));
                assert_int_equal(put(fx, PACKET_MAX), 0);
            }
            assert_int_equal(put(fx, PACKET_MAX), 0);
            assert_true(ep_hoard_is_saving(fx->hoard));
            take(fx);
            take(fx);
        }
        rig_run_until_true(fx->base, is_writer_idle, fx->writer);
        assert_int_equal(spill_file_bytes(), -1);
        while (!ep_hoard_is_saving(fx->hoard))
            assert_int_equal(put(fx, PACKET_MAX), 0);
        assert_int_equal(put(fx, PACKET_MAX), 0);
        rig_run_until_true(fx->base, is_writer_idle, fx->writer);
        assert_true(spill_file_bytes() > 0);
    }
}

/* The file loses everything: each stretch in it is reported as lost, more of
 * them than can be read at once; packets in memory come out, and so do packets
 * that are put later. */
static void a_stretch_that_cannot_be_read_is_told_as_lost(void **state)
{
    struct fixture *fx = *state;
    unsigned lost = 0, kept = 0;

    while (fx->held_bytes < 12 * BLOCK)
        assert_int_equal(put_soon(fx, 20000), 0);
    while ((kept + 1) * (20000 + HEAD) <= BLOCK)
        kept++; /* counts the packets in each block; two blocks are in memory */
    assert_int_equal(put_soon(fx, PACKET_MAX), 0);
    assert_int_equal(put_soon(fx, 5), 0);
    rig_run_until_true(fx->base, is_writer_idle, fx->writer);
    assert_int_equal(spill_file_bytes(), 14 * BLOCK);
    spill_file_cut();
    while (fx->dropped < 2 * kept)
        take(fx);
    for (; fx->put - fx->dropped > 1; lost++)
        take_lost(fx);
    assert_int_equal(lost, 12);
    take_all(fx);
    while (fx->held_bytes < 12 * BLOCK)
        assert_int_equal(put_soon(fx, 20000), 0);
    take_all(fx);
    rig_run_until_true(fx->base, is_file_empty, NULL);
}

/* --- the end
 * */

/* The queue is closed at any moment: while blocks are written or one is read,
 * with a packet from memory or from the file. Valgrind finds leaks. */
static void what_is_inside_goes_with_it(void **state)
{
    struct fixture *fx = *state;
    const uint8_t *mem;
    uint32_t len;

    for (int way = 0; way < 5; way++) {
        open_in(fx, getenv("TMPDIR"), LIMIT, 0);
        assert_int_equal(put(fx, 10), 0);
        if (way == 1)
            check_first(fx);
        while (way > 1 && put(fx, 30000) == 0)
            ;
        while (way > 2 && fx->held_bytes < 8 * BLOCK)
            assert_int_equal(put_soon(fx, 30000), 0);
        if (way > 2)
            take(fx);
        if (way == 3)
            assert_int_equal(get(fx, &mem, &len), 0);
        while (way == 4 && get(fx, &mem, &len) != OV_EAGAIN)
            drop(fx);
        ep_hoard_close(fx->hoard);
        fx->hoard = NULL;
        spill_file_until_gone();
    }
}

static void it_may_be_closed_when_it_tells_a_change(void **state)
{
    struct fixture *fx = *state;

    while (put(fx, 30000) == 0)
        ;
    fx->closes_in_change = true;
    rig_run_until(fx->base, &fx->changes, 1);
    assert_null(fx->hoard);
    for (int i = 0; i < 10; i++)
        event_base_loop(fx->base, EVLOOP_NONBLOCK);
    assert_int_equal(fx->changes, 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(packets_come_out_as_they_went_in),
        TEST(a_packet_is_at_most_as_large_as_a_block),
        TEST(small_packets_share_their_memory),
        TEST(packets_behind_one_that_is_got_share_too),
        TEST(a_reader_that_has_caught_up_needs_no_file),
        TEST(a_full_one_has_room_again_when_it_is_empty),
        TEST(an_empty_one_is_never_full),
        TEST(what_soon_leaves_is_not_written),
        TEST(without_memory_it_is_full_and_whole),
        TEST(a_full_disk_takes_nothing_from_what_is_there),
        TEST(without_a_place_for_the_file_memory_is_used),
        TEST(a_stretch_that_cannot_be_read_is_told_as_lost),
        TEST(what_is_inside_goes_with_it),
        TEST(it_may_be_closed_when_it_tells_a_change),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
