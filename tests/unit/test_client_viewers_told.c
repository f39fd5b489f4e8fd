/* What the client that owns a job is told of its processes. */
#include "config.h"

#include "endpoints/client/viewers.h"

#include "job/door.h"
#include "tests/unit/viewers_lab.h"

static void begin(struct lab *lab)
{
    lab_open(lab);
    lab->is_dvm = true;
    lab_begin(lab);
}

static void the_end_says_how_the_others_ended(void **state)
{
    struct ep_client_job first = {.event = EP_CLIENT_JOB_FIRST,
                                  .base = LAB_BASE,
                                  .rank = 2,
                                  .status = 3 << 8,
                                  .words = "rank 2 is the first"};
    struct ep_client_job end = {.event = EP_CLIENT_JOB_ENDED, .base = LAB_BASE};
    static char lines[2 * JOB_DOOR_ENDS_MAX];
    struct lab_client client;
    struct lab lab;

    (void)state;
    begin(&lab);
    lab_own(&lab, &client);
    ep_viewers_job(lab.tap, &first); /* reported before all processes run */
    ASSERT_HEARD(&client, "first 12: rank 2 is the first");
    lab_job_started(&lab, LAB_BASE);
    first.rank = 1;
    first.words = "";
    ep_viewers_job(lab.tap, &first);
    ASSERT_HEARD(&client, "started; first 11: ");
    memset(lines, 'x', sizeof(lines) - 1);
    lines[999] = lines[JOB_DOOR_ENDS_MAX] = '\n';
    end.words = lines;
    ep_viewers_job(lab.tap, &end); /* only whole lines are passed on */
    ASSERT_HEARD(&client, "ended 10 of 0 failed, status 0; 1000 bytes of "
                          "lines");
    lab_leave(&client);
    lab_close(&lab);
}

static void the_end_says_that_some_were_lost(void **state)
{
    struct lab_client client;
    struct lab lab;

    (void)state;
    begin(&lab);
    lab_own(&lab, &client);
    ep_viewers_exit(lab.tap, 10, 0, (struct job_span){0});
    ep_viewers_lost(lab.tap, 10, 1); /* this process had ended before */
    ep_viewers_lost(lab.tap, 12, 1);
    ep_viewers_exit(lab.tap, 12, 9, (struct job_span){0});
    ep_viewers_exit(lab.tap, 11, 0, (struct job_span){0});
    ep_viewers_exit(lab.tap, 13, 0, (struct job_span){0});
    lab_job_ended(&lab, LAB_BASE);
    ASSERT_HEARD(&client, "ended 12 of 1 failed, status 9, lost");
    lab_leave(&client);
    lab_own(&lab, &client);
    ep_viewers_exit(lab.tap, 14, 0, (struct job_span){0});
    ep_viewers_lost(lab.tap, 14, 1);
    lab_job_ended(&lab, 14);
    ASSERT_HEARD(&client, "ended 14 of 0 failed, status 0");
    lab_leave(&client);
    lab_close(&lab);
}

static void those_without_progress_are_named(void **state)
{
    static const bool are_stalled[] = {true, true, false, true};
    struct ep_client_job stalled = {.event = EP_CLIENT_JOB_STALLED,
                                    .base = LAB_BASE,
                                    .size = 4,
                                    .words = "three wait"};
    struct lab_client client;
    struct lab lab;

    (void)state;
    begin(&lab);
    lab_own(&lab, &client);
    ep_viewers_job(lab.tap, &stalled); /* reported before all processes run */
    stalled.words = "";
    stalled.are_stalled = are_stalled;
    ep_viewers_job(lab.tap, &stalled);
    ASSERT_HEARD(&client, "stalled: three wait; range 10-11; range 13-13; "
                          "stalled: ");
    lab_job_started(&lab, LAB_BASE);
    ASSERT_HEARD(&client, "started");
    lab_leave(&client);
    lab_close(&lab);
}

static void a_notice_comes_before_the_end(void **state)
{
    const struct ep_client_job end = {
        .event = EP_CLIENT_JOB_ENDED, .base = LAB_BASE, .note = "3 left out"};
    struct lab_client client;
    struct lab lab;

    (void)state;
    begin(&lab);
    lab_own(&lab, &client);
    lab_job_started(&lab, LAB_BASE);
    ASSERT_HEARD(&client, "started");
    ep_viewers_job(lab.tap, &end);
    ASSERT_HEARD(&client, "note: 3 left out; ended 10 of 0 failed, status 0");
    lab_leave(&client);
    lab_close(&lab);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_end_says_how_the_others_ended),
        cmocka_unit_test(the_end_says_that_some_were_lost),
        cmocka_unit_test(those_without_progress_are_named),
        cmocka_unit_test(a_notice_comes_before_the_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
