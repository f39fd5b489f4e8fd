/* The life of a job: every row of its table. */
#include "job/life.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "overlay/base/err.h"

#define MS UINT64_C(1000000)

/* Two processes on each of three nodes; the nodes are 5, 6 and 7. */
enum { NODES = 3, EACH = 2, SIZE = NODES * EACH, FIRST_NODE = 5 };

struct rig {
    struct job job;
    struct job_life life;
    uint64_t now_ns;
};

static int exit_of(int code)
{
    return code << 8;
}

static int rig_open(void **state)
{
    static struct rig rig;
    const struct job_places places = {{1, NODES}, FIRST_NODE};

    rig = (struct rig){.now_ns = 1000 * MS};
    rig.job.size = SIZE;
    rig.job.nodes = NODES;
    *state = &rig;
    if (job_add_places(&rig.job, places))
        return -1;
    return job_life_open(&rig.life, &rig.job);
}

static int rig_close(void **state)
{
    struct rig *rig = *state;

    job_life_close(&rig->life);
    job_fini(&rig->job);
    return 0;
}

static struct job_life_news step(struct rig *rig, enum job_life_kind kind,
                                 uint32_t subject, int status)
{
    const struct job_life_event event = {.kind = kind,
                                         .node = subject,
                                         .rank = subject,
                                         .status = status,
                                         .at = {rig->now_ns, rig->now_ns}};

    return job_life_step(&rig->life, &event);
}

/* Checks that a step reports this news, and that the job is in this state
 * afterwards. */
static void expect(struct rig *rig, struct job_life_news news,
                   struct job_life_news expected, enum job_life_state state)
{
    assert_int_equal(news.is_process, expected.is_process);
    assert_int_equal(news.is_started, expected.is_started);
    assert_int_equal(news.is_failed, expected.is_failed);
    assert_int_equal(news.is_over, expected.is_over);
    assert_int_equal(rig->life.state, state);
}

#define NEWS(...) ((struct job_life_news){__VA_ARGS__})

static void nodes(struct rig *rig, enum job_life_kind kind, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        step(rig, kind, FIRST_NODE + i, 0);
}

static void end_ranks(struct rig *rig, uint32_t first, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        step(rig, JOB_LIFE_PROCESS_ENDED, first + i, 0);
}

/* --- the job's table */

static void it_runs_when_all_nodes_have_started(void **state)
{
    struct rig *rig = *state;

    nodes(rig, JOB_LIFE_NODE_STARTED, NODES - 1);
    expect(rig, step(rig, JOB_LIFE_NODE_STARTED, FIRST_NODE, 0), NEWS(0),
           JOB_LIFE_STARTING); /* a second report */
    expect(rig, step(rig, JOB_LIFE_NODE_STARTED, FIRST_NODE + 2, 0),
           NEWS(.is_started = true), JOB_LIFE_RUNNING);
    expect(rig, step(rig, JOB_LIFE_NODE_LOST, FIRST_NODE, 0), NEWS(0),
           JOB_LIFE_RUNNING);
    assert_int_equal(rig->life.nodes_unheard, 0);
}

static void a_lost_node_counts_as_started(void **state)
{
    struct rig *rig = *state;

    nodes(rig, JOB_LIFE_NODE_STARTED, NODES - 1);
    expect(rig, step(rig, JOB_LIFE_NODE_LOST, FIRST_NODE + 2, 0),
           NEWS(.is_started = true), JOB_LIFE_RUNNING);
    assert_int_equal(rig->life.nodes_unheard, 1);
}

static void nodes_of_others_do_not_count(void **state)
{
    struct rig *rig = *state;

    step(rig, JOB_LIFE_NODE_STARTED, 0, 0);
    step(rig, JOB_LIFE_NODE_STARTED, FIRST_NODE - 1, 0);
    step(rig, JOB_LIFE_NODE_STARTED, FIRST_NODE + NODES, 0);
    step(rig, JOB_LIFE_NODE_LOST, UINT32_MAX, 0);
    assert_int_equal(rig->life.nodes_count, 0);
}

static void it_fails_with_the_first_that_cannot_be_started(void **state)
{
    struct rig *rig = *state;

    expect(rig, step(rig, JOB_LIFE_PROCESS_UNSTARTED, 3, 0),
           NEWS(.is_process = true, .is_failed = true), JOB_LIFE_FAILED);
    expect(rig, step(rig, JOB_LIFE_PROCESS_UNSTARTED, 4, 0),
           NEWS(.is_process = true), JOB_LIFE_FAILED);
    nodes(rig, JOB_LIFE_NODE_STARTED, NODES);
    assert_int_equal(rig->life.state, JOB_LIFE_FAILED);
    end_ranks(rig, 0, 3);
    expect(rig, step(rig, JOB_LIFE_PROCESS_ENDED, 5, SIGKILL),
           NEWS(.is_process = true, .is_over = true), JOB_LIFE_OVER);
}

/* Reports of two nodes come in the wrong order. */
static void it_fails_though_it_ran(void **state)
{
    struct rig *rig = *state;

    nodes(rig, JOB_LIFE_NODE_STARTED, NODES);
    expect(rig, step(rig, JOB_LIFE_PROCESS_UNSTARTED, 0, 0),
           NEWS(.is_process = true, .is_failed = true), JOB_LIFE_FAILED);
}

static void it_is_over_with_its_last_process(void **state)
{
    struct rig *rig = *state;

    nodes(rig, JOB_LIFE_NODE_STARTED, NODES);
    end_ranks(rig, 0, SIZE - 1);
    expect(rig, step(rig, JOB_LIFE_PROCESS_ENDED, SIZE - 1, 0),
           NEWS(.is_process = true, .is_over = true), JOB_LIFE_OVER);
    assert_int_equal(job_life_code(&rig->life), 0);
    expect(rig, step(rig, JOB_LIFE_PROCESS_UNSTARTED, 0, 0), NEWS(0),
           JOB_LIFE_OVER);
    expect(rig, step(rig, JOB_LIFE_NODE_LOST, FIRST_NODE, 0), NEWS(0),
           JOB_LIFE_OVER);
}

static void it_may_be_over_before_it_ran(void **state)
{
    struct rig *rig = *state;

    end_ranks(rig, 0, SIZE);
    assert_int_equal(rig->life.state, JOB_LIFE_OVER);
    nodes(rig, JOB_LIFE_NODE_STARTED, NODES);
    assert_int_equal(rig->life.state, JOB_LIFE_OVER);
}

static void it_fails_and_is_over_in_one_step(void **state)
{
    struct rig *rig = *state;

    end_ranks(rig, 1, SIZE - 1);
    expect(rig, step(rig, JOB_LIFE_PROCESS_UNSTARTED, 0, 0),
           NEWS(.is_process = true, .is_failed = true, .is_over = true),
           JOB_LIFE_OVER);
}

/* --- the table of a process */

static void a_process_is_over_once(void **state)
{
    static const struct {
        enum job_life_kind kind;
        enum job_process_state becomes;
    } rows[] = {
        {JOB_LIFE_PROCESS_ENDED, JOB_PROCESS_ENDED},
        {JOB_LIFE_PROCESS_UNSTARTED, JOB_PROCESS_UNSTARTED},
        {JOB_LIFE_PROCESS_LOST, JOB_PROCESS_LOST},
    };
    struct rig *rig = *state;

    for (uint32_t i = 0; i < 3; i++) {
        assert_true(step(rig, rows[i].kind, i, 0).is_process);
        for (uint32_t j = 0; j < 3; j++)
            assert_false(step(rig, rows[j].kind, i, 0).is_process);
        assert_int_equal(rig->life.processes[i], rows[i].becomes);
        assert_int_equal(rig->life.processes_over, i + 1);
    }
}

static void ranks_that_it_does_not_have_are_none(void **state)
{
    struct rig *rig = *state;

    assert_false(step(rig, JOB_LIFE_PROCESS_ENDED, SIZE, 0).is_process);
    assert_false(step(rig, JOB_LIFE_PROCESS_LOST, UINT32_MAX, 0).is_process);
    assert_int_equal(rig->life.processes_over, 0);
}

/* --- the exit code */

static void the_first_failure_is_its_code(void **state)
{
    struct rig *rig = *state;

    step(rig, JOB_LIFE_PROCESS_ENDED, 4, exit_of(4));
    step(rig, JOB_LIFE_PROCESS_ENDED, 2, exit_of(3)); /* at the same moment */
    rig->now_ns += 1000 * MS;
    step(rig, JOB_LIFE_PROCESS_ENDED, 0, exit_of(7));
    assert_int_equal(job_life_code(&rig->life), 3);
    assert_int_equal(rig->life.failure.count, 3);
}

static void of_a_loss_and_a_failure_the_earlier_counts(void **state)
{
    struct rig *rig = *state;

    step(rig, JOB_LIFE_PROCESS_LOST, 0, 0);
    assert_int_equal(job_life_code(&rig->life), 1);
    rig->now_ns += MS;
    step(rig, JOB_LIFE_PROCESS_ENDED, 1, exit_of(9));
    assert_int_equal(job_life_code(&rig->life), 1);
}

/* The output of the processes may be lost together with the node. */
static void a_node_is_lost_though_its_processes_are_over(void **state)
{
    struct rig *rig = *state;

    end_ranks(rig, 0, SIZE);
    step(rig, JOB_LIFE_NODE_LOST, FIRST_NODE, 0);
    assert_int_equal(job_life_code(&rig->life), 1);
}

static void a_failure_before_a_loss_counts(void **state)
{
    struct rig *rig = *state;

    step(rig, JOB_LIFE_PROCESS_ENDED, 1, SIGSEGV);
    rig->now_ns += MS;
    step(rig, JOB_LIFE_PROCESS_LOST, 0, 0);
    assert_int_equal(job_life_code(&rig->life), 128 + SIGSEGV);
}

static void what_was_told_to_die_has_not_failed(void **state)
{
    struct rig *rig = *state;

    job_life_kill(&rig->life, rig->now_ns);
    step(rig, JOB_LIFE_PROCESS_ENDED, 1, SIGKILL);
    assert_int_equal(job_life_code(&rig->life), 0);
    assert_int_equal(rig->life.failure.count, 0);
}

/* The end of the process is reported only after the kill. */
static void what_failed_before_the_kill_counts(void **state)
{
    struct rig *rig = *state;

    rig->now_ns += 5 * MS;
    job_life_kill(&rig->life, rig->now_ns);
    rig->now_ns -= 2 * MS;
    job_life_kill(&rig->life, 0);
    step(rig, JOB_LIFE_PROCESS_ENDED, 1, exit_of(3));
    rig->now_ns += 2 * MS;
    step(rig, JOB_LIFE_PROCESS_ENDED, 0, exit_of(4));
    assert_int_equal(job_life_code(&rig->life), 3);
    assert_int_equal(rig->life.failure.count, 1);
}

/* --- how processes ended */

static void each_end_has_a_cause(void **state)
{
    struct rig *rig = *state;
    const struct job_exits *groups = rig->life.census.groups;

    step(rig, JOB_LIFE_PROCESS_ENDED, 0, 0);
    step(rig, JOB_LIFE_PROCESS_ENDED, 1, SIGINT);
    job_life_signalled(&rig->life, SIGINT);
    step(rig, JOB_LIFE_PROCESS_ENDED, 2, SIGINT);
    step(rig, JOB_LIFE_PROCESS_ENDED, 3, SIGKILL);
    job_life_kill(&rig->life, rig->now_ns);
    step(rig, JOB_LIFE_PROCESS_ENDED, 4, SIGKILL);
    step(rig, JOB_LIFE_PROCESS_ENDED, 5, exit_of(3));
    assert_int_equal(rig->life.census.count, 5);
    assert_int_equal(groups[0].cause, JOB_EXIT_ITSELF);
    assert_int_equal(groups[1].cause, JOB_EXIT_SIGNAL);
    assert_int_equal(groups[2].cause, JOB_EXIT_ITSELF);
    assert_int_equal(groups[3].cause, JOB_EXIT_KILLED);
    assert_int_equal(groups[4].cause, JOB_EXIT_ITSELF);
    assert_int_equal(rig->life.processes[5], JOB_PROCESS_STATES + 4);
    for (uint32_t rank = 0; rank < SIZE; rank++)
        assert_int_equal(job_life_process(&rig->life, rank), JOB_PROCESS_ENDED);
}

int main(void)
{
#define LIFE_TEST(test)                                                        \
    cmocka_unit_test_setup_teardown(test, rig_open, rig_close)
    const struct CMUnitTest tests[] = {
        LIFE_TEST(it_runs_when_all_nodes_have_started),
        LIFE_TEST(a_lost_node_counts_as_started),
        LIFE_TEST(nodes_of_others_do_not_count),
        LIFE_TEST(it_fails_with_the_first_that_cannot_be_started),
        LIFE_TEST(it_fails_though_it_ran),
        LIFE_TEST(it_is_over_with_its_last_process),
        LIFE_TEST(it_may_be_over_before_it_ran),
        LIFE_TEST(it_fails_and_is_over_in_one_step),
        LIFE_TEST(a_process_is_over_once),
        LIFE_TEST(ranks_that_it_does_not_have_are_none),
        LIFE_TEST(the_first_failure_is_its_code),
        LIFE_TEST(of_a_loss_and_a_failure_the_earlier_counts),
        LIFE_TEST(a_node_is_lost_though_its_processes_are_over),
        LIFE_TEST(a_failure_before_a_loss_counts),
        LIFE_TEST(what_was_told_to_die_has_not_failed),
        LIFE_TEST(what_failed_before_the_kill_counts),
        LIFE_TEST(each_end_has_a_cause),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
