/* What tools have pushed, until it goes on its way. */
#include "config.h"

#include "pmix_api/pushes.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "overlay/wire/push.h"
#include "pmix_api/wire_push.h"
#include "tests/unit/chance.h"
#include "tests/unit/rig.h"
#include "tests/unit/spill_file.h"

enum {
    MESSAGES = 20000,
    SIZE_BYTES = 4000, /* of what comes out, at most */
    PAYLOAD_MAX = 600,
    LARGE_BYTES = 32 * 1024,
    FILE_BYTES = 1 << 20,
};

static uint32_t encode(uint8_t *out, uint32_t n, uint16_t flags, uint32_t bytes)
{
    const struct topo_range all = {0, n};
    bool is_new = (flags & OV_PUSH_NEW) != 0;
    struct ov_wr wr = ov_wr_init(out, LARGE_BYTES);

    ov_push_encode(&wr, flags, is_new ? &all : NULL, is_new ? 1 : 0);
    while (bytes-- > 0)
        ov_wr_u8(&wr, (uint8_t)(n * 31 + bytes));
    return (uint32_t)(wr.at - out);
}

/* Message number n: what it is follows from that. */
static uint32_t make(uint8_t *out, uint32_t n)
{
    uint16_t flags = 0;

    if (n % 23 == 0)
        flags = OV_PUSH_NEW;
    if (n % 46 == 0)
        flags |= OV_PUSH_MORE;
    else if (n % 31 == 0)
        flags |= OV_PUSH_CLOSE;
    return encode(out, n, flags,
                  flags & OV_PUSH_MORE ? 0 : 1 + n * 37 % PAYLOAD_MAX);
}

static const struct px_pushes_cfg *in_dir(const char *dir)
{
    static struct px_pushes_cfg cfg = {.near_bytes = 1 << 20};

    cfg.dir = dir;
    return &cfg;
}

static void put(struct px_pushes *pushes, uint32_t n)
{
    uint8_t mem[LARGE_BYTES];

    px_pushes_put(pushes, mem, make(mem, n), in_dir(getenv("TMPDIR")));
}

/* Takes one out, which is made of messages from number n on; returns how many
 * they were. */
static uint32_t expect(struct px_pushes *pushes, uint32_t n)
{
    uint8_t got[SIZE_BYTES], want[LARGE_BYTES];
    uint32_t len = px_pushes_get(pushes, got, sizeof(got)), count = 0, at = 0;

    assert_in_range(len, 1, sizeof(got));
    do {
        uint32_t skip = count > 0 ? OV_PUSH_HEAD_BYTES : 0;
        uint32_t more = make(want, n + count) - skip;

        assert_true(more <= len - at);
        assert_memory_equal(got + at, want + skip, more);
        at += more;
        count++;
    } while (at < len);
    return count;
}

/* Whatever the order of puts and gets; more than the memory holds. */
static void all_comes_out_in_order(void **state)
{
    struct px_pushes pushes = {.is_open = false};
    struct chance chance = chance_start(15);
    uint32_t first = 0, next = 0, gets = 0;

    (void)state;
    assert_true(px_pushes_are_none(&pushes));
    while (first < MESSAGES) {
        bool puts = chance_is(&chance, next / 8000 % 2 ? 60 : 99);

        if (next < MESSAGES && (puts || first == next)) {
            put(&pushes, next++);
        } else {
            first += expect(&pushes, first);
            gets++;
        }
        assert_true(px_pushes_are_none(&pushes) == (first == next));
    }
    assert_true(gets < MESSAGES / 2); /* they were put together */
    assert_true(pushes.spool.fd >= 0);
    assert_int_equal(spill_file_bytes(), 0);
    px_pushes_close(&pushes);
    assert_int_equal(spill_file_bytes(), -1);
}

/* A message of another set, of no set yet, or behind an end is not added, nor
 * is one that there is no room for. */
static void only_what_belongs_together_is_one(void **state)
{
    static const struct {
        uint16_t first, second;
        bool are_one;
    } cases[] = {
        {OV_PUSH_NEW, 0, true},    {0, 0, true},
        {0, OV_PUSH_CLOSE, false}, {OV_PUSH_CLOSE, 0, false},
        {0, OV_PUSH_NEW, false},
    };
    uint8_t mem[LARGE_BYTES], out[SIZE_BYTES];

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        for (uint32_t spare = 0; spare < 2; spare++) {
            struct px_pushes pushes = {.is_open = false};
            uint32_t one = encode(mem, 1, cases[i].first, 100);
            uint32_t got, bytes = SIZE_BYTES - one + spare;

            px_pushes_put(&pushes, mem, one, in_dir("/"));
            px_pushes_put(&pushes, mem, encode(mem, 1, cases[i].second, bytes),
                          in_dir("/"));
            got = px_pushes_get(&pushes, out, sizeof(out));
            assert_int_equal(got,
                             cases[i].are_one && spare == 0 ? SIZE_BYTES : one);
            px_pushes_close(&pushes);
        }
    }
}

static void put_large(struct px_pushes *pushes, uint32_t n, const char *dir)
{
    uint8_t mem[LARGE_BYTES];

    px_pushes_put(pushes, mem, encode(mem, n, OV_PUSH_NEW, LARGE_BYTES - 100),
                  in_dir(dir));
}

static void expect_large(struct px_pushes *pushes, uint32_t n)
{
    uint8_t got[LARGE_BYTES], want[LARGE_BYTES];
    uint32_t len = encode(want, n, OV_PUSH_NEW, LARGE_BYTES - 100);

    assert_int_equal(px_pushes_get(pushes, got, sizeof(got)), len);
    assert_memory_equal(got, want, len);
}

/* With a file so long as they are full, and until half of it has gone. */
static void they_are_full_until_half_has_gone(void **state)
{
    static const struct {
        uint64_t file_mib;
        bool is_full;
    } rows[] = {{255, false}, {256, true},  {200, true}, {128, true},
                {127, false}, {200, false}, {257, true}, {0, false}};
    struct px_pushes pushes = {.is_open = false};

    (void)state;
    assert_false(px_pushes_are_full(&pushes));
    put_large(&pushes, 1, getenv("TMPDIR"));
    for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        pushes.spool.far.used_bytes = rows[i].file_mib << 20;
        assert_int_equal(px_pushes_are_full(&pushes), rows[i].is_full);
    }
    px_pushes_close(&pushes);
}

/* Their memory goes, but not what is known of losses. */
static void a_rest_gives_back_what_is_empty(void **state)
{
    struct px_pushes pushes = {.is_open = false};

    (void)state;
    px_pushes_rest(&pushes);
    put_large(&pushes, 1, getenv("TMPDIR"));
    px_pushes_rest(&pushes);
    assert_true(pushes.is_open);
    expect_large(&pushes, 1);
    px_pushes_rest(&pushes);
    assert_false(pushes.is_open);
    put_large(&pushes, 2, getenv("TMPDIR"));
    expect_large(&pushes, 2);
    pushes.is_torn = true;
    px_pushes_rest(&pushes);
    assert_true(pushes.is_open);
    px_pushes_close(&pushes);
}

/* So many, of which the file takes some, or none. */
static void keep_them_all(const char *dir)
{
    struct px_pushes pushes = {.is_open = false};
    uint32_t next = 0, first = 0;

    while (next < 60)
        put_large(&pushes, next++, dir);
    assert_true(px_pushes_are_full(&pushes));
    while (first < 50)
        expect_large(&pushes, first++);
    put_large(&pushes, next++, dir);
    while (first < next)
        expect_large(&pushes, first++);
    assert_true(px_pushes_are_none(&pushes));
    assert_false(px_pushes_are_full(&pushes));
    put_large(&pushes, 7, dir);
    px_pushes_close(&pushes);
}

static void without_a_file_none_is_lost(void **state)
{
    (void)state;
    keep_them_all("/nowhere/at/all");
}

/* The last one: it cannot be taken back. */
static void on_a_full_disk_none_is_lost(void **state)
{
    (void)state;
    signal(SIGXFSZ, SIG_IGN);
    spill_file_limit(LARGE_BYTES * 4);
    keep_them_all(getenv("TMPDIR"));
}

/* Where the file has lost some, what follows is for nobody knows whom, up to
 * where it says so. */
static void what_a_file_has_lost_is_counted(void **state)
{
    struct px_pushes pushes = {.is_open = false};
    uint8_t mem[LARGE_BYTES];
    uint32_t n = 0, first = 0;

    (void)state;
    while (pushes.spool.far.used_bytes < FILE_BYTES / 2)
        put_large(&pushes, n++, getenv("TMPDIR"));
    assert_int_equal(ftruncate(pushes.spool.fd, 0), 0);
    while (pushes.spool.near.used_bytes > 0)
        expect_large(&pushes, first++);
    if (pushes.ahead_bytes > 0)
        expect_large(&pushes, first++);
    assert_true(px_pushes_are_none(&pushes) || pushes.lost_bytes == 0);
    assert_int_equal(px_pushes_get(&pushes, mem, sizeof(mem)), 0);
    assert_true(px_pushes_are_none(&pushes));
    assert_true(pushes.lost_bytes >= FILE_BYTES / 2);
    pushes.lost_bytes = 0;
    px_pushes_put(&pushes, mem, encode(mem, 1, 0, 50),
                  in_dir(getenv("TMPDIR")));
    put_large(&pushes, 5, getenv("TMPDIR"));
    expect_large(&pushes, 5);
    assert_int_equal(pushes.lost_bytes, OV_PUSH_HEAD_BYTES + 50);
    px_pushes_close(&pushes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_comes_out_in_order),
        cmocka_unit_test(only_what_belongs_together_is_one),
        cmocka_unit_test(they_are_full_until_half_has_gone),
        cmocka_unit_test(a_rest_gives_back_what_is_empty),
        cmocka_unit_test(without_a_file_none_is_lost),
        cmocka_unit_test(what_a_file_has_lost_is_counted),
        cmocka_unit_test(on_a_full_disk_none_is_lost),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
