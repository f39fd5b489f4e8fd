/* The jobs of a session, one by one, as a client lists them. */
#include "config.h"

#include "endpoints/client/viewers.h"

#include "tests/unit/viewers_lab.h"
#include "text/fields.h"

/* Returns the answer to LIST as text. The age of jobs is left out, because the
 * lab does not set it. */
static const char *list(const struct lab *lab, uint32_t base)
{
    static char text[LAB_TEXT_MAX];
    char hosts[EP_VIEWERS_HOSTS_BYTES];
    struct job_door row;

    ep_viewers_list(lab->all, base, hosts, &row);
    assert_int_equal(row.kind, JOB_DOOR_LISTED);
    if (row.is_over)
        return "none";
    assert_true(row.row.quiet_s == (row.first == 0 ? UINT64_MAX : 5));
    snprintf(text, sizeof(text),
             "%s %u+%u left %u, %u hosts %s, %d out, %d in, %d wait, '%s'%s",
             row.row.name, row.first, row.count, row.row.left, row.row.hosts,
             row.host, (int)row.row.output_bytes, (int)row.row.stdin_bytes,
             (int)row.row.waiting_bytes, row.text, row.is_dvm ? " dvm" : "");
    return text;
}

/* Each answer leads to the next request. */
static void jobs_are_listed_in_order(void **state)
{
    static const uint32_t pids[] = {1, 2, 3, 4};
    struct lab lab;

    (void)state;
    lab_open(&lab);
    assert_string_equal(list(&lab, 0), "none"); /* before there is a launch */
    lab_begin(&lab);
    lab_job_begun(&lab, "own.1", 10, 2, 0);
    assert_string_equal(list(&lab, 0), "own 0+4 left 4, 2 hosts h[0-1], 100 "
                                       "out, 7 in, 3 wait, 'prog'");
    assert_string_equal(list(&lab, 4), "own.1 10+2 left 2, 1 hosts h0, 110 "
                                       "out, 7 in, 3 wait, 'prog'");
    assert_string_equal(list(&lab, 12), "none");
    ep_viewers_started(lab.tap, 0, pids, 4);
    ep_viewers_exit(lab.tap, 1, 0, (struct job_span){0});
    assert_string_equal(list(&lab, 0), "own 0+4 left 3, 2 hosts h[0-1], 100 "
                                       "out, 7 in, 3 wait, 'prog'");
    lab_job_ended(&lab, 10);
    assert_string_equal(list(&lab, 1), "none");
    lab_close(&lab);
}

/* A job is over after the last of its output. */
static void jobs_that_are_over_are_left_out(void **state)
{
    static const uint32_t pids[] = {1, 2, 3, 4};
    struct lab lab;

    (void)state;
    lab_open(&lab);
    lab_begin(&lab);
    ep_viewers_started(lab.tap, 0, pids, 4);
    for (uint32_t rank = 0; rank < 4; rank++) {
        ep_viewers_exit(lab.tap, rank, 0, (struct job_span){0});
        lab_finish(&lab, rank, 1);
        if (rank < 3)
            lab_finish(&lab, rank, 2);
    }
    assert_string_equal(list(&lab, 0), "own 0+4 left 0, 2 hosts h[0-1], 100 "
                                       "out, 7 in, 3 wait, 'prog'");
    lab_finish(&lab, 3, 2);
    assert_string_equal(list(&lab, 0), "none");
    lab_close(&lab);
}

/* The launcher's text about a job, requested by the job's base. */
static void groups_are_those_of_one_job(void **state)
{
    struct text_buf text = {0};
    bool is_more = false;
    struct lab lab;

    (void)state;
    lab_open(&lab);
    assert_false(ep_viewers_groups(lab.all, 0, &text, &is_more));
    lab_begin(&lab);
    lab_job_begun(&lab, "own.1", 10, 2, 0);
    lab.is_looking = true;
    assert_true(ep_viewers_groups(lab.all, 10, &text, &is_more));
    assert_string_equal(text.at, "running: those from 10 on\n");
    assert_true(is_more);
    lab.is_looking = false;
    assert_true(ep_viewers_groups(lab.all, 10, &text, &is_more));
    assert_false(is_more);
    assert_false(ep_viewers_groups(lab.all, 9, &text, &is_more));
    assert_false(ep_viewers_groups(lab.all, 11, &text, &is_more));
    lab_job_ended(&lab, 10);
    assert_false(ep_viewers_groups(lab.all, 10, &text, &is_more));
    lab_close(&lab);
    text_buf_fini(&text);
}

static void a_dvm_is_listed_as_its_daemons(void **state)
{
    struct text_buf text = {0};
    bool is_more = false;
    struct lab lab;

    (void)state;
    lab_open(&lab);
    lab.is_dvm = true;
    lab_begin(&lab);
    assert_string_equal(list(&lab, 0), "own 0+4 left 4, 2 hosts h[0-1], 100 "
                                       "out, 7 in, 3 wait, 'prog' dvm");
    assert_false(ep_viewers_groups(lab.all, 0, &text, &is_more));
    lab_close(&lab);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(jobs_are_listed_in_order),
        cmocka_unit_test(jobs_that_are_over_are_left_out),
        cmocka_unit_test(groups_are_those_of_one_job),
        cmocka_unit_test(a_dvm_is_listed_as_its_daemons),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
