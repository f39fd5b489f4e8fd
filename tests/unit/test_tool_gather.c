/* Output is gathered into larger pieces, and each channel keeps its order. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "pmix_api/helper/gather.h"
#include "tests/unit/chance.h"

static struct px_lib_output piece(uint32_t rank, const char *text)
{
    return (struct px_lib_output){.rank = rank,
                                  .channel = PX_LIB_STDOUT,
                                  .mem = text,
                                  .len_bytes = strlen(text)};
}

static int open_gather(uint32_t procs, uint64_t size_bytes, uint64_t time_ms,
                       bool has_lines, struct px_gather **out)
{
    return px_gather_open(&(struct px_gather_cfg){.procs = procs,
                                                  .size_bytes = size_bytes,
                                                  .time_ms = time_ms,
                                                  .has_lines = has_lines},
                          out);
}

static void check(const struct px_lib_output *out, uint32_t rank,
                  const char *text)
{
    assert_int_equal(out->rank, rank);
    assert_int_equal(out->channel, PX_LIB_STDOUT);
    assert_int_equal(out->len_bytes, strlen(text));
    assert_memory_equal(out->mem, text, strlen(text));
}

/* Without a size every piece is released as it comes. */
static void nothing_is_held(void **state)
{
    struct px_lib_output in = piece(0, "a"), out;
    struct px_gather *gather;

    (void)state;
    assert_int_equal(open_gather(1, 0, 1000, false, &gather), 0);
    assert_int_equal(px_gather_put(gather, &in, 0, &out), PX_GATHER_GOES);
    check(&out, 0, "a");
    assert_true(px_gather_is_empty(gather));
    px_gather_close(gather);
}

/* The bytes of a channel are released when there are enough, or at its end;
 * those of other channels stay. */
static void size_and_end(void **state)
{
    struct px_lib_output in = piece(1, "abc"), other = piece(0, "x"), out;
    struct px_gather *gather;

    (void)state;
    assert_int_equal(open_gather(2, 6, 0, false, &gather), 0);
    assert_int_equal(px_gather_put(gather, &in, 0, &out), PX_GATHER_HELD);
    assert_int_equal(px_gather_put(gather, &other, 0, &out), PX_GATHER_HELD);
    assert_int_equal(px_gather_due_ms(gather), 0);
    assert_false(px_gather_get(gather, UINT64_MAX, false, &out));
    assert_int_equal(px_gather_put(gather, &in, 0, &out), PX_GATHER_GOES);
    check(&out, 1, "abcabc");
    other.is_end = true;
    assert_int_equal(px_gather_put(gather, &other, 0, &out), PX_GATHER_GOES);
    check(&out, 0, "xx");
    assert_true(out.is_end);
    assert_true(px_gather_is_empty(gather));
    px_gather_close(gather);
}

/* Missing bytes are reported at their place: bytes that were held are released
 * before. */
static void missing_bytes(void **state)
{
    struct px_lib_output in = piece(0, "abc"), out;
    struct px_gather *gather;

    (void)state;
    assert_int_equal(open_gather(1, 100, 0, false, &gather), 0);
    assert_int_equal(px_gather_put(gather, &in, 0, &out), PX_GATHER_HELD);
    in = piece(0, "d");
    in.dropped_bytes = 7;
    in.is_end = true;
    assert_int_equal(px_gather_put(gather, &in, 0, &out), PX_GATHER_FIRST);
    check(&out, 0, "abc");
    assert_int_equal(out.dropped_bytes, 0);
    assert_false(out.is_end);
    assert_int_equal(px_gather_put(gather, &in, 0, &out), PX_GATHER_GOES);
    check(&out, 0, "d");
    assert_int_equal(out.dropped_bytes, 7);
    assert_true(out.is_end);
    px_gather_close(gather);
}

/* The time of each channel counts from the first byte that is held; with `all`
 * the bytes held for longest are released. */
static void time_and_all(void **state)
{
    struct px_lib_output first = piece(1, "a"), second = piece(0, "b"), out;
    struct px_gather *gather;

    (void)state;
    assert_int_equal(open_gather(2, 100, 10, false, &gather), 0);
    (void)px_gather_put(gather, &first, 5, &out);
    (void)px_gather_put(gather, &second, 9, &out);
    (void)px_gather_put(gather, &first, 14, &out);
    assert_int_equal(px_gather_due_ms(gather), 15);
    assert_false(px_gather_get(gather, 14, false, &out));
    assert_true(px_gather_get(gather, 15, false, &out));
    check(&out, 1, "aa");
    assert_false(px_gather_get(gather, 15, false, &out));
    assert_true(px_gather_get(gather, 15, true, &out));
    check(&out, 0, "b");
    assert_false(px_gather_get(gather, 99, true, &out));
    px_gather_close(gather);
}

enum { RANKS = 5, CHANNELS = 3, STEPS = 100000 };

static uint64_t given[RANKS][CHANNELS], got[RANKS][CHANNELS];

/* Returns the byte at this position of a channel; each channel has other
 * bytes. */
static uint8_t byte_at(uint32_t rank, uint32_t channel, uint64_t at)
{
    return (uint8_t)(at * 7 + at / 251 + rank * 31 + channel * 101);
}

static void take(const struct px_lib_output *out)
{
    const uint32_t channel = (uint32_t)__builtin_ctz(out->channel) - 1;
    uint64_t *at = &got[out->rank][channel];
    const uint8_t *mem = out->mem;

    assert_true(out->len_bytes <= PX_LIB_BYTES_MAX);
    for (size_t i = 0; i < out->len_bytes; i++)
        assert_int_equal(mem[i], byte_at(out->rank, channel, (*at)++));
}

static struct px_lib_output some(struct chance *chance, uint8_t *mem)
{
    const uint32_t rank = chance_in(chance, 0, RANKS - 1);
    const uint32_t channel = chance_in(chance, 0, CHANNELS - 1);
    const uint32_t most = chance_is(chance, 1) ? PX_GATHER_PIECE_BYTES : 200;
    const uint32_t len = chance_in(chance, 0, most);

    for (uint32_t i = 0; i < len; i++)
        mem[i] = byte_at(rank, channel, given[rank][channel]++);
    return (struct px_lib_output){.rank = rank,
                                  .channel =
                                      (uint16_t)(PX_LIB_STDOUT << channel),
                                  .mem = mem,
                                  .len_bytes = len};
}

static void play(struct chance *chance, uint64_t size_bytes)
{
    static uint8_t mem[PX_GATHER_PIECE_BYTES];
    struct px_lib_output out;
    struct px_gather *gather;

    memset(given, 0, sizeof(given));
    memset(got, 0, sizeof(got));
    assert_int_equal(open_gather(RANKS, size_bytes, 50, false, &gather), 0);
    for (uint64_t step = 0; step < STEPS; step++) {
        struct px_lib_output in = some(chance, mem);

        if (px_gather_put(gather, &in, step, &out) == PX_GATHER_GOES)
            take(&out);
        if (chance_is(chance, 1) &&
            px_gather_get(gather, step, chance_is(chance, 50), &out))
            take(&out);
    }
    while (px_gather_get(gather, 0, true, &out))
        take(&out);
    assert_memory_equal(given, got, sizeof(given));
    px_gather_close(gather);
}

/* Random pieces of random channels: each channel comes whole and in order. */
static void random_pieces(void **state)
{
    struct chance chance = chance_start(7);

    (void)state;
    play(&chance, chance_in(&chance, 1, 9999));
    play(&chance, 1 << 30);
}

static void put(struct px_gather *gather, const char *text, bool is_end,
                const char *want)
{
    struct px_lib_output in = piece(0, text), out;
    const enum px_gather_verdict verdict =
        want[0] != '\0' || is_end ? PX_GATHER_GOES : PX_GATHER_HELD;

    in.is_end = is_end;
    assert_int_equal(px_gather_put(gather, &in, 0, &out), verdict);
    if (verdict == PX_GATHER_GOES)
        check(&out, 0, want);
}

/* Lines are released when they are whole; the last line of a channel gets a
 * newline. */
static void lines(void **state)
{
    struct px_gather *gather;

    (void)state;
    assert_int_equal(open_gather(1, 0, 0, true, &gather), 0);
    put(gather, "one", false, "");
    put(gather, " line\n", false, "one line\n");
    assert_true(px_gather_is_empty(gather));
    put(gather, "a\nb\nc", false, "a\nb\n");
    put(gather, "d", false, "");
    put(gather, "\ne", false, "cd\n");
    put(gather, "", true, "e\n");
    assert_true(px_gather_is_empty(gather));
    put(gather, "f", true, "f\n");
    put(gather, "g\n", true, "g\n");
    put(gather, "", true, "");
    px_gather_close(gather);
    assert_int_equal(open_gather(1, 4, 0, true, &gather), 0);
    put(gather, "a\n", false, "");
    put(gather, "b\nc", false, "a\nb\n");
    assert_false(px_gather_is_empty(gather));
    px_gather_close(gather);
}

/* A line that is too long is released as it is, and so is a piece before which
 * bytes are missing. */
static void no_lines(void **state)
{
    static char text[PX_GATHER_PIECE_BYTES];
    struct px_lib_output in = {.channel = PX_LIB_STDOUT,
                               .mem = text,
                               .len_bytes = sizeof(text)},
                         out;
    struct px_gather *gather;
    enum px_gather_verdict verdict = PX_GATHER_HELD;
    unsigned puts = 0;

    (void)state;
    memset(text, 'x', sizeof(text));
    assert_int_equal(open_gather(1, 0, 0, true, &gather), 0);
    for (; verdict == PX_GATHER_HELD; puts++)
        verdict = px_gather_put(gather, &in, 0, &out);
    assert_int_equal(out.len_bytes, (size_t)puts * sizeof(text));
    assert_true(out.len_bytes <= PX_LIB_BYTES_MAX);
    assert_true(px_gather_is_empty(gather));
    put(gather, "open", false, "");
    in = piece(0, "rest");
    in.dropped_bytes = 7;
    assert_int_equal(px_gather_put(gather, &in, 0, &out), PX_GATHER_FIRST);
    check(&out, 0, "open");
    assert_int_equal(out.dropped_bytes, 0);
    assert_int_equal(px_gather_put(gather, &in, 0, &out), PX_GATHER_GOES);
    check(&out, 0, "rest");
    assert_int_equal(out.dropped_bytes, 7);
    px_gather_close(gather);
}

/* Held bytes of a channel can be found and taken out. */
static void taken_out(void **state)
{
    struct px_lib_output in = piece(1, "b"), out;
    struct px_gather *gather;

    (void)state;
    assert_int_equal(open_gather(2, 100, 0, false, &gather), 0);
    assert_false(px_gather_peek(gather, &out));
    assert_false(px_gather_take(gather, 0, PX_LIB_STDOUT, &out));
    assert_int_equal(px_gather_put(gather, &in, 0, &out), PX_GATHER_HELD);
    put(gather, "a", false, "");
    assert_true(px_gather_peek(gather, &out));
    assert_int_equal(out.rank, 1);
    assert_true(px_gather_take(gather, 0, PX_LIB_STDOUT, &out));
    check(&out, 0, "a");
    assert_false(px_gather_take(gather, 0, PX_LIB_STDOUT, &out));
    assert_false(px_gather_is_empty(gather));
    px_gather_close(gather);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines),        cmocka_unit_test(no_lines),
        cmocka_unit_test(taken_out),    cmocka_unit_test(nothing_is_held),
        cmocka_unit_test(size_and_end), cmocka_unit_test(missing_bytes),
        cmocka_unit_test(time_and_all), cmocka_unit_test(random_pieces),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
