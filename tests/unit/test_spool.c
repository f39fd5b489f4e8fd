/* Many spools of one writer: one thread handles the files of all, no spool
 * waits for the queue of another, and the loop waits for no file, whatever the
 * file does. */
#include "config.h"

#include "endpoints/sys/spool.h"

#include "tests/unit/rig.h"

#include <errno.h>
#include <semaphore.h>
#include <sys/stat.h>

#include "endpoints/sys/writer.h"
#include "overlay/base/err.h"

enum {
    SPOOLS = 100,
    BLOCK = 4096,
    MEM_BLOCKS = 2,
    PIECE = 1000,
    PIECES =
        40, /* pieces for each spool: ten times what fits into its memory */
    FDS_MAX = 1024,
};

struct piece {
    struct ep_spool_ref ref;
    uint32_t number;
};

struct one {
    struct ep_spool *sp;
    struct piece pieces[PIECES];
    uint32_t put;
};

struct fixture {
    struct event_base *base;
    struct ep_writer *w;
    struct one ones[SPOOLS];
    unsigned changes;
};

static unsigned threads_at_start;

/* --- writes that fail or hang */

/* The error of each write from now on; set while the thread is idle. */
static int write_err;
static bool is_held; /* True: each write hangs; also set while the thread is
                      * idle. */
static sem_t held, may_go;

ssize_t __real_pwrite(int fd, const void *mem, size_t len, off_t off);
ssize_t __wrap_pwrite(int fd, const void *mem, size_t len, off_t off);

ssize_t __wrap_pwrite(int fd, const void *mem, size_t len, off_t off)
{
    if (is_held) {
        sem_post(&held);
        while (sem_wait(&may_go) != 0)
            ; /* A signal interrupts the wait without letting the thread go on.
               */
    }
    if (write_err != 0) {
        errno = write_err;
        return -1;
    }
    return __real_pwrite(fd, mem, len, off);
}

/* --- the spools
 * */

static void on_change(void *arg)
{
    struct fixture *fx = arg;

    fx->changes++;
}

static struct ep_spool *spool_open(struct fixture *fx, const char *dir)
{
    const struct ep_spool_cfg cfg = {.limit_bytes = 1 << 20,
                                     .block_bytes = BLOCK,
                                     .mem_blocks = MEM_BLOCKS,
                                     .dir = dir,
                                     .on_change = on_change,
                                     .arg = fx};
    struct ep_spool *sp;

    assert_int_equal(ep_spool_open(fx->w, &cfg, &sp), 0);
    return sp;
}

static int setup(void **state)
{
    struct fixture *fx = calloc(1, sizeof(*fx));

    write_err = 0;
    is_held = false;
    fx->base = event_base_new();
    assert_int_equal(ep_writer_open(fx->base, &fx->w), 0);
    for (int i = 0; i < SPOOLS; i++)
        fx->ones[i].sp = spool_open(fx, getenv("TMPDIR"));
    *state = fx;
    return 0;
}

/* Returns how many unlinked files this process has open. */
static unsigned files(void)
{
    unsigned count = 0;
    struct stat st;

    for (int fd = 0; fd < FDS_MAX; fd++)
        count += fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_nlink == 0;
    return count;
}

static int teardown(void **state)
{
    struct fixture *fx = *state;

    for (int i = 0; i < SPOOLS; i++)
        ep_spool_close(fx->ones[i].sp);
    ep_spool_close(NULL);
    ep_writer_close(fx->w, true);
    event_base_free(fx->base);
    assert_int_equal(files(), 0);
    rig_threads_until(threads_at_start);
    free(fx);
    return 0;
}

static void fill(uint8_t *mem, int i, uint32_t number)
{
    for (uint32_t at = 0; at < PIECE; at++)
        mem[at] = (uint8_t)(at * 31 + number * 7 + (uint32_t)i);
}

/* Puts one more piece, if there is room. */
static int put(struct fixture *fx, int i)
{
    struct one *one = &fx->ones[i];
    uint8_t mem[PIECE];
    int rc;

    fill(mem, i, one->put);
    assert_true(one->put < PIECES);
    rc = ep_spool_put(one->sp, mem, 100, mem + 100, PIECE - 100,
                      &one->pieces[one->put].ref);
    if (rc == 0)
        one->pieces[one->put].number = one->put, one->put++;
    return rc;
}

static void wait_for_change(struct fixture *fx)
{
    rig_run_until(fx->base, &fx->changes, fx->changes + 1);
}

/* Gets all pieces back and compares each. */
static void take_all(struct fixture *fx, int i)
{
    struct one *one = &fx->ones[i];
    uint8_t want[PIECE];

    for (uint32_t at = 0; at < one->put; at++) {
        struct piece *piece = &one->pieces[at];
        const uint8_t *mem;
        int rc;

        while ((rc = ep_spool_get(one->sp, &piece->ref, &mem)) == OV_EAGAIN)
            wait_for_change(fx);
        assert_int_equal(rc, 0);
        fill(want, i, piece->number);
        assert_memory_equal(mem, want, PIECE);
        ep_spool_release(one->sp, &piece->ref);
    }
    one->put = 0;
}

static bool is_writer_idle(const void *arg)
{
    return ep_writer_is_idle(arg);
}

/* All spools fill their files, a piece of each in turn, and get everything
 * back. */
static void a_hundred_files_have_one_thread(void **state)
{
    struct fixture *fx = *state;
    unsigned most = 0;

    assert_int_equal(rig_threads(), threads_at_start);
    for (int n = 0; n < PIECES; n++) {
        for (int i = 0; i < SPOOLS; i++) {
            int rc;

            while ((rc = put(fx, i)) == OV_EAGAIN)
                wait_for_change(fx);
            assert_int_equal(rc, 0);
        }
        if (rig_threads() > most)
            most = rig_threads();
    }
    rig_run_until_true(fx->base, is_writer_idle, fx->w);
    assert_int_equal(files(), SPOOLS);
    for (int i = 0; i < SPOOLS; i++)
        take_all(fx, i);
    assert_int_equal(most, threads_at_start + 1);
    assert_int_equal(rig_threads(), threads_at_start + 1);
}

/* The file fails at each of its writes in turn: accepted pieces stay in memory,
 * and come back; then a disk that has room again is used. */
static void a_file_that_fails_leaves_what_was_taken(void **state)
{
    struct fixture *fx = *state;
    const int errs[] = {ENOSPC, EIO};

    for (int e = 0; e < 2; e++) {
        write_err = errs[e];
        for (int i = 0; i < SPOOLS; i++) {
            int rc;

            while ((rc = put(fx, i)) == 0 || rc == OV_EAGAIN) {
                if (rc == OV_EAGAIN)
                    wait_for_change(fx);
            }
            assert_int_equal(rc, OV_EFULL);
            assert_int_equal(ep_spool_errno(fx->ones[i].sp), errs[e]);
            assert_in_range(fx->ones[i].put, 1, MEM_BLOCKS * (BLOCK / PIECE));
        }
        rig_run_until_true(fx->base, is_writer_idle, fx->w);
        write_err = 0;
        for (int i = 0; i < SPOOLS; i++) {
            take_all(fx, i);
            assert_int_equal(ep_spool_errno(fx->ones[i].sp), 0);
        }
        assert_int_equal(put(fx, e), 0);
        take_all(fx, e);
    }
}

/* A spool that has no place for its file does not affect the others. */
static void one_that_fails_fails_alone(void **state)
{
    struct fixture *fx = *state;
    int rc;

    ep_spool_close(fx->ones[0].sp);
    fx->ones[0].sp = spool_open(fx, "/no/such/place");
    for (int i = 0; i < 3; i++) {
        while (fx->ones[i].put < PIECES &&
               ((rc = put(fx, i)) == 0 || rc == OV_EAGAIN)) {
            if (rc == OV_EAGAIN)
                wait_for_change(fx);
        }
        assert_int_equal(ep_spool_errno(fx->ones[i].sp), i == 0 ? ENOENT : 0);
        assert_true(i == 0 || fx->ones[i].put == PIECES);
    }
    for (int i = 0; i < 3; i++)
        take_all(fx, i);
}

/* Puts pieces until the spool waits for its file. */
static void put_until_it_waits(struct fixture *fx, int i)
{
    while (put(fx, i) == 0)
        ;
}

/* The disk hangs in a write for the first spool. All spools can be closed
 * meanwhile, the first one, too, although the disk does not go on before that.
 * Then their files are closed. */
static void closing_waits_for_no_disk(void **state)
{
    struct fixture *fx = *state;
    const uint8_t *mem;

    for (int i = 0; i < 3; i++) {
        while (fx->ones[i].put < PIECES / 2) {
            if (put(fx, i) != 0)
                wait_for_change(fx);
        }
    }
    rig_run_until_true(fx->base, is_writer_idle, fx->w);
    assert_int_equal(files(), 3);
    is_held = true;
    put_until_it_waits(fx, 0);
    while (sem_wait(&held) != 0)
        ;
    put_until_it_waits(fx, 1);
    assert_int_equal(
        ep_spool_get(fx->ones[2].sp, &fx->ones[2].pieces[0].ref, &mem),
        OV_EAGAIN);
    for (int i = 0; i < SPOOLS; i++) {
        ep_spool_close(fx->ones[i].sp);
        fx->ones[i].sp = NULL;
    }
    assert_int_equal(files(), 3);
    is_held = false;
    sem_post(&may_go);
    while (files() > 0)
        sched_yield();
}

#define WITH_SPOOLS(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_SPOOLS(a_hundred_files_have_one_thread),
        WITH_SPOOLS(a_file_that_fails_leaves_what_was_taken),
        WITH_SPOOLS(one_that_fails_fails_alone),
        WITH_SPOOLS(closing_waits_for_no_disk),
    };

    sem_init(&held, 0, 0);
    sem_init(&may_go, 0, 0);
    threads_at_start = rig_threads();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
