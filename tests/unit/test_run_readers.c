/* Which processes are reported because they do not read their stdin, and
 * when. */
#include "config.h"

#include "endpoints/run/readers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "endpoints/run/watch.h"
#include "job/life.h"
#include "tests/unit/plan_rig.h"

enum { SIZE = 400 };

static struct trial {
    struct fixture f;
    struct job_life life;
    struct run_readers *readers;
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
    assert_int_equal(first_ms, most_ms);
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

static int open_trial(void **state)
{
    (void)state;
    memset(&t, 0, sizeof(t));
    open_fixture(&t.f, "n[1-4]:100");
    t.f.options.apps[0].procs = SIZE;
    assert_int_equal(ep_run_plan_nodes(&t.f.plan, &t.f.most), 0);
    assert_int_equal(job_life_open(&t.life, &t.f.job), 0);
    capture_begin(&t.said);
    return ep_run_readers_open(&t.f.plan, &t.life, NULL, &t.readers);
}

static int close_trial(void **state)
{
    (void)state;
    ep_run_readers_close(t.readers);
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

static const char first[] = "xylem: rank 7 on n1 does not read its stdin: the "
                            "job waits for it (see --stdin-slow)\n";

/* --- the cases */

static void the_first_is_told_at_once_and_others_together(void **state)
{
    (void)state;
    ep_run_readers_held(t.readers, 7);
    said(first);
    capture_begin(&t.said);
    for (uint32_t rank = 0; rank < 350; rank++)
        ep_run_readers_unread(t.readers, rank);
    pass_time();
    said("xylem: further processes do not read their stdin: ranks 0-6,8-349 "
         "(349) on "
         "n[1-4]\n");
    capture_begin(&t.said);
    assert_false(t.is_due);
    ep_run_readers_unread(t.readers, 399);
    pass_time();
    said("xylem: further processes do not read their stdin: rank 399 on n4\n");
}

static void each_is_told_once(void **state)
{
    (void)state;
    ep_run_readers_held(t.readers, 7);
    ep_run_readers_unread(t.readers, 7);
    ep_run_readers_unread(t.readers, 8);
    pass_time();
    ep_run_readers_held(t.readers, 8);
    ep_run_readers_unread(t.readers, 8);
    pass_time();
    capture_end(&t.said);
    assert_int_equal(strncmp(t.said.text, first, strlen(first)), 0);
    assert_string_equal(
        t.said.text + strlen(first),
        "xylem: further processes do not read their stdin: rank 8 on n1\n");
}

static void nobody_is_told_before_the_job_waits(void **state)
{
    (void)state;
    ep_run_readers_unread(t.readers, 9);
    assert_false(t.is_due);
    ep_run_readers_held(t.readers, 7);
    said(first);
    capture_begin(&t.said);
    pass_time();
    said("xylem: further processes do not read their stdin: rank 9 on n1\n");
}

static void who_has_ended_meanwhile_is_left_out(void **state)
{
    (void)state;
    ep_run_readers_held(t.readers, 7);
    ep_run_readers_unread(t.readers, 9);
    job_life_step(&t.life,
                  &(struct job_life_event){
                      .kind = JOB_LIFE_PROCESS_ENDED, .rank = 9, .at = {1, 1}});
    pass_time();
    ep_run_readers_unread(t.readers, 10);
    t.life.is_killed = true;
    pass_time();
    said(first);
}

int main(void)
{
#define TEST(name)                                                             \
    cmocka_unit_test_setup_teardown(name, open_trial, close_trial)
    const struct CMUnitTest tests[] = {
        TEST(the_first_is_told_at_once_and_others_together),
        TEST(each_is_told_once),
        TEST(nobody_is_told_before_the_job_waits),
        TEST(who_has_ended_meanwhile_is_left_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
