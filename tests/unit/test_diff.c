/* The hunks turn one sequence into the other, and are few. */
#include "job/diff.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "job/texts.h"
#include "tests/unit/chance.h"

enum { LINES_MAX = 3000, LETTERS = 26 };

static struct job_text texts[LETTERS];
static struct job_text *from_at[LINES_MAX], *to_at[LINES_MAX];

static void spell(struct job_diff_side *side, struct job_text **at,
                  const char *letters)
{
    side->at = at;
    side->count = (uint32_t)strlen(letters);
    for (uint32_t i = 0; i < side->count; i++)
        at[i] = &texts[letters[i] - 'a'];
}

/* Checks the hunks, and returns how many texts they take out and put in. */
static uint32_t check(const struct job_diff_side *from,
                      const struct job_diff_side *to)
{
    struct job_diff_hunk *hunks = NULL;
    uint32_t count = 0, i = 0, j = 0, changes = 0;

    assert_int_equal(job_diff(from, to, &hunks, &count), 0);
    for (uint32_t n = 0; n <= count; n++) {
        const struct job_diff_hunk end = {from->count, 0, to->count, 0};
        const struct job_diff_hunk *hunk = n < count ? &hunks[n] : &end;

        assert_int_equal(hunk->from - i, hunk->to - j);
        for (; i < hunk->from; i++, j++)
            assert_ptr_equal(from->at[i], to->at[j]);
        i += hunk->from_count;
        j += hunk->to_count;
        changes += hunk->from_count + hunk->to_count;
        assert_true(n == count || hunk->from_count + hunk->to_count > 0);
    }
    assert_int_equal(i, from->count);
    assert_int_equal(j, to->count);
    free(hunks);
    return changes;
}

static uint32_t changes(const char *one, const char *other)
{
    struct job_diff_side from, to;

    spell(&from, from_at, one);
    spell(&to, to_at, other);
    return check(&from, &to);
}

static void changes_are_few(void **state)
{
    (void)state;
    assert_int_equal(changes("", ""), 0);
    assert_int_equal(changes("abc", "abc"), 0);
    assert_int_equal(changes("", "abc"), 3);
    assert_int_equal(changes("abc", ""), 3);
    assert_int_equal(changes("abc", "abxc"), 1);
    assert_int_equal(changes("abcabba", "cbabac"), 5);
    assert_int_equal(changes("aaaa", "aa"), 2);
    assert_int_equal(changes("abcdefg", "gbcdefa"), 4);
}

static void random_ones_are_right(void **state)
{
    struct chance chance = chance_start(2);

    (void)state;
    for (int i = 0; i < 2000; i++) {
        struct job_diff_side from = {from_at, chance_in(&chance, 0, 30)};
        struct job_diff_side to = {to_at, chance_in(&chance, 0, 30)};
        const uint32_t letters = chance_in(&chance, 1, 5);

        for (uint32_t n = 0; n < from.count; n++)
            from_at[n] = &texts[chance_in(&chance, 0, letters)];
        for (uint32_t n = 0; n < to.count; n++)
            to_at[n] = chance_is(&chance, 70) && n < from.count
                           ? from_at[n]
                           : &texts[chance_in(&chance, 0, letters)];
        assert_in_range(check(&from, &to), 0, from.count + to.count);
    }
}

/* Where the table would be too large, all between the ends is one hunk. */
static void large_ones_are_one_hunk(void **state)
{
    struct job_diff_side from = {from_at, LINES_MAX}, to = {to_at, LINES_MAX};
    struct job_diff_hunk *hunks = NULL;
    uint32_t count;

    (void)state;
    for (uint32_t i = 0; i < LINES_MAX; i++)
        from_at[i] = to_at[i] = &texts[0];
    to_at[1] = to_at[LINES_MAX - 2] = &texts[1];
    assert_int_equal(job_diff(&from, &to, &hunks, &count), 0);
    assert_int_equal(count, 1);
    assert_int_equal(hunks[0].from, 1);
    assert_int_equal(hunks[0].from_count, LINES_MAX - 2);
    free(hunks);
    check(&from, &to);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(changes_are_few),
        cmocka_unit_test(random_ones_are_right),
        cmocka_unit_test(large_ones_are_one_hunk),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
