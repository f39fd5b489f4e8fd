/* A set has what was added, whether that is little or much. */
#include "job/rank_set.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/chance.h"

enum { RANKS_MAX = 300 };

static void check_ranges(const struct job_rank_set *set, const bool *has,
                         uint32_t ranks)
{
    uint32_t first = 0, last, at = 0;

    for (; job_rank_set_range(set, &first, &last); first = last + 1) {
        for (; at < first; at++)
            assert_false(has[at]);
        for (; at <= last; at++)
            assert_true(has[at]);
        assert_false(at < ranks && has[at]);
    }
    for (; at < ranks; at++)
        assert_false(has[at]);
}

static void play(struct chance *chance)
{
    const uint32_t ranks = chance_in(chance, 1, RANKS_MAX);
    const uint32_t adds = chance_in(chance, 0, 40);
    struct job_rank_set set = {.bits = NULL}, copy;
    bool has[RANKS_MAX] = {false};
    uint32_t count = 0;

    for (uint32_t i = 0; i < adds; i++) {
        const uint32_t rank = chance_in(chance, 0, ranks - 1);

        if (has[rank])
            continue;
        assert_true(job_rank_set_add(&set, rank, ranks));
        has[rank] = true;
        assert_int_equal(set.count, ++count);
    }
    check_ranges(&set, has, ranks);
    assert_true(job_rank_set_copy(&copy, &set));
    assert_true(job_rank_set_is_equal(&copy, &set));
    check_ranges(&copy, has, ranks);
    if (count < ranks && count > 0) {
        uint32_t rank = 0;

        while (has[rank])
            rank++;
        assert_true(job_rank_set_add(&copy, rank, ranks));
        assert_false(job_rank_set_is_equal(&copy, &set));
    }
    job_rank_set_fini(&copy);
    job_rank_set_fini(&set);
}

static void random_ranks_are_there(void **state)
{
    struct chance chance = chance_start(5);

    (void)state;
    for (int i = 0; i < 2000; i++)
        play(&chance);
}

static void memory_is_counted(void **state)
{
    struct job_rank_set set = {.bits = NULL};

    (void)state;
    for (uint32_t rank = 0; rank < JOB_RANK_SET_FEW; rank++)
        assert_true(job_rank_set_add(&set, rank, 1000));
    assert_int_equal(job_rank_set_bytes(&set), 0);
    assert_true(job_rank_set_add(&set, 999, 1000));
    assert_int_equal(job_rank_set_bytes(&set), 128);
    assert_int_equal(job_rank_set_next(&set, 8), 999);
    assert_int_equal(job_rank_set_next(&set, 1000), JOB_RANK_SET_NONE);
    assert_int_equal(job_rank_set_next(&set, 5000), JOB_RANK_SET_NONE);
    job_rank_set_fini(&set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_ranks_are_there),
        cmocka_unit_test(memory_is_counted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
