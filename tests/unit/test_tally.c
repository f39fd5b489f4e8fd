/* Tallies: any change in the records of a channel is noticed. */
#include "job/tally.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/chance.h"

enum { RECORDS = 6, RECORD_BYTES = 1000, ROUNDS = 2000 };

/* A channel: some records, one after another. */
struct speech {
    uint8_t mem[RECORDS][RECORD_BYTES];
    size_t len_bytes[RECORDS];
};

static void speech_make(struct speech *sp, struct chance *chance)
{
    for (unsigned r = 0; r < RECORDS; r++) {
        sp->len_bytes[r] = chance_in(chance, 1, RECORD_BYTES);
        for (size_t i = 0; i < sp->len_bytes[r]; i++)
            sp->mem[r][i] = (uint8_t)chance_next(chance);
    }
}

/* Returns the tally of the records in this order; the number RECORDS stands for
 * no record. */
static struct job_tally tally_of(const struct speech *sp,
                                 const unsigned order[RECORDS + 1])
{
    struct job_tally tally = {0, 0};

    for (unsigned i = 0; i <= RECORDS; i++) {
        if (order[i] < RECORDS)
            job_tally_add(&tally, sp->mem[order[i]], sp->len_bytes[order[i]]);
    }
    return tally;
}

static void the_sum_of_one_record_is_its_xxh3(void **state)
{
    struct job_tally tally = {0, 0};

    (void)state;
    job_tally_add(&tally, "abc", 3);
    assert_int_equal(tally.bytes, 3);
    assert_int_equal(tally.sum, UINT64_C(0x78af5f94892f3950));
}

/* The checksum is the same whatever code the library chooses for this
 * processor: the other end may use other code. */
static void the_sum_of_long_records_is_the_same_everywhere(void **state)
{
    static const size_t len_bytes[] = {1000, 100, 1000};
    struct job_tally tally = {0, 0};
    uint8_t mem[1000];

    (void)state;
    for (unsigned i = 0; i < sizeof(mem); i++)
        mem[i] = (uint8_t)(i * 7);
    for (unsigned i = 0; i < 3; i++)
        job_tally_add(&tally, mem, len_bytes[i]);
    assert_int_equal(tally.bytes, 2100);
    assert_int_equal(tally.sum, UINT64_C(0xbf9d0cd9a4bd605f));
}

static void nothing_changes_nothing(void **state)
{
    struct job_tally tally = {0, 0};

    (void)state;
    job_tally_add(&tally, NULL, 0);
    assert_int_equal(tally.bytes, 0);
    assert_int_equal(tally.sum, 0);
}

/* A record is lost, comes twice, or changes its place with another. */
static void lost_repeated_and_moved_records_show(void **state)
{
    static const unsigned right[] = {0, 1, 2, 3, 4, 5, RECORDS};
    struct chance chance = chance_start(1);

    (void)state;
    for (unsigned round = 0; round < ROUNDS; round++) {
        unsigned a = chance_in(&chance, 0, RECORDS - 1);
        unsigned b = (a + chance_in(&chance, 1, RECORDS - 1)) % RECORDS;
        unsigned lost[RECORDS + 1], twice[RECORDS + 1], moved[RECORDS + 1];
        struct job_tally want, got;
        struct speech sp;

        speech_make(&sp, &chance);
        memcpy(lost, right, sizeof(right));
        memcpy(twice, right, sizeof(right));
        memcpy(moved, right, sizeof(right));
        lost[a] = RECORDS;
        twice[RECORDS] = a;
        moved[a] = b;
        moved[b] = a;
        want = tally_of(&sp, right);
        got = tally_of(&sp, right);
        assert_true(job_tally_is_equal(&want, &got));
        got = tally_of(&sp, lost);
        assert_false(job_tally_is_equal(&want, &got));
        got = tally_of(&sp, twice);
        assert_false(job_tally_is_equal(&want, &got));
        got = tally_of(&sp, moved);
        assert_int_equal(want.bytes, got.bytes);
        assert_int_not_equal(want.sum, got.sum);
    }
}

static void a_single_bit_shows(void **state)
{
    static const unsigned right[] = {0, 1, 2, 3, 4, 5, RECORDS};
    struct chance chance = chance_start(1);

    (void)state;
    for (unsigned round = 0; round < ROUNDS; round++) {
        unsigned r = chance_in(&chance, 0, RECORDS - 1);
        struct job_tally want, got;
        struct speech sp;

        speech_make(&sp, &chance);
        want = tally_of(&sp, right);
        sp.mem[r][chance_in(&chance, 0, (uint32_t)sp.len_bytes[r] - 1)] ^=
            (uint8_t)(1u << chance_in(&chance, 0, 7));
        got = tally_of(&sp, right);
        assert_int_equal(want.bytes, got.bytes);
        assert_int_not_equal(want.sum, got.sum);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_sum_of_one_record_is_its_xxh3),
        cmocka_unit_test(the_sum_of_long_records_is_the_same_everywhere),
        cmocka_unit_test(nothing_changes_nothing),
        cmocka_unit_test(lost_repeated_and_moved_records_show),
        cmocka_unit_test(a_single_bit_shows),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
