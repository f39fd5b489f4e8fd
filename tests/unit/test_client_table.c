/* The processes of a job, as the launcher's messages describe them. */
#include "config.h"

#include <stdint.h>
#include <string.h>

#include "tests/unit/rig.h"

#include "job/door.h"
#include "overlay/base/err.h"
#include "endpoints/client/table.h"

enum { BASE = 10, SIZE = 6 };

static struct ep_table *table;

static int set_up(void **state)
{
    (void)state;
    table = ep_table_open(BASE, SIZE);
    return table == NULL;
}

static int tear_down(void **state)
{
    (void)state;
    ep_table_close(table);
    return 0;
}

static int place(uint32_t first, uint32_t count, const char *host,
                 const char *program)
{
    struct job_door msg = {
        .kind = JOB_DOOR_PLACE, .first = first, .count = count, .host = host};

    strcpy(msg.text, program);
    return ep_table_add(table, &msg);
}

static int number(uint8_t kind, uint32_t first, uint32_t count, uint32_t value)
{
    uint8_t mem[4 * (SIZE + 1)];
    struct ov_wr wr = ov_wr_init(mem, sizeof(mem));

    for (uint32_t i = 0; i < count; i++)
        ov_wr_u32(&wr, value);
    return ep_table_add(
        table, &(struct job_door){.kind = kind,
                                  .first = first,
                                  .rest = ov_rd_init(mem, 4 * (size_t)count)});
}

/* Places are found by rank, as the messages gave them; neighbours share their
 * names. */
static void places_are_by_rank(void **state)
{
    (void)state;
    assert_int_equal(place(10, 2, "b", "p"), 0);
    assert_int_equal(place(12, 1, "a", "p"), 0);
    assert_int_equal(place(13, 1, "a", "q"), 0);
    assert_int_equal(place(14, 1, "b", "q"), 0);
    assert_int_equal(place(15, 1, "c", "q"), 0);
    assert_string_equal(ep_table_at(table, 2)->host, "a");
    assert_string_equal(ep_table_at(table, 2)->program, "q");
    assert_int_equal(ep_table_at(table, 2)->first, 3);
    assert_int_equal(ep_table_at(table, 0)->count, 2);
    assert_ptr_equal(ep_table_at(table, 1)->host, ep_table_at(table, 2)->host);
    assert_null(ep_table_at(table, 5));
    assert_string_equal(ep_table_host(table, 0), "a");
    assert_string_equal(ep_table_host(table, 1), "b");
    assert_string_equal(ep_table_host(table, 2), "c");
    assert_null(ep_table_host(table, 3));
    ep_table_cut(table);
    assert_string_equal(ep_table_at(table, 0)->host, "b");
    assert_null(ep_table_at(table, 1));
}

/* The state of each process is known; an end counts once, however often it is
 * reported. */
static void ends_are_counted(void **state)
{
    int status;

    (void)state;
    assert_int_equal(ep_table_pid(table, 5), 0);
    assert_int_equal(number(JOB_DOOR_PIDS, 10, 6, 77), 0);
    assert_int_equal(number(JOB_DOOR_PIDS, 11, 1, 78), 0);
    assert_int_equal(ep_table_pid(table, 0), 77);
    assert_int_equal(ep_table_pid(table, 1), 78);
    assert_int_equal(ep_table_pid(table, 5), 77);
    assert_int_equal(number(JOB_DOOR_EXITS, 10, 6, JOB_DOOR_RUNS), 0);
    assert_false(ep_table_exit(table, 0, &status));
    assert_int_equal(number(JOB_DOOR_EXITS, 10, 5, 9), 0);
    assert_int_equal(number(JOB_DOOR_EXITS, 10, 1, 9), 0);
    assert_true(ep_table_exit(table, 4, &status));
    assert_int_equal(status, 9);
    assert_false(ep_table_exit(table, 5, &status));
    assert_false(ep_table_has_ended(table));
    assert_int_equal(number(JOB_DOOR_EXITS, 15, 1, 0), 0);
    assert_true(ep_table_exit(table, 5, &status));
    assert_int_equal(status, 0);
    assert_true(ep_table_has_ended(table));
}

/* Messages about processes that the job does not have change nothing. */
static void others_are_refused(void **state)
{
    int status;

    (void)state;
    assert_int_equal(place(9, 2, "a", "p"), OV_EPROTO);
    assert_int_equal(place(10, 7, "a", "p"), OV_EPROTO);
    assert_int_equal(place(16, 1, "a", "p"), OV_EPROTO);
    assert_int_equal(place(UINT32_MAX, 2, "a", "p"), OV_EPROTO);
    assert_null(ep_table_at(table, 0));
    assert_int_equal(number(JOB_DOOR_PIDS, 15, 2, 1), OV_EPROTO);
    assert_int_equal(ep_table_pid(table, 5), 0);
    assert_int_equal(number(JOB_DOOR_EXITS, 9, 1, 1), OV_EPROTO);
    assert_int_equal(number(JOB_DOOR_EXITS, 10, 7, 1), OV_EPROTO);
    assert_false(ep_table_exit(table, 0, &status));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(places_are_by_rank, set_up, tear_down),
        cmocka_unit_test_setup_teardown(ends_are_counted, set_up, tear_down),
        cmocka_unit_test_setup_teardown(others_are_refused, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
