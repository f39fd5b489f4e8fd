/* A tape returns the bytes that were put in, from any position, from memory and
 * a small file. */
#include "config.h"

#include "endpoints/sys/tape.h"

#include <errno.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>

#include "endpoints/sys/spool_file.h"
#include "endpoints/sys/writer.h"
#include "overlay/base/err.h"
#include "tests/unit/rig.h"
#include "tests/unit/spill_file.h"

enum {
    BLOCK = 64 * 1024,
    MEM_BLOCKS = 2,
    PIECE_MAX = 4 * BLOCK,
    LIMIT = 40 * BLOCK,
    ASK_BYTES = 1000,
};

struct fixture {
    struct event_base *base;
    struct ep_writer *writer;
    struct ep_tape *tape;
    unsigned changes;
    uint64_t first, end; /* the positions that the tape holds */
    uint8_t piece[PIECE_MAX];
};

/* Returns the byte at a position: no two blocks look alike. */
static uint8_t byte_at(uint64_t pos)
{
    return (uint8_t)(pos ^ pos >> 8 ^ pos >> 15 ^ pos >> 21);
}

static void on_change(void *arg)
{
    struct fixture *fx = arg;

    fx->changes++;
}

static void open_in(struct fixture *fx, const char *dir, bool may_lie_in_memory)
{
    const struct ep_spool_cfg cfg = {.limit_bytes = LIMIT,
                                     .block_bytes = BLOCK,
                                     .mem_blocks = MEM_BLOCKS,
                                     .dir = dir,
                                     .may_lie_in_memory = may_lie_in_memory,
                                     .on_change = on_change,
                                     .arg = fx};

    ep_tape_close(fx->tape);
    assert_int_equal(ep_tape_open(fx->writer, &cfg, &fx->tape), 0);
}

static int setup(void **state)
{
    struct fixture *fx = calloc(1, sizeof(*fx));

    fx->base = event_base_new();
    assert_int_equal(ep_writer_open(fx->base, &fx->writer), 0);
    open_in(fx, getenv("TMPDIR"), false);
    *state = fx;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *fx = *state;

    ep_tape_close(fx->tape);
    ep_writer_close(fx->writer, true);
    event_base_free(fx->base);
    assert_int_equal(spill_file_bytes(), -1);
    free(fx);
    return 0;
}

/* Returns how many unlinked files on the file system of `dir` this process has
 * open. */
static int spill_files_in(const char *dir)
{
    struct stat of_dir, st;
    int count = 0;

    assert_int_equal(stat(dir, &of_dir), 0);
    for (int fd = 0; fd < 256; fd++) {
        if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_nlink == 0)
            count += st.st_dev == of_dir.st_dev;
    }
    return count;
}

static void wait_for_change(struct fixture *fx)
{
    rig_run_until(fx->base, &fx->changes, fx->changes + 1);
}

/* Waits until everything is in the file, except the block that is being
 * filled. */
static void wait_for_file(struct fixture *fx)
{
    while (!ep_writer_is_idle(fx->writer))
        event_base_loop(fx->base, EVLOOP_ONCE);
}

/* Puts the next bytes, waiting for the file. Returns 0 or OV_EFULL. */
static int put(struct fixture *fx, uint32_t len)
{
    const uint64_t begin = fx->end;
    int rc;

    for (uint32_t i = 0; i < len; i++)
        fx->piece[i] = byte_at(begin + i);
    for (;;) {
        uint32_t done = (uint32_t)(fx->end - begin);

        rc = ep_tape_put(fx->tape, fx->piece + done, len - done);
        fx->end = ep_tape_end(fx->tape);
        assert_in_range(fx->end, begin + done, begin + len);
        if (rc != OV_EAGAIN)
            break;
        wait_for_change(fx);
    }
    if (rc == 0)
        assert_int_equal(fx->end, begin + len);
    else
        assert_int_equal(rc, OV_EFULL);
    return rc;
}

/* Reads as many of len bytes as come at once, and returns how many. */
static uint32_t get(struct fixture *fx, uint64_t pos, uint32_t len)
{
    uint32_t got = len;
    const uint8_t *mem;
    int rc;

    while ((rc = ep_tape_get(fx->tape, pos, &got, &mem)) == OV_EAGAIN)
        wait_for_change(fx);
    assert_int_equal(rc, 0);
    assert_in_range(got, 1, len);
    for (uint32_t i = 0; i < got; i++)
        assert_int_equal(mem[i], byte_at(pos + i));
    ep_tape_let_go(fx->tape);
    return got;
}

static void get_all(struct fixture *fx)
{
    for (uint64_t pos = fx->first; pos < fx->end;) {
        uint64_t left = fx->end - pos;

        pos += get(fx, pos, left < 50000 ? (uint32_t)left : 50000);
    }
}

static void start(struct fixture *fx, uint64_t pos)
{
    ep_tape_start(fx->tape, pos);
    assert_int_equal(ep_tape_end(fx->tape), pos);
    fx->first = pos;
    fx->end = pos;
}

/* Asks for bytes, like a reader that leaves before they have come. */
static void ask_in_vain(struct fixture *fx, uint64_t pos)
{
    uint32_t len = ASK_BYTES;
    const uint8_t *mem;

    ep_tape_get(fx->tape, pos, &len, &mem);
    ep_tape_let_go(fx->tape);
}

static void random_put(struct fixture *fx, uint64_t *seed)
{
    uint32_t len = 1 + rig_random(seed) % PIECE_MAX;
    uint64_t held;

    if (put(fx, len) == 0)
        return;
    /* The first block may be needed for its last byte alone. */
    held = fx->end - fx->first;
    assert_in_range(held, LIMIT - BLOCK + 1, LIMIT);
    assert_int_equal(ep_tape_errno(fx->tape), 0);
}

static void random_step(struct fixture *fx, uint64_t *seed)
{
    uint64_t held = fx->end - fx->first;
    uint32_t dice = rig_random(seed) % 100;

    if (dice < 45) {
        random_put(fx, seed);
    } else if (dice < 70 && held > 0) {
        uint64_t off = rig_random(seed) % held;

        get(fx, fx->first + off, 1 + rig_random(seed) % (uint32_t)(held - off));
    } else if (dice < 75 && held > 0) {
        ask_in_vain(fx, fx->first + rig_random(seed) % held);
    } else if (dice < 97 && held > 0) {
        fx->first += rig_random(seed) % (held + 1) / 2;
        ep_tape_forget(fx->tape, fx->first);
    } else if (dice == 99) {
        start(fx, rig_random(seed));
    }
    assert_in_range(spill_file_bytes() + 1, 0, LIMIT + 1);
}

/* Putting, reading and forgetting come in any order, within the limit. */
static void what_was_put_is_read(void **state)
{
    const char *given = getenv("XYLEM_TEST_SEED");
    uint64_t seed = given != NULL ? strtoull(given, NULL, 10) : 20261121;

    print_message("seed %llu (XYLEM_TEST_SEED chooses another)\n",
                  (unsigned long long)seed);
    start(*state, 12345);
    for (unsigned i = 0; i < 3000; i++)
        random_step(*state, &seed);
    get_all(*state);
}

static void little_is_in_memory_alone(void **state)
{
    struct fixture *fx = *state;

    start(fx, 99);
    assert_int_equal(put(fx, BLOCK), 0);
    get_all(fx);
    wait_for_file(fx);
    assert_int_equal(spill_file_bytes(), -1);
}

/* A hundred times the limit goes through a file that never has more than what
 * was held at once. */
static void the_file_is_as_large_as_what_was_held(void **state)
{
    struct fixture *fx = *state;

    start(fx, 0);
    while (fx->end < UINT64_C(100) * LIMIT) {
        assert_int_equal(put(fx, 2 * BLOCK), 0);
        if (fx->end > 8 * BLOCK)
            fx->first = fx->end - 8 * BLOCK;
        ep_tape_forget(fx->tape, fx->first);
        get(fx, fx->first, 1000);
        assert_in_range(spill_file_bytes() + 1, 0, 12 * BLOCK + 1);
    }
}

/* The tape holds its limit to the last byte, and each block that is forgotten
 * makes room for one. */
static void as_much_as_the_limit_is_held(void **state)
{
    struct fixture *fx = *state;

    start(fx, 0);
    while (put(fx, 10000) == 0)
        assert_true(fx->end < LIMIT);
    assert_int_equal(fx->end, LIMIT);
    assert_int_equal(ep_tape_errno(fx->tape), 0);
    get_all(fx);
    wait_for_file(fx);
    assert_int_equal(spill_file_bytes(), LIMIT);
    fx->first = 2 * BLOCK;
    ep_tape_forget(fx->tape, fx->first);
    assert_int_equal(put(fx, 2 * BLOCK), 0);
    assert_int_equal(put(fx, 1), OV_EFULL);
    get_all(fx);
}

static void nothing_held_is_an_empty_file(void **state)
{
    struct fixture *fx = *state;

    start(fx, 0);
    assert_int_equal(put(fx, 3 * BLOCK), 0);
    wait_for_file(fx);
    assert_true(spill_file_bytes() >= 2 * BLOCK);
    start(fx, 7);
    wait_for_file(fx);
    assert_int_equal(spill_file_bytes(), 0);
}

/* The file cannot grow: all accepted bytes are good, and after a new start it
 * can be filled again. */
static void a_full_disk_takes_nothing_from_what_is_there(void **state)
{
    struct fixture *fx = *state;

    spill_file_limit(10 * BLOCK + 1000);
    start(fx, 5);
    while (put(fx, 10000) == 0)
        assert_true(fx->end <= (10 + MEM_BLOCKS) * BLOCK + 5);
    wait_for_file(fx);
    spill_file_limit(RLIM_INFINITY);
    assert_int_equal(ep_tape_errno(fx->tape), EFBIG);
    assert_true(fx->end > 10 * BLOCK);
    get_all(fx);
    fx->first = fx->end - BLOCK;
    ep_tape_forget(fx->tape, fx->first);
    assert_int_equal(put(fx, 2 * BLOCK), OV_EFULL);
    get_all(fx);
    start(fx, 99);
    assert_int_equal(put(fx, PIECE_MAX), 0);
    get_all(fx);
}

static void what_is_not_in_the_file_any_more_is_said(void **state)
{
    struct fixture *fx = *state;
    uint32_t len = BLOCK;
    const uint8_t *mem;
    int rc;

    start(fx, 0);
    assert_int_equal(put(fx, 2 * BLOCK + 1), 0);
    wait_for_file(fx);
    spill_file_cut();
    while ((rc = ep_tape_get(fx->tape, 0, &len, &mem)) == OV_EAGAIN)
        wait_for_change(fx);
    assert_int_equal(rc, OV_ESYS);
    assert_int_equal(errno, EIO);
    ep_tape_let_go(fx->tape);
    get(fx, 2 * BLOCK, 1); /* the block is in memory */
}

/* A reader may ask for bytes and leave: others can read the same bytes, and
 * they can be requested once more. */
static void readers_may_go_while_they_wait(void **state)
{
    struct fixture *fx = *state;

    start(fx, 0);
    assert_int_equal(put(fx, 4 * BLOCK), 0);
    for (unsigned i = 0; i < 20; i++) {
        wait_for_file(fx);
        ask_in_vain(fx, fx->first);
        get(fx, fx->first, ASK_BYTES);
        ask_in_vain(fx, fx->first);
        fx->first += BLOCK;
        ep_tape_forget(fx->tape, fx->first);
        if (i % 2 == 0)
            wait_for_file(fx);
        assert_int_equal(put(fx, BLOCK), 0);
        wait_for_file(fx);
        get_all(fx);
    }
}

/* Even in memory, TMPDIR is used only if it has enough room; otherwise the next
 * place is tried. */
static void in_memory_it_lies_where_it_may(void **state)
{
    const char *tmp = getenv("TMPDIR");
    char *before = tmp != NULL ? strdup(tmp) : NULL;
    struct fixture *fx = *state;
    struct statfs fs;

    if (statfs("/dev/shm", &fs) != 0 || fs.f_type != TMPFS_MAGIC)
        skip();
    setenv("TMPDIR", "/dev/shm", 1);
    for (int may = 0; may <= 1; may++) {
        open_in(fx, NULL, may == 1);
        start(fx, 0);
        put(fx, 3 * BLOCK); /* no other place may exist, either */
        wait_for_file(fx);
        assert_int_equal(spill_files_in("/dev/shm"), may);
    }
    if (before != NULL)
        setenv("TMPDIR", before, 1);
    else
        unsetenv("TMPDIR");
    free(before);
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
        TEST(what_was_put_is_read),
        TEST(little_is_in_memory_alone),
        TEST(the_file_is_as_large_as_what_was_held),
        TEST(as_much_as_the_limit_is_held),
        TEST(nothing_held_is_an_empty_file),
        TEST(a_full_disk_takes_nothing_from_what_is_there),
        TEST(what_is_not_in_the_file_any_more_is_said),
        TEST(readers_may_go_while_they_wait),
        TEST(in_memory_it_lies_where_it_may),
        cmocka_unit_test(places_are_tried_before),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
