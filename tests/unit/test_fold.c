/* What leaves a fold has, for each rank, its lines in their order, whatever
 * order the ranks came in; and equal lines are together where they can be. */
#include "job/fold.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "job/hash.h"
#include "tests/unit/chance.h"

enum { RANKS_MAX = 200, LINES_MAX = 60, SHOWN_MAX = 1 << 16 };

#define WAIT_NS UINT64_C(1000)

struct fixture {
    struct job_fold *fold;
    uint32_t ranks;
    uint64_t now_ns;
    char shown[SHOWN_MAX];
    size_t shown_bytes;
};

static void begin(struct fixture *fx, uint32_t ranks, uint64_t max_bytes)
{
    const struct job_fold_cfg cfg = {
        .ranks = ranks, .wait_ns = WAIT_NS, .max_bytes = max_bytes};

    *fx = (struct fixture){.ranks = ranks};
    assert_int_equal(job_fold_open(&cfg, &fx->fold), 0);
}

static void say(struct fixture *fx, uint32_t rank, const char *line)
{
    const uint8_t *mem = (const uint8_t *)line;
    const uint32_t len = (uint32_t)strlen(line);

    assert_int_equal(job_fold_add(fx->fold, rank, mem, len,
                                  job_hash(mem, len, 0), fx->now_ns, 0),
                     0);
}

/* Takes out what is final, as "0-2:a 3:b". */
static const char *shown(struct fixture *fx)
{
    struct job_fold_group *group;

    fx->shown_bytes = 0;
    fx->shown[0] = '\0';
    while ((group = job_fold_pop(fx->fold, fx->now_ns)) != NULL) {
        uint32_t first = 0, last;

        fx->shown_bytes += (size_t)sprintf(fx->shown + fx->shown_bytes, "%s",
                                           fx->shown_bytes > 0 ? " " : "");
        for (; job_rank_set_range(&group->members, &first, &last);
             first = last + 1)
            fx->shown_bytes +=
                (size_t)sprintf(fx->shown + fx->shown_bytes,
                                last > first ? "%u-%u," : "%u,", first, last);
        fx->shown_bytes +=
            (size_t)sprintf(fx->shown + fx->shown_bytes - 1, ":%.*s",
                            (int)group->text->len_bytes, group->text->mem) -
            1;
        job_fold_free(fx->fold, group);
    }
    return fx->shown;
}

static void end(struct fixture *fx)
{
    assert_null(job_fold_first(fx->fold));
    assert_int_equal(job_fold_bytes(fx->fold), 0);
    job_fold_close(fx->fold);
}

/* What all have said leaves at once, and not before. */
static void all_is_final(void **state)
{
    struct fixture fx;

    (void)state;
    begin(&fx, 3, 1 << 20);
    say(&fx, 2, "a");
    say(&fx, 2, "b");
    say(&fx, 0, "a");
    assert_string_equal(shown(&fx), "");
    say(&fx, 1, "a");
    assert_string_equal(shown(&fx), "0-2:a");
    say(&fx, 0, "b");
    job_fold_end(fx.fold, 1);
    assert_string_equal(shown(&fx), "0,2:b");
    say(&fx, 0, "c");
    job_fold_end(fx.fold, 2);
    assert_string_equal(shown(&fx), "0:c");
    end(&fx);
}

/* After wait_ns a group leaves with those in front of it; whoever says it later
 * is shown then. */
static void late_members_are_shown_later(void **state)
{
    struct fixture fx;

    (void)state;
    begin(&fx, 3, 1 << 20);
    say(&fx, 0, "a");
    say(&fx, 1, "a");
    fx.now_ns = WAIT_NS - 1;
    assert_int_equal(job_fold_deadline(fx.fold), WAIT_NS);
    assert_string_equal(shown(&fx), "");
    fx.now_ns = WAIT_NS;
    assert_string_equal(shown(&fx), "0-1:a");
    say(&fx, 2, "a");
    say(&fx, 2, "b");
    say(&fx, 0, "b");
    assert_string_equal(shown(&fx), "");
    fx.now_ns += WAIT_NS;
    assert_string_equal(shown(&fx), "2:a 0,2:b");
    end(&fx);
}

/* A line of one rank alone does not keep it from what all say next. */
static void own_lines_are_no_hindrance(void **state)
{
    struct fixture fx;
    char line[16];

    (void)state;
    begin(&fx, 4, 1 << 20);
    for (uint32_t rank = 0; rank < 4; rank++) {
        sprintf(line, "i%u", rank);
        say(&fx, rank, line);
        say(&fx, rank, "go");
        sprintf(line, "j%u", rank);
        say(&fx, rank, line);
        say(&fx, rank, "go");
    }
    assert_string_equal(shown(&fx), "0:i0 1:i1 2:i2 3:i3 0-3:go 0:j0 1:j1 2:j2 "
                                    "3:j3 0-3:go");
    end(&fx);
}

/* Where there is no more room the first groups leave. */
static void memory_is_bounded(void **state)
{
    enum { MAX = 20000 };
    struct fixture fx;
    uint32_t left = 0;
    char line[16];

    (void)state;
    begin(&fx, 2, MAX);
    for (uint32_t i = 0; i < 10000; i++) {
        sprintf(line, "%u", i);
        say(&fx, 0, line);
        left += *shown(&fx) != '\0';
        assert_in_range(job_fold_bytes(fx.fold), 1, MAX + 1000);
    }
    assert_in_range(left, 9000, 9999);
    job_fold_flush(fx.fold);
    shown(&fx);
    end(&fx);
}

/* --- random ranks */

struct rank {
    char lines[LINES_MAX][4];
    uint32_t count, said, seen;
    uint32_t start; /* how late it is */
};

static struct rank ranks[RANKS_MAX];

/* Checks what is shown against what the ranks said, and returns the groups. */
static uint32_t check_shown(struct fixture *fx)
{
    struct job_fold_group *group;
    uint32_t groups = 0;

    while ((group = job_fold_pop(fx->fold, fx->now_ns)) != NULL) {
        uint32_t rank = job_rank_set_next(&group->members, 0), count = 0;

        for (; rank != JOB_RANK_SET_NONE;
             rank = job_rank_set_next(&group->members, rank + 1), count++) {
            struct rank *it = &ranks[rank];
            const char *want = it->lines[it->seen++];

            assert_true(it->seen <= it->said);
            assert_int_equal(strlen(want), group->text->len_bytes);
            assert_memory_equal(want, group->text->mem, strlen(want));
        }
        assert_int_equal(count, group->members.count);
        job_fold_free(fx->fold, group);
        groups++;
    }
    return groups;
}

static void make_ranks(struct chance *chance, uint32_t count)
{
    const uint32_t alike = chance_in(chance, 0, 100);
    const uint32_t letters = chance_in(chance, 1, 6);
    const uint32_t lines = chance_in(chance, 1, LINES_MAX);

    for (uint32_t rank = 0; rank < count; rank++) {
        struct rank *it = &ranks[rank];

        *it = (struct rank){.count = lines};
        for (uint32_t i = 0; i < lines; i++) {
            if (rank > 0 && chance_is(chance, alike))
                strcpy(it->lines[i], ranks[0].lines[i]);
            else if (chance_is(chance, 50))
                sprintf(it->lines[i], "%c",
                        'a' + (char)chance_in(chance, 0, letters));
            else
                sprintf(it->lines[i], "%u", chance_in(chance, 0, 999));
        }
        if (chance_is(chance, 10))
            it->count = chance_in(chance, 0, lines);
    }
}

static void play(struct chance *chance)
{
    const uint32_t count = chance_in(chance, 1, RANKS_MAX);
    const uint32_t burst = chance_in(chance, 1, 8);
    const uint64_t max_bytes = chance_is(chance, 30) ? 5000 : 1 << 20;
    uint32_t left = count, all = 0, groups = 0;
    struct fixture fx;

    make_ranks(chance, count);
    begin(&fx, count, max_bytes);
    while (left > 0) {
        const uint32_t rank = chance_in(chance, 0, count - 1);
        struct rank *it = &ranks[rank];

        for (uint32_t i = 0; i < burst && it->said < it->count; i++, all++)
            say(&fx, rank, it->lines[it->said++]);
        if (it->said == it->count && it->start == 0) {
            it->start = 1;
            left--;
            job_fold_end(fx.fold, rank);
        }
        if (chance_is(chance, 2))
            job_fold_flush_rank(fx.fold, rank);
        fx.now_ns += chance_in(chance, 0, 5);
        groups += check_shown(&fx);
        assert_in_range(job_fold_bytes(fx.fold), 0, max_bytes);
    }
    job_fold_flush(fx.fold);
    groups += check_shown(&fx);
    for (uint32_t rank = 0; rank < count; rank++)
        assert_int_equal(ranks[rank].seen, ranks[rank].count);
    assert_in_range(groups, all > 0, all);
    end(&fx);
}

static void random_ranks_keep_their_lines(void **state)
{
    struct chance chance = chance_start(11);

    (void)state;
    for (int i = 0; i < 300; i++)
        play(&chance);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_is_final),
        cmocka_unit_test(late_members_are_shown_later),
        cmocka_unit_test(own_lines_are_no_hindrance),
        cmocka_unit_test(memory_is_bounded),
        cmocka_unit_test(random_ranks_keep_their_lines),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
