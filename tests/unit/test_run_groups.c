/* The groups of processes of a job that runs. */
#include "config.h"

#include "endpoints/run/groups.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "job/doing.h"
#include "job/life.h"
#include "tests/unit/plan_rig.h"
#include "text/fields.h"

enum { HOSTS = 4, EACH = 10 };

/* Ten processes on each of four hosts. */
struct trial {
    struct fixture f;
    struct job_life life;
    struct text_buf text;
    uint8_t known[HOSTS * EACH]; /* what each process is doing */
    const uint8_t *doing;        /* NULL, or the address of `known` */
    struct capture said;
};

static struct trial c;

static int open_trial(void **state)
{
    (void)state;
    memset(&c, 0, sizeof(c));
    open_fixture(&c.f, "n[1-4]:10");
    c.f.options.apps[0].procs = HOSTS * EACH;
    assert_int_equal(ep_run_plan_nodes(&c.f.plan, &c.f.most), 0);
    return job_life_open(&c.life, &c.f.job);
}

static int close_trial(void **state)
{
    (void)state;
    text_buf_fini(&c.text);
    job_life_close(&c.life);
    close_fixture(&c.f);
    return 0;
}

static void step(enum job_life_kind kind, uint32_t number, int status)
{
    job_life_step(&c.life, &(struct job_life_event){.kind = kind,
                                                    .node = number,
                                                    .rank = number,
                                                    .status = status,
                                                    .at = {1, 1}});
}

static void start(uint32_t first, uint32_t last)
{
    for (uint32_t place = first; place <= last; place++)
        step(JOB_LIFE_NODE_STARTED, job_node_at(&c.f.job, place), 0);
}

static const char *groups(void)
{
    text_buf_clear(&c.text);
    ep_run_groups(&c.f.plan, &c.life, c.doing, &c.text);
    assert_false(c.text.bad);
    return c.text.at;
}

static void processes_run_when_their_node_has_started(void **state)
{
    (void)state;
    assert_string_equal(groups(), "not started yet: ranks 0-39 (40) on "
                                  "n[1-4]\n");
    start(2, 3);
    assert_string_equal(groups(), "running: ranks 10-29 (20) on n[2-3]\n"
                                  "not started yet: ranks 0-9,30-39 (20) on "
                                  "n[1,4]\n");
    start(1, 4);
    assert_string_equal(groups(), "running: ranks 0-39 (40) on n[1-4]\n");
}

/* A process may end before all processes of its node were started. */
static void each_end_has_a_line(void **state)
{
    (void)state;
    start(1, 3);
    for (uint32_t rank = 0; rank < 5; rank++)
        step(JOB_LIFE_PROCESS_ENDED, rank, 0);
    step(JOB_LIFE_PROCESS_ENDED, 12, 3 << 8);
    step(JOB_LIFE_PROCESS_ENDED, 31, SIGSEGV);
    job_life_signalled(&c.life, SIGTERM);
    step(JOB_LIFE_PROCESS_ENDED, 14, SIGTERM);
    for (uint32_t rank = 20; rank < 30; rank++)
        step(JOB_LIFE_PROCESS_LOST, rank, 0);
    assert_string_equal(groups(),
                        "running: ranks 5-11,13,15-19 (13) on n[1-2]\n"
                        "not started yet: ranks 30,32-39 (9) on n4\n"
                        "exit 0: ranks 0-4 (5) on n1\n"
                        "exit 3: rank 12 on n2\n"
                        "signal 11 (Segmentation fault): rank 31 on n4\n"
                        "ended by your SIGTERM: rank 14 on n2\n"
                        "lost with a node: ranks 20-29 (10) on n3\n");
}

static void what_cannot_be_started_is_said(void **state)
{
    (void)state;
    start(1, 4);
    step(JOB_LIFE_PROCESS_UNSTARTED, 0, 0);
    c.life.is_killed = true;
    for (uint32_t rank = 1; rank < 39; rank++)
        step(JOB_LIFE_PROCESS_ENDED, rank, SIGKILL);
    assert_string_equal(groups(), "running: rank 39 on n4\n"
                                  "ended by xylem: 38 processes\n"
                                  "could not be started: rank 0 on n1\n");
}

static void many_ways_to_end_are_nine_lines(void **state)
{
    (void)state;
    start(1, 4);
    for (uint32_t rank = 0; rank < HOSTS * EACH; rank++)
        step(JOB_LIFE_PROCESS_ENDED, rank, (int)(rank % 20 + 1) << 8);
    assert_non_null(strstr(groups(), "exit 8: ranks 7,27 on n[1,3]\n"
                                     "24 more processes ended in 12 other "
                                     "ways\n"));
}

/* For a process that runs, facts that are not known are left out. */
static void processes_that_run_are_listed_by_what_they_do(void **state)
{
    (void)state;
    start(1, 3);
    step(JOB_LIFE_PROCESS_ENDED, 2, 0);
    memset(c.known, JOB_DOING_COMPUTES, 20);
    c.known[2] = JOB_DOING_WAITS;
    c.known[3] = JOB_DOING_WAITS;
    c.known[11] = JOB_DOING_READS;
    c.known[20] = JOB_DOING_STOPPED;
    c.known[21] = JOB_DOING_LEFT;
    c.doing = c.known;
    assert_string_equal(groups(),
                        "computing: ranks 0-1,4-10,12-19 (17) on n[1-2]\n"
                        "reading stdin: rank 11 on n2\n"
                        "waiting: rank 3 on n1\n"
                        "stopped: rank 20 on n3\n"
                        "ended, but its output is still open: rank 21 on n3\n"
                        "running: ranks 22-29 (8) on n3\n"
                        "not started yet: ranks 30-39 (10) on n4\n"
                        "exit 0: rank 2 on n1\n");
}

static const char *rest(bool *is_any)
{
    capture_begin(&c.said);
    *is_any = ep_run_groups_rest(&c.f.plan, &c.life, c.doing, &c.f.voice,
                                 "still running");
    capture_end(&c.said);
    return c.said.text;
}

static void who_still_runs(void **state)
{
    bool is_any;

    (void)state;
    start(1, 4);
    for (uint32_t rank = 0; rank < HOSTS * EACH; rank++) {
        if (rank != 3 && rank != 17)
            step(JOB_LIFE_PROCESS_ENDED, rank, 0);
    }
    assert_string_equal(rest(&is_any), "xylem: still running: ranks 3,17 on "
                                       "n[1-2] (2 of 40)\n");
    assert_true(is_any);
    c.doing = c.known;
    assert_string_equal(rest(&is_any),
                        "xylem: still running: ranks 3,17 on n[1-2] (2 of 40), "
                        "no answer from their hosts\n");
    c.known[3] = JOB_DOING_WAITS;
    assert_string_equal(rest(&is_any),
                        "xylem: still running: ranks 3,17 on n[1-2] (2 of 40)\n"
                        "xylem:   waiting: rank 3 on n1\n"
                        "xylem:   no answer from their hosts: rank 17 on n2\n");
    c.known[17] = JOB_DOING_WAITS;
    assert_string_equal(rest(&is_any), "xylem: still running: ranks 3,17 on "
                                       "n[1-2] (2 of 40), waiting\n");
    step(JOB_LIFE_PROCESS_ENDED, 3, 0);
    step(JOB_LIFE_PROCESS_ENDED, 17, 0);
    assert_string_equal(rest(&is_any), "");
    assert_false(is_any);
}

int main(void)
{
#define TRIAL(name)                                                            \
    cmocka_unit_test_setup_teardown(name, open_trial, close_trial)
    const struct CMUnitTest tests[] = {
        TRIAL(processes_run_when_their_node_has_started),
        TRIAL(each_end_has_a_line),
        TRIAL(what_cannot_be_started_is_said),
        TRIAL(many_ways_to_end_are_nine_lines),
        TRIAL(processes_that_run_are_listed_by_what_they_do),
        TRIAL(who_still_runs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
