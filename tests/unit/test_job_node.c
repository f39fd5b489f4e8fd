/* A node of a session: whether the launcher waits for it, whichever reports
 * come twice or late. */
#include "job/node.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void it_is_final_when_it_says_so_of_all(void **state)
{
    struct job_node node = {0};

    (void)state;
    assert_int_equal(job_node_told(&node), JOB_NODE_SAME);
    assert_int_equal(job_node_told(&node), JOB_NODE_SAME);
    /* a late report */
    assert_int_equal(job_node_over(&node, 1), JOB_NODE_SAME);
    assert_int_equal(job_node_over(&node, 2), JOB_NODE_FINAL);
    assert_int_equal(job_node_over(&node, 2), JOB_NODE_SAME);
    assert_true(node.is_final);
}

static void a_further_job_makes_it_busy_again(void **state)
{
    struct job_node node = {0};

    (void)state;
    assert_int_equal(job_node_over(&node, 0), JOB_NODE_FINAL); /* no job yet */
    assert_int_equal(job_node_told(&node), JOB_NODE_BUSY);
    assert_false(node.is_final);
    assert_int_equal(job_node_over(&node, 0), JOB_NODE_SAME);
    assert_int_equal(job_node_over(&node, 1), JOB_NODE_FINAL);
}

static void one_that_is_lost_is_silent_if_it_was_busy(void **state)
{
    struct job_node busy = {0}, idle = {0};

    (void)state;
    job_node_told(&busy);
    assert_int_equal(job_node_lost(&busy), JOB_NODE_FINAL);
    assert_true(busy.is_lost && busy.is_silent && busy.is_final);
    job_node_told(&idle);
    job_node_over(&idle, 1);
    assert_int_equal(job_node_lost(&idle), JOB_NODE_SAME);
    assert_true(idle.is_lost && idle.is_final);
    assert_false(idle.is_silent);
}

/* The node's earlier report comes after its loss; a job that was placed before
 * is told. */
static void it_stays_lost(void **state)
{
    struct job_node node = {0};

    (void)state;
    job_node_lost(&node);
    assert_int_equal(job_node_told(&node), JOB_NODE_SAME);
    assert_int_equal(job_node_over(&node, 1), JOB_NODE_SAME);
    assert_int_equal(job_node_lost(&node), JOB_NODE_SAME);
    assert_true(node.is_final && node.is_silent);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_final_when_it_says_so_of_all),
        cmocka_unit_test(a_further_job_makes_it_busy_again),
        cmocka_unit_test(one_that_is_lost_is_silent_if_it_was_busy),
        cmocka_unit_test(it_stays_lost),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
