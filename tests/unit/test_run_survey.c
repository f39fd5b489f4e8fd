/* The hosts' reports about their machines, and whether ranks are placed by
 * them. */
#include "config.h"

#include "endpoints/run/survey.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "endpoints/run/nodes.h"
#include "job/word.h"
#include "tests/unit/plan_rig.h"

/* Two hosts, with a process for each core. The machine `a` is known from the
 * launch before, and `b` is assumed to be the same. */
struct survey {
    struct fixture f;
    struct run_nodes *nodes;
    struct ep_machine b;
    struct capture said;
};

static void open_survey(struct survey *s)
{
    const struct ep_machine a = {1, 2, true};

    memset(s, 0, sizeof(*s));
    open_fixture(&s->f, "a,b");
    s->f.options.apps[0].ppn = 1;
    s->f.options.apps[0].per = TOPO_CORE;
    assert_int_equal(ep_run_relaunch_know(&s->f.again, "a", a), 0);
    assert_int_equal(ep_run_plan_nodes(&s->f.plan, &s->f.most), 0);
    assert_true(ep_run_survey_asks(&s->f.plan));
    assert_int_equal(ep_run_nodes_open(2, &s->nodes), 0);
    s->b = s->f.plan.survey.machines[1];
    assert_false(s->b.is_known);
    capture_begin(&s->said);
}

static void close_survey(struct survey *s)
{
    ep_run_nodes_close(s->nodes);
    close_fixture(&s->f);
}

/* Returns whether this was the last report. */
static bool says(struct survey *s, uint32_t node, uint32_t packages,
                 uint32_t cores)
{
    const struct job_word word = {.packages = packages, .cores = cores};
    bool is_news;

    (void)ep_run_nodes_said(s->nodes, node, &word, &is_news);
    assert_true(is_news);
    return ep_run_survey_come(&s->f.plan);
}

static bool fits(struct survey *s)
{
    bool fit = ep_run_survey_fits(&s->f.plan, s->nodes, &s->f.voice);

    capture_end(&s->said);
    return fit;
}

static void hosts_that_are_as_was_taken_fit(void **state)
{
    struct survey s;

    (void)state;
    open_survey(&s);
    assert_false(says(&s, 1, 2, 2)); /* numbers that do not matter may differ */
    assert_true(says(&s, 2, s.b.packages, s.b.cores));
    assert_true(fits(&s));
    assert_string_equal(s.said.text, "");
    assert_false(s.f.again.is_due);
    close_survey(&s);
}

static void another_one_is_planned_for_anew(void **state)
{
    struct survey s;

    (void)state;
    open_survey(&s);
    assert_false(says(&s, 2, s.b.packages, s.b.cores + 5));
    assert_true(says(&s, 1, 1, 2));
    assert_false(fits(&s));
    assert_true(s.f.again.is_due);
    assert_int_equal(ep_run_relaunch_machine(&s.f.again, "b").cores,
                     s.b.cores + 5);
    assert_true(ep_run_relaunch_machine(&s.f.again, "b").is_known);
    close_survey(&s);
}

static void one_that_changes_is_an_error(void **state)
{
    struct survey s;

    (void)state;
    open_survey(&s);
    assert_false(says(&s, 1, 1, 3));
    assert_true(says(&s, 2, s.b.packages, s.b.cores));
    assert_false(fits(&s));
    assert_false(s.f.again.is_due);
    assert_non_null(strstr(s.said.text,
                           "a has 1 sockets with 3 cores now, and 1 with 2 a "
                           "moment ago: give --ppn a number alone"));
    close_survey(&s);
}

/* The guess had no room for the job, so it can only be used by the next
 * launch. */
static void a_blind_guess_never_fits(void **state)
{
    struct survey s;

    (void)state;
    open_survey(&s);
    s.f.plan.survey.is_blind = true;
    assert_false(says(&s, 1, 1, 2));
    assert_true(says(&s, 2, s.b.packages, s.b.cores));
    assert_false(fits(&s));
    assert_true(s.f.again.is_due);
    close_survey(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hosts_that_are_as_was_taken_fit),
        cmocka_unit_test(another_one_is_planned_for_anew),
        cmocka_unit_test(one_that_changes_is_an_error),
        cmocka_unit_test(a_blind_guess_never_fits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
