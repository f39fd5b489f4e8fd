/* A job can be found by its name as long as clients may ask for it. */
#include "endpoints/client/seen.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { WHY_MAX = 512 };

static char why[WHY_MAX];

static struct ep_seen_job *add(struct ep_seen *seen, const char *name,
                               uint32_t base, uint32_t size)
{
    const struct ep_seen_job like = {.base = base,
                                     .size = size,
                                     .parts = 1,
                                     .channels = 2,
                                     .name = (char *)(uintptr_t)name};
    struct ep_seen_job *job = ep_seen_add(seen, &like);

    assert_non_null(job);
    assert_ptr_not_equal(job->name, name);
    return job;
}

/* Returns the job's name; the error message when no job is found. */
static const char *found(const struct ep_seen *seen, const char *name)
{
    const struct ep_seen_job *job = ep_seen_find(seen, name, why, sizeof(why));

    return job != NULL ? job->name : why;
}

static void a_job_is_found_by_name_and_process(void **state)
{
    struct ep_seen seen = {.jobs = NULL};
    struct ep_seen_job *one = add(&seen, "one", 0, 4);
    struct ep_seen_job *two = add(&seen, "two", 6, 2);

    (void)state;
    add(&seen, "nobody", 10, 0);
    assert_string_equal(found(&seen, "one"), "one");
    assert_string_equal(found(&seen, "two"), "two");
    assert_string_equal(
        found(&seen, "on"),
        "there is no job on: it ended long ago, or the name is wrong");
    assert_ptr_equal(ep_seen_of(&seen, 0), one);
    assert_ptr_equal(ep_seen_of(&seen, 3), one);
    assert_null(ep_seen_of(&seen, 4));
    assert_null(ep_seen_of(&seen, 5));
    assert_ptr_equal(ep_seen_of(&seen, 6), two);
    assert_ptr_equal(ep_seen_of(&seen, 7), two);
    assert_null(ep_seen_of(&seen, 8));
    assert_null(ep_seen_of(&seen, 10));
    assert_null(ep_seen_of(&seen, UINT32_MAX));
    ep_seen_clear(&seen);
    assert_null(seen.jobs);
}

static void the_only_one_needs_no_name(void **state)
{
    struct ep_seen seen = {.jobs = NULL};
    struct ep_seen_job *two;

    (void)state;
    assert_string_equal(found(&seen, ""), "no job is running in this session");
    add(&seen, "one", 0, 4);
    assert_string_equal(found(&seen, ""), "one");
    two = add(&seen, "two", 4, 4);
    add(&seen, "three", 8, 4);
    assert_string_equal(found(&seen, ""),
                        "there are several jobs, name one with --nspace:"
                        "\n  one\n  two\n  three");
    two->is_over = true; /* two jobs are there, so only the name finds one */
    assert_string_equal(found(&seen, ""),
                        "there are several jobs, name one with --nspace:"
                        "\n  one\n  three");
    ep_seen_of(&seen, 0)->is_over = true;
    assert_string_equal(found(&seen, ""), "three");
    assert_string_equal(found(&seen, "two"), "two");
    ep_seen_of(&seen, 8)->is_over = true;
    assert_string_equal(found(&seen, ""), "no job is running in this session");
    ep_seen_clear(&seen);
}

/* However small the buffer is, the text fits into it and names whole jobs. */
static void a_list_is_cut_where_there_is_no_room(void **state)
{
    struct ep_seen seen = {.jobs = NULL};
    const char *more = "\n  and more";
    char name[32];

    (void)state;
    for (uint32_t i = 0; i < 100; i++) {
        snprintf(name, sizeof(name), "prterun-host-%u", i);
        add(&seen, name, i, 1);
    }
    for (size_t size = 64; size <= WHY_MAX; size++) {
        size_t len;

        memset(why, 'x', sizeof(why));
        assert_null(ep_seen_find(&seen, "", why, size));
        len = strnlen(why, size);
        assert_true(len < size);
        assert_string_equal(why + len - strlen(more), more);
        assert_true(size == WHY_MAX || why[size] == 'x');
        /* Another line would not have fitted. */
        assert_true(len + strlen("\n  prterun-host-99") + 1 > size);
    }
    ep_seen_clear(&seen);
}

/* The first name fills the buffer, except for the bytes that say that there are
 * more. */
static void a_name_that_just_fits_is_there(void **state)
{
    static const char begin[] =
        "there are several jobs, name one with --nspace:\n  ";
    struct ep_seen seen = {.jobs = NULL};
    char name[WHY_MAX];

    (void)state;
    memset(name, 'n', sizeof(name));
    name[WHY_MAX - sizeof(begin) - strlen("\n  and more")] = '\0';
    add(&seen, name, 0, 1);
    add(&seen, "other", 1, 1);
    assert_memory_equal(found(&seen, ""), begin, strlen(begin));
    assert_int_equal(strlen(why), WHY_MAX - 1);
    assert_string_equal(why + WHY_MAX - 1 - strlen("\n  and more"),
                        "\n  and more");
    ep_seen_clear(&seen);
}

static void a_forgotten_job_is_there_while_it_is_held(void **state)
{
    struct ep_seen seen = {.jobs = NULL};
    struct ep_seen_job *one = add(&seen, "one", 0, 4);
    struct ep_seen_job *two = add(&seen, "two", 4, 4);

    (void)state;
    ep_seen_hold(two);
    ep_seen_hold(two);
    ep_seen_forget(&seen, two);
    assert_ptr_equal(ep_seen_of(&seen, 5), two);
    assert_string_equal(found(&seen, ""), "one");
    assert_memory_equal(found(&seen, "two"), "there is no job two:", 20);
    ep_seen_let_go(&seen, two);
    assert_ptr_equal(ep_seen_of(&seen, 5), two);
    ep_seen_let_go(&seen, two);
    assert_null(ep_seen_of(&seen, 5));
    ep_seen_hold(one);
    ep_seen_let_go(&seen, one); /* the entry still exists */
    assert_ptr_equal(ep_seen_of(&seen, 0), one);
    ep_seen_forget(&seen, one); /* frees the entry, as nothing holds it */
    assert_null(seen.jobs);
    ep_seen_clear(&seen);
}

static void a_name_can_be_that_of_a_later_job(void **state)
{
    struct ep_seen seen = {.jobs = NULL};
    struct ep_seen_job *old = add(&seen, "one", 0, 4);
    struct ep_seen_job *now;

    (void)state;
    ep_seen_hold(old);
    ep_seen_forget(&seen, old);
    now = add(&seen, "one", 4, 4);
    assert_ptr_equal(ep_seen_find(&seen, "one", why, sizeof(why)), now);
    ep_seen_let_go(&seen, old);
    assert_ptr_equal(seen.jobs, now);
    ep_seen_clear(&seen);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_is_found_by_name_and_process),
        cmocka_unit_test(the_only_one_needs_no_name),
        cmocka_unit_test(a_list_is_cut_where_there_is_no_room),
        cmocka_unit_test(a_name_that_just_fits_is_there),
        cmocka_unit_test(a_forgotten_job_is_there_while_it_is_held),
        cmocka_unit_test(a_name_can_be_that_of_a_later_job),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
