/* Ranks are together when all their lines are equal, and only then. */
#include "job/wholes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "job/hash.h"
#include "overlay/base/err.h"
#include "tests/unit/chance.h"

enum { RANKS = 60, LINES_MAX = 40 };

static int say(struct job_wholes *all, uint32_t rank, const char *line)
{
    const uint8_t *mem = (const uint8_t *)line;
    const uint32_t len = (uint32_t)strlen(line);

    return job_wholes_add(all, rank, mem, len, job_hash(mem, len, 0));
}

static void equal_outputs_are_together(void **state)
{
    struct job_wholes *all;
    struct job_whole *whole;

    (void)state;
    assert_int_equal(job_wholes_open(5, 1 << 20, &all), 0);
    assert_int_equal(job_wholes_next(all, &whole), OV_ENOENT);
    for (uint32_t rank = 1; rank < 5; rank++) {
        assert_int_equal(say(all, rank, "a\n"), 0);
        assert_int_equal(say(all, rank, rank == 2 ? "c\n" : "b\n"), 0);
    }
    assert_int_equal(job_wholes_next(all, &whole), 0);
    assert_int_equal(whole->members.count, 3);
    assert_int_equal(job_rank_set_next(&whole->members, 2), 3);
    assert_int_equal(whole->lines_count, 2);
    assert_memory_equal(whole->lines[0]->mem, "a\n", 2);
    assert_memory_equal(whole->lines[1]->mem, "b\n", 2);
    job_whole_free(whole);
    assert_int_equal(job_wholes_next(all, &whole), 0);
    assert_int_equal(whole->members.count, 1);
    assert_int_equal(job_rank_set_next(&whole->members, 0), 2);
    job_whole_free(whole);
    assert_int_equal(job_wholes_next(all, &whole), OV_ENOENT);
    job_wholes_close(all);
}

static void memory_is_bounded(void **state)
{
    struct job_wholes *all;
    char line[16];
    int rc = 0, count = 0;

    (void)state;
    assert_int_equal(job_wholes_open(2, 100000, &all), 0);
    for (; rc == 0; count++) {
        sprintf(line, "%d\n", count);
        rc = say(all, 0, line);
    }
    assert_int_equal(rc, OV_EFULL);
    assert_in_range(count, 500, 2000);
    /* What is there already needs no more room. */
    assert_int_equal(say(all, 1, "0\n"), 0);
    job_wholes_close(all);
}

static char said[RANKS][LINES_MAX * 8];

static void play(struct chance *chance)
{
    const uint32_t lines = chance_in(chance, 1, LINES_MAX);
    const uint32_t odd = chance_in(chance, 0, 5);
    struct job_wholes *all;
    struct job_whole *whole;
    bool is_seen[RANKS] = {false};

    assert_int_equal(job_wholes_open(RANKS, 1 << 20, &all), 0);
    memset(said, 0, sizeof(said));
    for (uint32_t i = 0; i < lines; i++) {
        for (uint32_t rank = 0; rank < RANKS; rank++) {
            char line[8];

            if (chance_is(chance, odd))
                continue;
            sprintf(line, "%u\n", chance_is(chance, odd) ? 7 : i % 3);
            strcat(said[rank], line);
            assert_int_equal(say(all, rank, line), 0);
        }
    }
    while (job_wholes_next(all, &whole) == 0) {
        uint32_t rank = job_rank_set_next(&whole->members, 0);
        const char *at = said[rank];

        for (uint32_t i = 0; i < whole->lines_count; i++) {
            assert_memory_equal(whole->lines[i]->mem, at,
                                whole->lines[i]->len_bytes);
            at += whole->lines[i]->len_bytes;
        }
        assert_int_equal(*at, '\0');
        for (uint32_t other = 0; other < RANKS; other++)
            is_seen[other] |= strcmp(said[other], said[rank]) == 0;
        for (; rank != JOB_RANK_SET_NONE;
             rank = job_rank_set_next(&whole->members, rank + 1))
            assert_true(is_seen[rank]);
        job_whole_free(whole);
    }
    for (uint32_t rank = 0; rank < RANKS; rank++)
        assert_true(is_seen[rank] || said[rank][0] == '\0');
    job_wholes_close(all);
}

static void random_outputs_are_whole(void **state)
{
    struct chance chance = chance_start(9);

    (void)state;
    for (int i = 0; i < 300; i++)
        play(&chance);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_outputs_are_together),
        cmocka_unit_test(memory_is_bounded),
        cmocka_unit_test(random_outputs_are_whole),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
