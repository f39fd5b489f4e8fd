/* srun's messages about its tasks: lines as Slurm 22.05 has printed them. */
#include "endpoints/boot/srun.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static char told[8192];

static void record(void *arg, const char *host, enum ep_srun_end end,
                   const char *text)
{
    size_t len = strlen(told);

    (void)arg;
    snprintf(told + len, sizeof(told) - len, "%s %d %s\n", host, (int)end,
             text);
}

static void feed(struct ep_srun *srun, const char *line)
{
    ep_srun_line(srun, line, "/x/xylemd", record, NULL);
}

/* Feeds lines, ended by NULL, and checks that exactly this is reported. */
static void expect(const char *const *lines, const char *want)
{
    struct ep_srun srun = {.count = 8};

    told[0] = '\0';
    for (; *lines != NULL; lines++)
        feed(&srun, *lines);
    assert_string_equal(told, want);
    ep_srun_fini(&srun);
}

static void words_come_with_the_end_of_their_task(void **state)
{
    static const char *const lines[] = {
        "4: slurmstepd-h5: error: execve(): /x/xylemd: No such file",
        "02: xylemd: another version",
        "srun: error: h5: task 4: Exited with exit code 2",
        "srun: error: h[3,7-8]: tasks 2,6-7: Exited with exit code 1",
        "7: too late, but of use",
        NULL};

    (void)state;
    expect(
        lines,
        "h5 1 xylemd was not started (srun: Exited with exit code 2); its "
        "stderr: slurmstepd-h5: error: execve(): /x/xylemd: No such file (is "
        "xylem installed there as /x/xylemd? --xylemd names the daemon)\nh3 1 "
        "xylemd was not started (srun: Exited with exit code 1); its stderr: "
        "xylemd: another version\nh7 0 xylemd was not started (srun: Exited "
        "with exit code 1)\nh8 0 xylemd was not started (srun: Exited with "
        "exit code 1)\nh8 1 xylemd was not started (srun: Exited with exit "
        "code 1); its stderr: too late, but of use\n");
}

/* The words of a task that was killed are not the reason of the failure. */
static void who_is_not_started_is_told_apart_from_who_is_killed(void **state)
{
    static const char *const lines[] = {
        "srun: error: Task launch for StepId=5.0 failed on node h4: "
        "Communication connection failure",
        "srun: error: Application launch failed: Communication connection "
        "failure",
        "srun: Job step aborted",
        "0: slurmstepd-h1: error: *** STEP 5.0 ON h1 CANCELLED ***",
        "srun: error: h[1-2]: tasks 0-1: Killed",
        NULL};

    (void)state;
    expect(lines,
           "h4 2 xylemd was not started (srun: Communication connection "
           "failure) (are slurmd and munged up on that host? see sinfo and the "
           "log of its slurmd)\nh1 0 xylemd was not started (srun: Killed)\nh2 "
           "0 xylemd was not started (srun: Killed)\n");
}

/* A task that was about to run when the step was cancelled, and ends by
 * itself. */
static void words_of_the_step_are_not_those_of_a_task(void **state)
{
    static const char *const lines[] = {
        "0: slurmstepd-h1: error: *** STEP 7.0 ON h1 CANCELLED AT "
        "2026-11-24T00:58:10 ***",
        "srun: error: h1: task 0: Exited with exit code 1",
        "1: xylemd: another version",
        "1: slurmstepd-h2: error: *** STEP 7.0 ON h1 CANCELLED AT "
        "2026-11-24T00:58:10 ***",
        "srun: error: h2: task 1: Exited with exit code 2",
        NULL};

    (void)state;
    expect(lines, "h1 0 xylemd was not started (srun: Exited with exit code "
                  "1)\nh2 1 xylemd was not started (srun: Exited with exit "
                  "code 2); its stderr: xylemd: another version\n");
}

static void other_lines_tell_nothing(void **state)
{
    static const char *const lines[] = {
        "",
        "srun: error: ",
        "srun: error: Unable to create step for job 7: Job has expired",
        "srun: error: task 3: Killed",
        "srun: error: h3: task 99999999999: Killed?",
        "srun: error: h[3: task 3: Killed",
        "srun: error: h3: task",
        "srun: error: h3: tasks ",
        "srun: error: Task launch for StepId=5.0 failed on node ",
        "99999999999999999999: a word",
        "3:no label",
        "srun: h3: task 3: Exited with exit code 2",
        NULL};

    (void)state;
    expect(lines, "h3 0 xylemd was not started (srun: Killed?)\n");
}

/* Any program may write a line that begins with a number. */
static void a_number_of_no_task_costs_nothing(void **state)
{
    struct ep_srun srun = {.count = 8};

    (void)state;
    told[0] = '\0';
    feed(&srun, "8: a word");
    feed(&srun, "1048575: a word");
    feed(&srun, "srun: error: h3: task 1000000: Killed");
    assert_string_equal(told, "h3 0 xylemd was not started (srun: Killed)\n");
    assert_int_equal(srun.cap, 0);
    feed(&srun, "7: a word");
    assert_int_equal(srun.cap, 64);
    ep_srun_fini(&srun);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_come_with_the_end_of_their_task),
        cmocka_unit_test(who_is_not_started_is_told_apart_from_who_is_killed),
        cmocka_unit_test(words_of_the_step_are_not_those_of_a_task),
        cmocka_unit_test(other_lines_tell_nothing),
        cmocka_unit_test(a_number_of_no_task_costs_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
