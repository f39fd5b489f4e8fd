/* Simulated jobs beside each other: how they begin, fail, are killed and end.
 * The checks of the simulator follow every message. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "sim/fate.h"
#include "sim/jobs.h"
#include "sim/report.h"
#include "sim/stdin.h"
#include "sim/world.h"

#define MS UINT64_C(1000000)

enum { NODES = 40, FURTHER = 3, EACH = 2 };

static struct sim_world w;

struct plan {
    struct sim_cfg cfg;
    struct sim_further further[FURTHER];
    struct sim_fault fault;
};

/* The session's own job writes for about 100 ms; each further job has nodes 11
 * to 20 and begins 10 ms after the one before. */
static void plan_jobs(struct plan *plan, uint32_t further_count)
{
    struct sim_further further = {.nodes = {11, 20},
                                  .each = EACH,
                                  .at_ns = 10 * MS,
                                  .lasts_ns = 50 * MS,
                                  .kill_ns = SIM_NEVER};

    *plan = (struct plan){
        .cfg = sim_cfg_default((struct topo_tree){.nodes = NODES, .arity = 3})};
    plan->cfg.job.out_bytes = 6400;
    plan->cfg.job.every_ns = MS;
    plan->cfg.job.ends_on_loss = false;
    plan->cfg.job.has_words = true;
    plan->cfg.job.further = plan->further;
    plan->cfg.job.further_count = further_count;
    plan->cfg.faults = &plan->fault;
    for (unsigned i = 0; i < FURTHER; i++)
        plan->further[i] = further;
}

static void run_to(const struct plan *plan, enum sim_end end)
{
    const char *why = "";

    if (sim_cfg_check(&plan->cfg, &why))
        fail_msg("%s", why);
    assert_int_equal(sim_world_open(&w, &plan->cfg), 0);
    while (sim_world_run(&w, 1000000))
        ;
    sim_world_finish(&w);
    if (sim_report_end(&w) != end)
        sim_report_print(&w, stdout);
    assert_int_equal(sim_report_end(&w), end);
    for (uint32_t i = 0; i < w.jobs.count; i++)
        assert_int_equal(w.jobs.told[i].life.state, JOB_LIFE_OVER);
}

static uint32_t count_of(const struct sim_told *job,
                         enum job_process_state state)
{
    uint32_t count = 0;

    for (uint32_t rank = 0; rank < job->desc.size; rank++)
        count += job->life.processes[rank] == state;
    return count;
}

static void a_last_word_says_that_all_is_well(void **state)
{
    struct plan plan;

    (void)state;
    plan_jobs(&plan, 0);
    plan.cfg.job.has_words = false;
    run_to(&plan, SIM_END_WELL);
    assert_int_equal(w.jobs.count, 1);
    assert_int_equal(count_of(&w.jobs.told[0], JOB_PROCESS_ENDED), NODES - 1);
    assert_int_equal(w.jobs.told[0].books.started, 1);
    assert_int_equal(job_life_code(&w.jobs.told[0].life), 0);
    sim_world_close(&w);
}

static void jobs_run_beside_each_other(void **state)
{
    struct plan plan;
    uint32_t base = NODES - 1;

    (void)state;
    plan_jobs(&plan, FURTHER);
    run_to(&plan, SIM_END_WELL);
    assert_int_equal(w.jobs.count, 1 + FURTHER);
    for (uint32_t i = 1; i <= FURTHER; i++) {
        const struct sim_told *job = &w.jobs.told[i];

        assert_int_equal(job->desc.base, base);
        assert_int_equal(job->desc.size, 10 * EACH);
        base += job->desc.size;
        assert_int_equal(job->books.started, 1);
        assert_int_equal(count_of(job, JOB_PROCESS_ENDED), job->desc.size);
        assert_true(job->told_ns > w.jobs.told[i - 1].told_ns);
        assert_true(job->told_ns < w.jobs.told[i - 1].over_ns);
    }
    sim_world_close(&w);
}

/* The process that fails first decides the exit code. */
static void the_first_that_fails_has_the_exit_code(void **state)
{
    struct plan plan;
    uint32_t first;
    int status;

    (void)state;
    plan_jobs(&plan, 1);
    plan.further[0].fate.failing = 100;
    run_to(&plan, SIM_END_WELL);
    first = w.jobs.told[1].books.decides;
    status = sim_fate_status(&w, &w.jobs.told[1], first);
    assert_true(status != 0);
    assert_int_equal(job_life_code(&w.jobs.told[1].life),
                     job_failure_code(status));
    assert_int_equal(job_life_code(&w.jobs.told[0].life), 0);
    sim_world_close(&w);
}

/* The ends of processes that were told to die do not count. */
static void a_job_is_killed_and_the_others_go_on(void **state)
{
    struct plan plan;

    (void)state;
    plan_jobs(&plan, 2);
    plan.further[0].lasts_ns = 60000 * MS;
    plan.further[0].kill_ns = 20 * MS;
    run_to(&plan, SIM_END_WELL);
    assert_true(w.jobs.told[1].life.is_killed);
    assert_false(w.jobs.told[0].life.is_killed ||
                 w.jobs.told[2].life.is_killed);
    assert_true(w.jobs.told[1].over_ns < w.jobs.told[1].told_ns + 21 * MS);
    assert_int_equal(job_life_code(&w.jobs.told[1].life), 0);
    assert_int_equal(w.processes[1].got, 6400);
    sim_world_close(&w);
}

static void a_further_job_that_cannot_be_started_ends(void **state)
{
    struct plan plan;

    (void)state;
    plan_jobs(&plan, 1);
    plan.further[0].lasts_ns = 60000 * MS;
    plan.further[0].fate.unstarted = 20;
    run_to(&plan, SIM_END_WELL);
    assert_true(count_of(&w.jobs.told[1], JOB_PROCESS_UNSTARTED) > 0);
    assert_true(w.jobs.told[1].life.is_killed);
    assert_int_equal(w.jobs.told[1].books.started, 0);
    assert_true(w.jobs.told[1].over_ns < w.jobs.told[1].told_ns + MS);
    assert_false(w.jobs.told[0].life.is_killed);
    sim_world_close(&w);
}

/* All other jobs end with it, and no further ones are started. */
static void the_own_job_that_cannot_be_started_ends_the_run(void **state)
{
    struct plan plan;

    (void)state;
    plan_jobs(&plan, 2);
    plan.cfg.job.fate.unstarted = 20;
    plan.further[1].at_ns = 50 * MS;
    plan.further[0].at_ns = 0;
    plan.further[0].lasts_ns = 60000 * MS;
    run_to(&plan, SIM_END_WELL);
    assert_true(count_of(&w.jobs.told[0], JOB_PROCESS_UNSTARTED) > 0);
    assert_int_equal(w.jobs.count, 2);
    assert_true(w.jobs.told[1].life.is_killed);
    assert_true(w.end.at_ns < 50 * MS);
    sim_world_close(&w);
}

static void a_lost_node_takes_its_processes_of_all_jobs(void **state)
{
    struct plan plan;

    (void)state;
    plan_jobs(&plan, 2);
    plan.further[0].lasts_ns = plan.further[1].lasts_ns = 2000 * MS;
    /* A job that has no node left, started when that is known. */
    plan.further[2] = plan.further[1];
    plan.further[2].nodes = (struct topo_range){15, 15};
    plan.further[2].at_ns = 1000 * MS;
    plan.cfg.job.further_count = 3;
    plan.fault = (struct sim_fault){.at_ns = 30 * MS,
                                    .length_ns = SIM_NEVER,
                                    .node = 15,
                                    .peer = TOPO_NONE,
                                    .kind = SIM_FAULT_KILL};
    plan.cfg.faults_count = 1;
    run_to(&plan, SIM_END_LOSS);
    assert_int_equal(w.jobs.count, 3);
    assert_int_equal(w.jobs.told[0].life.processes[14], JOB_PROCESS_LOST);
    assert_int_equal(count_of(&w.jobs.told[0], JOB_PROCESS_LOST), 1);
    for (uint32_t i = 1; i < 3; i++) {
        assert_true(count_of(&w.jobs.told[i], JOB_PROCESS_LOST) > 0);
        assert_true(count_of(&w.jobs.told[i], JOB_PROCESS_LOST) <= EACH);
        assert_int_equal(job_life_code(&w.jobs.told[i].life), 1);
    }
    sim_world_close(&w);
}

/* The job's own stdin and pushes of a tool are one stream; pushes to other jobs
 * are another one, and the processes of these jobs wait for its end. */
static void tools_push_beside_each_other(void **state)
{
    struct plan plan;

    (void)state;
    plan_jobs(&plan, 2);
    plan.cfg.job.has_stdin = true;
    plan.cfg.job.stdin_bytes = 1000000;
    plan.cfg.job.stdin_rate = 10000000;
    plan.cfg.job.tool =
        (struct sim_tool){.pushes = 300, .push_bytes = 100, .every_ns = MS};
    for (unsigned i = 0; i < 2; i++)
        plan.further[i].tool = (struct sim_tool){
            .pushes = 100, .push_bytes = 1000, .every_ns = MS};
    run_to(&plan, SIM_END_WELL);
    assert_int_equal(sim_stdin_sent(&w, JOB_STREAM_STDIN), 300);
    assert_int_equal(sim_stdin_sent(&w, JOB_STREAM_PUSHED), 200);
    assert_int_equal(w.processes[1].pushes, 300);
    assert_int_equal(w.processes[1].stdin_bytes, 1000000);
    for (unsigned i = 1; i < 3; i++)
        assert_true(w.jobs.told[i].over_ns > w.jobs.told[i].told_ns + 99 * MS);
    sim_world_close(&w);
}

/* There is room for more events than a driver keeps. */
static void a_wide_window_is_filled_bit_by_bit(void **state)
{
    struct plan plan;

    (void)state;
    plan_jobs(&plan, 1);
    plan.cfg.overlay.down_frames = 1024;
    plan.cfg.overlay.frame_bytes = 4096;
    plan.cfg.job.has_stdin = true;
    plan.cfg.job.stdin_bytes = 8000000;
    plan.cfg.job.tool =
        (struct sim_tool){.pushes = SIM_PUSHES_MAX, .push_bytes = 1};
    plan.further[0].tool = plan.cfg.job.tool;
    run_to(&plan, SIM_END_WELL);
    assert_int_equal(sim_stdin_sent(&w, JOB_STREAM_STDIN), SIM_PUSHES_MAX);
    sim_world_close(&w);
}

/* No process reads the run's own stdin, and nobody misses what is pushed
 * there. */
static void a_push_that_nobody_reads_is_dropped(void **state)
{
    struct plan plan;

    (void)state;
    plan_jobs(&plan, 0);
    plan.cfg.job.tool = (struct sim_tool){.pushes = 5, .push_bytes = 100};
    run_to(&plan, SIM_END_WELL);
    assert_int_equal(sim_stdin_sent(&w, JOB_STREAM_STDIN), 0);
    sim_world_close(&w);
}

static void a_run_is_ended_by_its_limit_of_time(void **state)
{
    struct plan plan;

    (void)state;
    plan_jobs(&plan, 1);
    plan.further[0].lasts_ns = 60000 * MS;
    plan.cfg.job.timeout_ns = 20 * MS;
    run_to(&plan, SIM_END_TIME);
    assert_int_equal(w.launcher->session.code, 124);
    sim_world_close(&w);
    plan.cfg.job.timeout_ns = 0; /* before they have joined */
    run_to(&plan, SIM_END_TIME);
    assert_int_equal(w.jobs.count, 0);
    sim_world_close(&w);
}

/* The console takes no output: the session waits three seconds for it, and then
 * ends. */
static void an_end_does_not_wait_for_the_console(void **state)
{
    struct plan plan;

    (void)state;
    plan_jobs(&plan, 0);
    plan.cfg.job.console_stuck_ns = 10 * MS;
    plan.cfg.job.console_length_ns = 60000 * MS;
    plan.cfg.job.timeout_ns = 20 * MS;
    assert_int_equal(sim_world_open(&w, &plan.cfg), 0);
    while (sim_world_run(&w, 1000000))
        ;
    sim_world_finish(&w);
    assert_int_equal(sim_report_end(&w), SIM_END_TIME);
    assert_int_equal(w.launcher->left_ns, 3020 * MS);
    assert_int_equal(w.launcher->goodbye_ns, 0);
    sim_world_close(&w);
}

static void what_cannot_be_is_refused(void **state)
{
    struct plan plan;
    const char *why;

    (void)state;
    plan_jobs(&plan, 1);
    plan.cfg.job.has_words = false;
    assert_int_not_equal(sim_cfg_check(&plan.cfg, &why), 0);
    plan_jobs(&plan, SIM_FURTHER_MAX + 1);
    assert_int_not_equal(sim_cfg_check(&plan.cfg, &why), 0);
    plan_jobs(&plan, 1);
    plan.further[0].nodes.last = NODES;
    assert_int_not_equal(sim_cfg_check(&plan.cfg, &why), 0);
    plan_jobs(&plan, 1);
    plan.further[0].each = 0;
    assert_int_not_equal(sim_cfg_check(&plan.cfg, &why), 0);
    plan_jobs(&plan, 1);
    plan.further[0].fate.failing = 101;
    assert_int_not_equal(sim_cfg_check(&plan.cfg, &why), 0);
    plan_jobs(&plan, 0);
    plan.cfg.job.fate.unstarted = 101;
    assert_int_not_equal(sim_cfg_check(&plan.cfg, &why), 0);
    plan_jobs(&plan, 0);
    plan.cfg.job.tool = (struct sim_tool){.pushes = 1};
    assert_int_not_equal(sim_cfg_check(&plan.cfg, &why), 0);
    plan_jobs(&plan, 1);
    plan.further[0].tool =
        (struct sim_tool){.pushes = SIM_PUSHES_MAX + 1, .push_bytes = 1};
    assert_int_not_equal(sim_cfg_check(&plan.cfg, &why), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_last_word_says_that_all_is_well),
        cmocka_unit_test(jobs_run_beside_each_other),
        cmocka_unit_test(the_first_that_fails_has_the_exit_code),
        cmocka_unit_test(a_job_is_killed_and_the_others_go_on),
        cmocka_unit_test(a_further_job_that_cannot_be_started_ends),
        cmocka_unit_test(the_own_job_that_cannot_be_started_ends_the_run),
        cmocka_unit_test(a_lost_node_takes_its_processes_of_all_jobs),
        cmocka_unit_test(tools_push_beside_each_other),
        cmocka_unit_test(a_wide_window_is_filled_bit_by_bit),
        cmocka_unit_test(a_push_that_nobody_reads_is_dropped),
        cmocka_unit_test(a_run_is_ended_by_its_limit_of_time),
        cmocka_unit_test(an_end_does_not_wait_for_the_console),
        cmocka_unit_test(what_cannot_be_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
