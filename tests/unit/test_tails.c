/* Unfinished lines come back unchanged, from memory and from the file, and
 * lines that the file cannot take stay in memory.
 *
 * The pool of these tests holds a few lines of the largest size. The bytes of a
 * line depend on its number and their position.
 */
#include "config.h"

#include "endpoints/daemon/tails.h"

#include <errno.h>
#include <stdio.h>

#include "endpoints/sys/writer.h"
#include "overlay/base/err.h"
#include "tests/unit/chance.h"
#include "tests/unit/rig.h"
#include "tests/unit/spill_file.h"

enum { POOL = 512 * 1024, LINES = 64, LONG = 60000 };

struct line {
    struct ep_tail tail;
    uint64_t added, taken;
    unsigned changes;
    unsigned number;
};

struct fixture {
    struct event_base *base;
    struct ep_writer *writer;
    struct ep_tails *tails;
    struct line lines[LINES];
    unsigned failures;
    int err;
};

static uint8_t byte_at(const struct line *line, uint64_t pos)
{
    return (uint8_t)(pos * 7 + line->number * 31 + (pos >> 8));
}

static void on_change(void *arg)
{
    struct line *line = arg;

    line->changes++;
}

static void on_failed(void *arg, int err)
{
    struct fixture *fx = arg;

    fx->failures++;
    fx->err = err;
}

static void open_pool(struct fixture *fx, const char *dir)
{
    struct ep_tails_cfg cfg = {
        .dir = dir,
        .bytes = POOL,
        .on_failed = on_failed,
        .arg = fx,
    };

    fx->base = event_base_new();
    assert_int_equal(ep_writer_open(fx->base, &fx->writer), 0);
    cfg.writer = fx->writer;
    assert_int_equal(ep_tails_open(&cfg, &fx->tails), 0);
    for (unsigned i = 0; i < LINES; i++) {
        fx->lines[i].number = i;
        fx->lines[i].tail.on_change = on_change;
        fx->lines[i].tail.arg = &fx->lines[i];
    }
}

static int setup_at(void **state, const char *dir)
{
    struct fixture *fx = calloc(1, sizeof(*fx));

    assert_non_null(fx);
    open_pool(fx, dir);
    *state = fx;
    return 0;
}

static int setup(void **state)
{
    const char *tmp = getenv("TMPDIR");

    return setup_at(state, tmp != NULL ? tmp : "/var/tmp");
}

static int setup_nowhere(void **state)
{
    return setup_at(state, "/nonexistent/folder");
}

static int teardown(void **state)
{
    struct fixture *fx = *state;

    for (unsigned i = 0; i < LINES; i++)
        ep_tail_drop(fx->tails, &fx->lines[i].tail);
    ep_tails_close(fx->tails);
    ep_writer_close(fx->writer, true);
    event_base_free(fx->base);
    assert_int_equal(spill_file_bytes(), -1);
    free(fx);
    return 0;
}

static void await_change(struct fixture *fx, struct line *line, unsigned before)
{
    if (line->changes == before)
        rig_run_until(fx->base, &line->changes, before + 1);
}

/* Adds bytes when the pool allows it; false when the pool stays full. */
static bool add(struct fixture *fx, struct line *line, uint32_t len)
{
    static uint8_t mem[EP_TAIL_BYTES_MAX];
    enum ep_tails_room room;
    unsigned before = line->changes;

    while ((room = ep_tails_room(fx->tails, &line->tail)) == EP_TAILS_WAIT) {
        await_change(fx, line, before);
        before = line->changes;
    }
    for (uint32_t i = 0; i < len; i++)
        mem[i] = byte_at(line, line->added + i);
    if (!ep_tail_add(fx->tails, &line->tail, mem, len)) {
        assert_int_equal(room, EP_TAILS_FULL);
        return false;
    }
    line->added += len;
    return true;
}

/* Gets the line back and compares its first len bytes. */
static void take(struct fixture *fx, struct line *line, uint32_t len)
{
    static uint8_t mem[EP_TAIL_BYTES_MAX];
    unsigned before = line->changes;
    uint32_t lost;
    int rc;

    while ((rc = ep_tail_fetch(fx->tails, &line->tail, &lost)) == OV_EAGAIN) {
        await_change(fx, line, before);
        before = line->changes;
    }
    assert_int_equal(rc, 0);
    ep_tail_take(fx->tails, &line->tail, mem, len);
    for (uint32_t i = 0; i < len; i++)
        assert_int_equal(mem[i], byte_at(line, line->taken + i));
    line->taken += len;
    assert_int_equal(ep_tail_bytes(&line->tail), line->added - line->taken);
}

static void take_all(struct fixture *fx, struct line *line)
{
    take(fx, line, ep_tail_bytes(&line->tail));
}

/* Only memory is used as long as it has room: no thread, no file. */
static void what_has_room_stays_in_memory(void **state)
{
    struct fixture *fx = *state;

    for (unsigned i = 0; i < POOL / LONG; i++)
        assert_true(add(fx, &fx->lines[i], LONG));
    assert_int_equal(spill_file_bytes(), -1);
    assert_int_equal(rig_threads(), 1);
    for (unsigned i = 0; i < POOL / LONG; i++)
        take_all(fx, &fx->lines[i]);
}

/* Many times the pool's size goes in, in pieces of all lines in turn. Each line
 * comes back whole; the file is closed when the last line has left it. */
static void what_has_no_room_comes_back_from_the_file(void **state)
{
    struct fixture *fx = *state;

    for (unsigned k = 0; k < 10; k++) {
        for (unsigned i = 0; i < LINES; i++)
            assert_true(add(fx, &fx->lines[i], LONG / 10));
    }
    assert_true(spill_file_bytes() > 0);
    assert_true(spill_file_bytes() <= LINES * EP_TAIL_BYTES_MAX);
    for (unsigned i = 0; i < LINES; i++) {
        take(fx, &fx->lines[i], 1000); /* in two parts */
        take_all(fx, &fx->lines[i]);
    }
    while (spill_file_bytes() != 0)
        event_base_loop(fx->base, EVLOOP_ONCE);
    assert_int_equal(fx->failures, 0);
}

/* Adding, taking, resting and dropping come in any order, also while the thread
 * has the line. */
static void any_order_keeps_the_bytes(void **state)
{
    struct fixture *fx = *state;
    struct chance chance = chance_start(5);

    for (unsigned i = 0; i < 6000; i++) {
        struct line *line = &fx->lines[chance_in(&chance, 0, LINES - 1)];
        uint32_t room = EP_TAIL_BYTES_MAX - ep_tail_bytes(&line->tail);
        uint32_t lost;

        switch (chance_in(&chance, 0, 9)) {
        case 0:
            ep_tail_drop(fx->tails, &line->tail);
            line->taken = line->added;
            break;
        case 1:
            ep_tail_rest(fx->tails, &line->tail);
            break;
        case 2:
            (void)ep_tail_fetch(fx->tails, &line->tail, &lost);
            ep_tail_rest(fx->tails, &line->tail);
            break;
        case 3:
            event_base_loop(fx->base, EVLOOP_NONBLOCK);
            break;
        case 4:
            take_all(fx, line);
            break;
        default:
            if (line->tail.slot == 0 && line->tail.taken_bytes == 0)
                assert_true(add(fx, line, chance_in(&chance, 0, room)));
            break;
        }
    }
    for (unsigned i = 0; i < LINES; i++)
        take_all(fx, &fx->lines[i]);
    assert_int_equal(fx->failures, 0);
}

/* There are more lines than may be read back at a time, and the first ones are
 * not taken. Once these rest the others are read, and the first ones are, too,
 * when they are requested again. */
static void who_rests_leaves_its_place_to_others(void **state)
{
    struct fixture *fx = *state;
    uint32_t lost;

    for (unsigned i = 0; i < LINES; i++)
        assert_true(add(fx, &fx->lines[i], LONG));
    for (unsigned i = 0; i < EP_TAILS_READS; i++) {
        unsigned before = fx->lines[i].changes;

        assert_int_equal(ep_tail_fetch(fx->tails, &fx->lines[i].tail, &lost),
                         OV_EAGAIN);
        await_change(fx, &fx->lines[i], before);
    }
    assert_int_equal(ep_tail_fetch(fx->tails, &fx->lines[10].tail, &lost),
                     OV_EAGAIN);
    assert_int_equal(fx->lines[10].tail.slot, 0);
    for (unsigned i = 0; i < EP_TAILS_READS; i++)
        ep_tail_rest(fx->tails, &fx->lines[i].tail);
    take_all(fx, &fx->lines[10]);
    for (unsigned i = 0; i < LINES; i++)
        take_all(fx, &fx->lines[i]);
}

/* When no file can be made, the memory is used to its end, which is
 * reported. */
static void without_a_file_the_memory_is_all(void **state)
{
    struct fixture *fx = *state;
    unsigned full = 0;

    while (full < LINES && add(fx, &fx->lines[full], LONG))
        full++;
    assert_true(full >= POOL / LONG);
    assert_true(full < LINES);
    assert_true(fx->failures > 0);
    assert_int_equal(fx->err, ENOENT);
    for (unsigned i = 0; i < full; i++)
        take_all(fx, &fx->lines[i]);
}

/* Lines saved before the disk was full are good, the others are still in
 * memory, and when there is room again more lines are saved. */
static void a_full_disk_takes_nothing(void **state)
{
    struct fixture *fx = *state;
    unsigned full = 0;

    spill_file_limit(5 * EP_TAIL_BYTES_MAX + 1000);
    while (full < LINES && add(fx, &fx->lines[full], LONG))
        full++;
    spill_file_limit(RLIM_INFINITY);
    assert_true(full < LINES);
    assert_int_equal(fx->err, EFBIG);
    for (unsigned i = 0; i < full; i++)
        take_all(fx, &fx->lines[i]);
    for (unsigned i = 0; i < LINES; i++)
        assert_true(add(fx, &fx->lines[i], LONG));
    for (unsigned i = 0; i < LINES; i++)
        take_all(fx, &fx->lines[i]);
}

static void cut_the_file(void)
{
    struct stat st;

    for (int fd = 0; fd < 256; fd++) {
        if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_nlink == 0)
            assert_int_equal(ftruncate(fd, 0), 0);
    }
}

/* Bytes that the file does not give back are counted, and the rest comes. */
static void what_cannot_be_read_is_counted(void **state)
{
    struct fixture *fx = *state;
    struct line *line = &fx->lines[0];
    unsigned before;
    uint32_t lost, kept = 100;

    for (unsigned i = 0; i < LINES; i++)
        assert_true(add(fx, &fx->lines[i], LONG));
    assert_int_equal(line->tail.file_bytes, LONG);
    assert_true(add(fx, line, kept));
    cut_the_file();
    before = line->changes;
    assert_int_equal(ep_tail_fetch(fx->tails, &line->tail, &lost), OV_EAGAIN);
    await_change(fx, line, before);
    assert_int_equal(ep_tail_fetch(fx->tails, &line->tail, &lost), OV_ESYS);
    assert_int_equal(errno, EIO);
    assert_int_equal(lost, LONG);
    line->taken += LONG;
    take(fx, line, kept);
}

#define TAILS_TEST(name, first)                                                \
    cmocka_unit_test_setup_teardown(name, first, teardown)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TAILS_TEST(what_has_room_stays_in_memory, setup),
        TAILS_TEST(what_has_no_room_comes_back_from_the_file, setup),
        TAILS_TEST(any_order_keeps_the_bytes, setup),
        TAILS_TEST(who_rests_leaves_its_place_to_others, setup),
        TAILS_TEST(without_a_file_the_memory_is_all, setup_nowhere),
        TAILS_TEST(a_full_disk_takes_nothing, setup),
        TAILS_TEST(what_cannot_be_read_is_counted, setup),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
