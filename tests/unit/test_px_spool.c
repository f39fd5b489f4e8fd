/* The queue of packets, in memory and in a file. */
#include "pmix_api/spool.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "overlay/base/err.h"
#include "tests/unit/chance.h"

enum { MEM_BYTES = 1000, FILE_BYTES = 5000, PACKET_MAX = 300 };

/* What packet number n is: its length and bytes follow from n. */
static uint32_t make(uint32_t n, uint8_t *out)
{
    uint32_t len = 1 + n * 37 % PACKET_MAX;

    for (uint32_t i = 0; i < len; i++)
        out[i] = (uint8_t)(n + i * 7);
    return len;
}

/* It can be looked at before, and be taken out unread. */
static void expect(struct px_spool *spool, uint32_t n)
{
    uint8_t want[PACKET_MAX], got[PACKET_MAX];
    uint32_t len = make(n, want), part = n % (len + 1);

    assert_int_equal(px_spool_peek(spool, got, part), len);
    assert_memory_equal(got, want, part);
    assert_int_equal(px_spool_peek(spool, got, len + 1), 0);
    if (n % 3 == 0) {
        px_spool_skip(spool);
        return;
    }
    assert_int_equal(px_spool_get(spool, got, sizeof(got)), len);
    assert_memory_equal(got, want, len);
}

/* A packet in two parts, of which one may be empty. */
static int put(struct px_spool *spool, uint32_t n)
{
    uint8_t mem[PACKET_MAX];
    uint32_t len = make(n, mem), head = n % (len + 1);

    return px_spool_put(spool, head > 0 ? mem : NULL, head, mem + head,
                        len - head);
}

static void open_spool(struct px_spool *spool, const char *dir)
{
    assert_int_equal(px_spool_open(spool, MEM_BYTES, FILE_BYTES, dir), 0);
}

/* Whatever the order of puts and gets, packets come out as they went in, and
 * what does not fit changes nothing. */
static void packets_come_out_as_they_went_in(void **state)
{
    struct px_spool spool;
    uint32_t first = 0, next = 0;
    unsigned full = 0;
    struct chance chance = chance_start(42);

    (void)state;
    open_spool(&spool, getenv("TMPDIR"));
    for (unsigned turn = 0; turn < 20000; turn++) {
        /* Long runs of the one kind: both rings fill, and empty. */
        bool puts = chance_is(&chance, turn / 200 % 2 ? 80 : 20);

        if (puts && put(&spool, next) == 0)
            next++;
        else if (puts)
            full++;
        else if (first < next)
            expect(&spool, first++);
        assert_true(px_spool_is_empty(&spool) == (first == next));
    }
    while (first < next)
        expect(&spool, first++);
    assert_true(full > 0);
    assert_int_equal(px_spool_peek(&spool, &full, 0), 0);
    px_spool_skip(&spool);
    px_spool_close(&spool);
}

/* Past half of its memory, and until the file has been read to its end. */
static void it_says_when_it_fills(void **state)
{
    struct px_spool spool;
    uint32_t next = 0, first = 0;

    (void)state;
    open_spool(&spool, getenv("TMPDIR"));
    assert_false(px_spool_is_filling(&spool));
    while (spool.near.used_bytes <= MEM_BYTES / 2) {
        assert_false(px_spool_is_filling(&spool));
        assert_int_equal(put(&spool, next++), 0);
    }
    assert_true(px_spool_is_filling(&spool));
    while (spool.far.used_bytes == 0)
        assert_int_equal(put(&spool, next++), 0);
    while (spool.far.used_bytes > 0) {
        assert_true(px_spool_is_filling(&spool));
        expect(&spool, first++);
    }
    assert_false(px_spool_is_filling(&spool));
    px_spool_close(&spool);
}

/* What was read leaves no file behind. */
static void the_file_shrinks_to_nothing(void **state)
{
    struct px_spool spool;
    struct stat st;
    uint8_t mem[PACKET_MAX];
    uint32_t next = 0;

    (void)state;
    open_spool(&spool, getenv("TMPDIR"));
    while (put(&spool, next) == 0)
        next++;
    assert_int_equal(fstat(spool.fd, &st), 0);
    assert_true(st.st_size > FILE_BYTES / 2);
    for (uint32_t i = 0; i < next; i++)
        expect(&spool, i);
    assert_int_equal(px_spool_get(&spool, mem, sizeof(mem)), 0);
    assert_int_equal(fstat(spool.fd, &st), 0);
    assert_int_equal(st.st_size, 0);
    px_spool_close(&spool);
}

static void without_a_folder_there_is_memory_alone(void **state)
{
    struct px_spool spool;
    uint32_t next = 0;

    (void)state;
    open_spool(&spool, "/nowhere/at/all");
    while (put(&spool, next) == 0)
        next++;
    assert_true(next > 0);
    assert_true(spool.is_broken);
    for (uint32_t i = 0; i < next; i++)
        expect(&spool, i);
    assert_true(px_spool_is_empty(&spool));
    px_spool_close(&spool);
}

/* That may pass, unlike a folder that cannot be used. */
static void for_want_of_a_descriptor_there_is_memory_alone(void **state)
{
    struct px_spool spool;
    struct rlimit was, none;
    uint32_t next = 0, more;

    (void)state;
    open_spool(&spool, getenv("TMPDIR"));
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &was), 0);
    none = (struct rlimit){.rlim_cur = 0, .rlim_max = was.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    while (put(&spool, next) == 0)
        next++;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &was), 0);
    more = next;
    while (put(&spool, more) == 0)
        more++;
    assert_true(more > next);
    for (uint32_t i = 0; i < more; i++)
        expect(&spool, i);
    px_spool_close(&spool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(packets_come_out_as_they_went_in),
        cmocka_unit_test(it_says_when_it_fills),
        cmocka_unit_test(the_file_shrinks_to_nothing),
        cmocka_unit_test(without_a_folder_there_is_memory_alone),
        cmocka_unit_test(for_want_of_a_descriptor_there_is_memory_alone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
