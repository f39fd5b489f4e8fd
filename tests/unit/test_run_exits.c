/* The lines about how processes ended, and about those that still run. */
#include "config.h"

#include "endpoints/run/exits.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "endpoints/run/roll.h"
#include "job/life.h"
#include "tests/unit/plan_rig.h"

enum { HOSTS = 4, SIZE = 400 };

/* A hundred processes on each of four hosts. */
struct trial {
    struct fixture f;
    struct job_life life;
    struct capture said;
};

static struct trial c;

static int open_trial(void **state)
{
    (void)state;
    memset(&c, 0, sizeof(c));
    open_fixture(&c.f, "n[1-3]:100,other:100");
    c.f.options.apps[0].procs = SIZE;
    assert_int_equal(ep_run_plan_nodes(&c.f.plan, &c.f.most), 0);
    assert_int_equal(c.f.job.size, SIZE);
    return job_life_open(&c.life, &c.f.job);
}

static int close_trial(void **state)
{
    (void)state;
    job_life_close(&c.life);
    close_fixture(&c.f);
    return 0;
}

static void end(uint32_t rank, int status)
{
    job_life_step(&c.life,
                  &(struct job_life_event){.kind = JOB_LIFE_PROCESS_ENDED,
                                           .rank = rank,
                                           .status = status,
                                           .at = {1, 1}});
}

static const char *told(void)
{
    capture_begin(&c.said);
    ep_run_exits_tell(&c.f.plan, &c.life, &c.f.voice);
    capture_end(&c.said);
    return c.said.text;
}

static void one_alone_has_no_further_line(void **state)
{
    (void)state;
    end(3, 7 << 8);
    end(4, 0);
    assert_string_equal(told(), "");
}

static const char *told_first(void)
{
    capture_begin(&c.said);
    ep_run_exits_first(&c.f.plan, &c.life, &c.f.voice);
    capture_end(&c.said);
    return c.said.text;
}

static void fail_at(uint32_t rank, int status, uint64_t from_ns, uint64_t to_ns)
{
    job_life_step(&c.life,
                  &(struct job_life_event){.kind = JOB_LIFE_PROCESS_ENDED,
                                           .rank = rank,
                                           .status = status,
                                           .at = {from_ns, to_ns}});
}

static void who_failed_first_is_named(void **state)
{
    (void)state;
    fail_at(7, 2 << 8, 5000000, 6000000);
    assert_string_equal(told_first(), "xylem: rank 7 on n1 returned 2\n");
    fail_at(3, 2 << 8, 5500000,
            7000000); /* the processes ended in the same way */
    assert_string_equal(told_first(), "xylem: rank 3 on n1 returned 2\n");
    fail_at(250, SIGSEGV, 5500000, 7500000);
    assert_string_equal(told_first(),
                        "xylem: rank 3 on n1 returned 2; within 2.5 ms also "
                        "rank 250 on n3 was ended by signal 11 (Segmentation "
                        "fault)\n");
    fail_at(399, 4 << 8, 4000000, 5100000);
    assert_string_equal(told_first(),
                        "xylem: rank 7 on n1 returned 2; within 2.0 ms also "
                        "rank 399 on other returned 4\n");
}

static void what_the_user_has_ended_did_not_fail(void **state)
{
    (void)state;
    job_life_signalled(&c.life, SIGINT);
    end(5, SIGINT);
    assert_string_equal(told_first(), "");
    assert_string_equal(told(), "xylem: ended by your SIGINT: rank 5 on n1\n");
    end(4, 3 << 8);
    assert_string_equal(told_first(), "xylem: rank 4 on n1 returned 3\n");
}

static void each_way_to_end_has_a_line(void **state)
{
    (void)state;
    for (uint32_t rank = 0; rank < SIZE; rank++)
        end(rank, rank == 250 ? SIGSEGV : (int)(rank % 2 << 8));
    assert_string_equal(
        told(), "xylem: exit 1: ranks 1,3,5,7,9,11,13,15,... (200) on "
                "n[1-3],other\n"
                "xylem: signal 11 (Segmentation fault): rank 250 on n3\n");
}

static void neighbours_are_folded_and_counted(void **state)
{
    (void)state;
    for (uint32_t rank = 0; rank < 150; rank++)
        end(rank, 2 << 8);
    end(399, 3 << 8);
    assert_string_equal(told(), "xylem: exit 2: ranks 0-149 (150) on n[1-2]\n"
                                "xylem: exit 3: rank 399 on other\n");
}

static void what_others_have_ended_stands_apart(void **state)
{
    (void)state;
    end(0, 1 << 8);
    job_life_signalled(&c.life, SIGINT);
    end(5, SIGINT);
    end(110, SIGINT);
    job_life_kill(&c.life, 1);
    end(7, SIGKILL);
    assert_string_equal(told(),
                        "xylem: ended by your SIGINT: ranks 5,110 on n[1-2]\n"
                        "xylem: ended by xylem: 1 process\n");
}

static void many_ways_are_nine_lines(void **state)
{
    const char *text;
    unsigned lines = 0;

    (void)state;
    for (uint32_t rank = 0; rank < SIZE; rank++)
        end(rank, (int)(rank % 20 + 1) << 8);
    text = told();
    assert_non_null(strstr(text, "xylem: 240 more processes ended in 12 other "
                                 "ways\n"));
    for (; *text != '\0'; text++)
        lines += *text == '\n';
    assert_int_equal(lines, 9);
}

static void a_roll_is_bounded(void **state)
{
    struct run_roll roll;

    (void)state;
    for (uint32_t rank = 0; rank < SIZE; rank += 2)
        end(rank, 0);
    ep_run_roll_call(&c.f.plan, &c.life, JOB_PROCESS_TOLD, RUN_ROLL_RANKS_MAX,
                     100, &roll);
    assert_int_equal(roll.count, SIZE / 2);
    assert_memory_equal(roll.ranks, "1,3,5,", 6);
    assert_string_equal(roll.ranks + strlen(roll.ranks) - 7, "127,...");
    assert_string_equal(roll.hosts, "n[1-3],other");
    ep_run_roll_fini(&roll);
}

int main(void)
{
#define TEST(name)                                                             \
    cmocka_unit_test_setup_teardown(name, open_trial, close_trial)
    const struct CMUnitTest tests[] = {
        TEST(one_alone_has_no_further_line),
        TEST(who_failed_first_is_named),
        TEST(what_the_user_has_ended_did_not_fail),
        TEST(each_way_to_end_has_a_line),
        TEST(neighbours_are_folded_and_counted),
        TEST(what_others_have_ended_stands_apart),
        TEST(many_ways_are_nine_lines),
        TEST(a_roll_is_bounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
