/* The nodes of a run: what they are doing, what their machines have, and how
 * much room is left. */
#include "endpoints/run/nodes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "overlay/base/err.h"

enum { NODES = 4 };

/* Makes a job with one process on each of the nodes first to last. */
static void make_job(struct job *job, uint32_t first, uint32_t last)
{
    const struct job_ranks ranks = {{first, last}, 1, 0};

    *job = (struct job){.size = last - first + 1};
    assert_int_equal(job_add_app(job), 0);
    assert_int_equal(job_app_add_ranks(job_app_last(job), ranks), 0);
    assert_int_equal(job_add_places(job, (struct job_places){{1, NODES}, 1}),
                     0);
}

static struct run_nodes *open_nodes(void)
{
    struct run_nodes *nodes;

    assert_int_equal(ep_run_nodes_open(NODES, &nodes), 0);
    assert_false(ep_run_nodes_are_final(nodes));
    return nodes;
}

static void all_are_final_when_all_have_said_so(void **state)
{
    struct run_nodes *nodes = open_nodes();
    struct job job;

    (void)state;
    make_job(&job, 1, NODES);
    ep_run_nodes_told(nodes, &job);
    for (uint32_t n = 1; n <= NODES; n++) {
        assert_false(ep_run_nodes_are_final(nodes));
        ep_run_nodes_over(nodes, n, 1);
        ep_run_nodes_over(nodes, n, 1); /* a second report changes nothing */
        assert_true(ep_run_nodes_is_final(nodes, n));
    }
    assert_true(ep_run_nodes_are_final(nodes));
    job_fini(&job);
    ep_run_nodes_close(nodes);
}

static void what_is_said_of_fewer_jobs_is_late(void **state)
{
    struct run_nodes *nodes = open_nodes();
    struct job job;

    (void)state;
    ep_run_nodes_idle(nodes);
    assert_true(ep_run_nodes_are_final(nodes));
    make_job(&job, 2, 2);
    ep_run_nodes_told(nodes, &job);
    assert_true(ep_run_nodes_is_final(nodes, 1));
    assert_false(ep_run_nodes_is_final(nodes, 2));
    ep_run_nodes_told(nodes, &job);
    ep_run_nodes_over(nodes, 2, 1);
    assert_false(ep_run_nodes_is_final(nodes, 2));
    ep_run_nodes_over(nodes, 2, 2);
    assert_true(ep_run_nodes_are_final(nodes));
    job_fini(&job);
    ep_run_nodes_close(nodes);
}

static void a_lost_one_is_silent_if_it_was_not_final(void **state)
{
    struct run_nodes *nodes = open_nodes();
    struct job job;

    (void)state;
    ep_run_nodes_idle(nodes);
    make_job(&job, 1, 1);
    ep_run_nodes_told(nodes, &job);
    ep_run_nodes_lose(nodes, 1);
    ep_run_nodes_lose(nodes, 2);
    assert_true(ep_run_nodes_is_lost(nodes, 1));
    assert_true(ep_run_nodes_is_silent(nodes, 1));
    assert_true(ep_run_nodes_is_lost(nodes, 2));
    assert_false(ep_run_nodes_is_silent(nodes, 2));
    assert_false(ep_run_nodes_is_lost(nodes, 3));
    assert_true(ep_run_nodes_are_final(nodes)); /* no node is waited for */
    job_fini(&job);
    ep_run_nodes_close(nodes);
}

/* --- machines */

static bool says(struct run_nodes *nodes, uint32_t node, uint32_t packages,
                 uint32_t cores)
{
    struct job_word word = {.packages = packages, .cores = cores};
    bool is_news, was_asked;

    snprintf(word.text, sizeof(word.text), "no /sys");
    was_asked = ep_run_nodes_said(nodes, node, &word, &is_news);
    if (is_news)
        assert_int_equal(ep_run_nodes_machine(nodes, node)->cores, cores);
    assert_int_equal(is_news, packages > 0);
    return was_asked;
}

static void each_is_asked_once(void **state)
{
    static const uint32_t some[] = {4, 2}, others[] = {2, 3};
    struct run_nodes *nodes = open_nodes();
    uint32_t blind;

    (void)state;
    assert_int_equal(ep_run_nodes_due(nodes), 0);
    assert_int_equal(ep_run_nodes_ask(nodes, some, 2, &blind), OV_EAGAIN);
    assert_int_equal(ep_run_nodes_due(nodes), 2);
    assert_int_equal(ep_run_nodes_due(nodes), 4);
    assert_int_equal(ep_run_nodes_due(nodes), 0);
    assert_int_equal(ep_run_nodes_ask(nodes, others, 2, &blind), OV_EAGAIN);
    assert_int_equal(ep_run_nodes_due(nodes), 3);
    assert_int_equal(ep_run_nodes_due(nodes), 0);
    assert_int_equal(ep_run_nodes_asked(nodes), 3);
    assert_true(says(nodes, 3, 1, 8));
    assert_true(says(nodes, 2, 2, 8));
    assert_int_equal(ep_run_nodes_ask(nodes, others, 2, &blind), 0);
    assert_int_equal(ep_run_nodes_asked(nodes), 1);
    ep_run_nodes_close(nodes);
}

static void one_that_cannot_tell_may_be_asked_anew(void **state)
{
    static const uint32_t one[] = {3};
    struct run_nodes *nodes = open_nodes();
    uint32_t blind = 0;

    (void)state;
    assert_int_equal(ep_run_nodes_ask(nodes, one, 1, &blind), OV_EAGAIN);
    assert_int_equal(ep_run_nodes_due(nodes), 3);
    assert_true(says(nodes, 3, 0, 0));
    assert_int_equal(ep_run_nodes_ask(nodes, one, 1, &blind), OV_ESYS);
    assert_int_equal(blind, 3);
    assert_string_equal(ep_run_nodes_why(nodes, 3), "no /sys");
    assert_int_equal(ep_run_nodes_due(nodes), 0);
    ep_run_nodes_forgive(nodes);
    assert_int_equal(ep_run_nodes_ask(nodes, one, 1, &blind), OV_EAGAIN);
    assert_int_equal(ep_run_nodes_due(nodes), 3);
    assert_true(says(nodes, 3, 1, 4));
    assert_int_equal(ep_run_nodes_ask(nodes, one, 1, &blind), 0);
    ep_run_nodes_close(nodes);
}

static void a_lost_one_is_not_waited_for(void **state)
{
    static const uint32_t both[] = {1, 2};
    struct run_nodes *nodes = open_nodes();
    uint32_t blind;
    bool is_news;

    (void)state;
    assert_false(says(nodes, 1, 2, 16)); /* the answer arrived unasked, and is
                                          * kept */
    assert_int_equal(ep_run_nodes_ask(nodes, both, 2, &blind), OV_EAGAIN);
    assert_int_equal(ep_run_nodes_due(nodes), 2);
    assert_true(ep_run_nodes_said(nodes, 2, NULL, &is_news));
    assert_false(is_news);
    assert_int_equal(ep_run_nodes_asked(nodes), 0);
    assert_null(ep_run_nodes_why(nodes, 2));
    assert_false(ep_run_nodes_said(nodes, 2, NULL, &is_news));
    ep_run_nodes_close(nodes);
}

static void one_that_is_lost_before_it_is_asked_never_is(void **state)
{
    static const uint32_t one[] = {3};
    struct run_nodes *nodes = open_nodes();
    uint32_t count;
    bool is_news;

    (void)state;
    assert_int_equal(ep_run_nodes_ask(nodes, one, 1, &count), OV_EAGAIN);
    assert_int_equal(count, 1);
    ep_run_nodes_lose(nodes, 3);
    assert_false(ep_run_nodes_said(nodes, 3, NULL, &is_news));
    assert_int_equal(ep_run_nodes_due(nodes), 0);
    ep_run_nodes_close(nodes);
}

/* --- room */

static void room_is_for_what_runs_there(void **state)
{
    struct run_nodes *nodes = open_nodes();
    struct job job;

    (void)state;
    make_job(&job, 2, 3);
    ep_run_nodes_fill(nodes, &job);
    ep_run_nodes_fill(nodes, &job);
    assert_int_equal(ep_run_nodes_spare(nodes, 1), 0);
    assert_int_equal(ep_run_nodes_spare(nodes, 3), 2);
    assert_int_equal(ep_run_nodes_room(nodes, 3), RUN_SPARE_PROCS - 2);
    ep_run_nodes_empty(nodes, &job);
    ep_run_nodes_empty(nodes, &job);
    assert_int_equal(ep_run_nodes_room(nodes, 3), RUN_SPARE_PROCS);
    job_fini(&job);
    ep_run_nodes_close(nodes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_are_final_when_all_have_said_so),
        cmocka_unit_test(what_is_said_of_fewer_jobs_is_late),
        cmocka_unit_test(a_lost_one_is_silent_if_it_was_not_final),
        cmocka_unit_test(each_is_asked_once),
        cmocka_unit_test(one_that_cannot_tell_may_be_asked_anew),
        cmocka_unit_test(a_lost_one_is_not_waited_for),
        cmocka_unit_test(one_that_is_lost_before_it_is_asked_never_is),
        cmocka_unit_test(room_is_for_what_runs_there),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
