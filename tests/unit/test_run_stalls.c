/* Which processes without progress are reported, and when. */
#include "config.h"

#include "endpoints/run/stalls.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "endpoints/run/watch.h"
#include "job/life.h"
#include "job/word.h"
#include "tests/unit/plan_rig.h"

enum { SIZE = 400 };

static struct trial {
    struct fixture f;
    struct job_life life;
    struct run_stalls *stalls;
    char passed_on[64]; /* the ranks of the last call */
    struct capture said;
    void (*look)(void *arg); /* set by ep_watch_open() */
    void *arg;
    bool is_due; /* a look was requested */
} t;

/* --- replaces the watch, so that its time does not pass by itself */

int ep_watch_open(struct event_base *base, unsigned first_ms, unsigned most_ms,
                  void (*look)(void *arg), void *arg, struct run_watch **out)
{
    (void)base;
    assert_true(first_ms < 1000 && most_ms >= first_ms);
    t.look = look;
    t.arg = arg;
    *out = NULL;
    return 0;
}

void ep_watch_soon(struct run_watch *watch)
{
    (void)watch;
    t.is_due = true;
}

void ep_watch_close(struct run_watch *watch)
{
    (void)watch;
}

/* --- a hundred processes on each of four hosts */

static void say(void *arg, const char *words)
{
    (void)arg;
    ep_voice_say(t.f.plan.voice, "%s", words);
}

static void on_told(void *arg, const bool *are_told)
{
    size_t at = 0;

    (void)arg;
    for (uint32_t rank = 0; rank < SIZE; rank++) {
        if (are_told[rank] && at + 8 < sizeof(t.passed_on))
            at += (size_t)snprintf(t.passed_on + at, sizeof(t.passed_on) - at,
                                   "%u ", rank);
    }
}

static int open_trial(void **state)
{
    static const struct run_stalls_events events = {.say = say,
                                                    .on_told = on_told};
    const struct run_stalls_cfg cfg = {
        .plan = &t.f.plan, .life = &t.life, .events = &events};

    (void)state;
    memset(&t, 0, sizeof(t));
    open_fixture(&t.f, "n[1-4]:100");
    t.f.options.apps[0].procs = SIZE;
    assert_int_equal(ep_run_plan_nodes(&t.f.plan, &t.f.most), 0);
    assert_int_equal(job_life_open(&t.life, &t.f.job), 0);
    capture_begin(&t.said);
    t.f.job.watch.ms = 60000;
    return ep_run_stalls_open(&cfg, &t.stalls);
}

static int close_trial(void **state)
{
    (void)state;
    ep_run_stalls_close(t.stalls);
    job_life_close(&t.life);
    close_fixture(&t.f);
    return 0;
}

static void pass_time(void)
{
    assert_true(t.is_due);
    t.is_due = false;
    t.look(t.arg);
}

static void said(const char *want)
{
    capture_end(&t.said);
    assert_string_equal(t.said.text, want);
}

static void hear(uint8_t doing, uint32_t first, uint32_t last)
{
    const struct job_word word = {.kind = JOB_WORD_DOING,
                                  .doing = doing,
                                  .ranges = {{first, last}},
                                  .ranges_count = 1};

    ep_run_stalls_hear(t.stalls, &word);
}

/* --- the cases */

static void those_that_do_the_same_are_told_together(void **state)
{
    (void)state;
    hear(JOB_DOING_STOPPED, 17, 17);
    hear(JOB_DOING_WAITS, 200, 201);
    hear(JOB_DOING_WAITS, 203, 203);
    pass_time();
    said("xylem: no progress for 60 s: ranks 200-201,203 (3) on n3, waiting\n"
         "xylem: no progress for 60 s: rank 17 on n1, stopped\n");
    assert_string_equal(t.passed_on, "17 200 201 203 ");
    capture_begin(&t.said);
    hear(JOB_DOING_WAITS, 5, 5);
    pass_time();
    said("xylem: no progress for 60 s: rank 5 on n1, waiting\n");
    assert_string_equal(t.passed_on, "5 ");
}

static void those_that_go_on_are_told_if_they_were_before(void **state)
{
    (void)state;
    hear(JOB_DOING_WAITS, 3, 4);
    hear(JOB_DOING_GOES_ON, 4, 4);
    pass_time();
    said("xylem: no progress for 60 s: rank 3 on n1, waiting\n");
    capture_begin(&t.said);
    hear(JOB_DOING_GOES_ON, 3, 4);
    pass_time();
    said("xylem: going on again: rank 3 on n1\n");
    capture_begin(&t.said);
    hear(JOB_DOING_STOPPED, 3, 3);
    pass_time();
    said("xylem: no progress for 60 s: rank 3 on n1, stopped\n");
}

/* As long as there is something to tell, a longer look follows at once. */
static void later_ones_are_gathered_for_longer(void **state)
{
    (void)state;
    hear(JOB_DOING_WAITS, 3, 3);
    pass_time();
    assert_true(t.is_due);
    hear(JOB_DOING_WAITS, 4, 4);
    pass_time();
    assert_true(t.is_due);
    pass_time();
    assert_false(t.is_due);
    said("xylem: no progress for 60 s: rank 3 on n1, waiting\n"
         "xylem: no progress for 60 s: rank 4 on n1, waiting\n");
}

static void those_that_have_ended_are_left_out(void **state)
{
    (void)state;
    hear(JOB_DOING_WAITS, 3, 4);
    job_life_step(&t.life,
                  &(struct job_life_event){
                      .kind = JOB_LIFE_PROCESS_ENDED, .rank = 3, .at = {1, 1}});
    pass_time();
    said("xylem: no progress for 60 s: rank 4 on n1, waiting\n");
}

static void nothing_is_told_once_the_job_is_killed(void **state)
{
    (void)state;
    hear(JOB_DOING_WAITS, 3, 4);
    job_life_kill(&t.life, 1);
    pass_time();
    said("");
}

static void other_numbers_do_no_harm(void **state)
{
    (void)state;
    hear(JOB_DOING_WAITS, SIZE - 1, UINT32_MAX);
    hear(JOB_DOING_WAITS, SIZE, SIZE + 5);
    pass_time();
    said("xylem: no progress for 60 s: rank 399 on n4, waiting\n");
}

int main(void)
{
#define TRIAL(name)                                                            \
    cmocka_unit_test_setup_teardown(name, open_trial, close_trial)
    const struct CMUnitTest tests[] = {
        TRIAL(those_that_do_the_same_are_told_together),
        TRIAL(those_that_go_on_are_told_if_they_were_before),
        TRIAL(later_ones_are_gathered_for_longer),
        TRIAL(those_that_have_ended_are_left_out),
        TRIAL(nothing_is_told_once_the_job_is_killed),
        TRIAL(other_numbers_do_no_harm),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
