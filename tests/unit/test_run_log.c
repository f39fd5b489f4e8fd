/* Lines of PMIx tools, as records of the console. */
#include "endpoints/run/log.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "endpoints/console/console.h"
#include "endpoints/run/records.h"

static bool add(struct run_logs *logs, uint32_t token, const char *text,
                struct job_record *record)
{
    return ep_run_logs_add(logs, token, text, (uint32_t)strlen(text), record);
}

static void expect_text(const struct job_record *record, const char *text)
{
    assert_int_equal(record->len_bytes, strlen(text));
    assert_memory_equal(record->mem, text, strlen(text));
    assert_int_equal(record->proc, TEXT_CONSOLE_TOOL);
}

static void each_text_is_whole_lines(void **state)
{
    struct job_record record = {0};
    struct run_logs *logs;
    uint32_t token = 0;

    (void)state;
    assert_int_equal(ep_run_logs_open(&logs), 0);
    assert_true(add(logs, 1, "two\nlines\n", &record));
    expect_text(&record, "two\nlines\n");
    assert_true(add(logs, 2, "no end", &record));
    expect_text(&record, "no end\n");
    assert_true(add(logs, 3, "", &record));
    expect_text(&record, "\n");
    assert_true(ep_run_logs_taken(logs, record.cookie, &token));
    assert_int_equal(token, 3);
    ep_run_logs_close(logs); /* two of the records were never taken */
}

static void a_token_is_due_when_its_text_is_taken(void **state)
{
    struct job_record records[3] = {{0}};
    struct run_logs *logs;
    uint32_t token = 0;

    (void)state;
    assert_int_equal(ep_run_logs_open(&logs), 0);
    for (uint32_t i = 0; i < 3; i++)
        assert_true(add(logs, 10 + i, "text", &records[i]));
    for (uint32_t i = 0; i < 3; i++) {
        uint32_t which = (i + 1) % 3;

        assert_true(ep_run_logs_taken(logs, records[which].cookie, &token));
        assert_int_equal(token, 10 + which);
    }
    ep_run_logs_close(logs);
}

static void records_of_processes_are_none_of_these(void **state)
{
    struct run_logs *logs;
    uint32_t token = 5;

    (void)state;
    assert_int_equal(ep_run_logs_open(&logs), 0);
    assert_false(ep_run_logs_taken(logs, 0, &token));
    assert_false(ep_run_logs_taken(logs, RUN_NO_RECORD, &token));
    assert_int_equal(token, 5);
    ep_run_logs_close(logs);
}

static void so_many_wait_and_no_more(void **state)
{
    struct job_record record = {0}, first = {0};
    struct run_logs *logs;
    uint32_t token;

    (void)state;
    assert_int_equal(ep_run_logs_open(&logs), 0);
    assert_true(add(logs, 0, "text", &first));
    for (uint32_t i = 1; i < RUN_LOGS_MAX; i++)
        assert_true(add(logs, i, "text", &record));
    assert_false(add(logs, RUN_LOGS_MAX, "text", &record));
    assert_true(ep_run_logs_taken(logs, first.cookie, &token));
    assert_true(add(logs, RUN_LOGS_MAX, "text", &record));
    ep_run_logs_close(logs);
}

static void a_text_may_be_so_long(void **state)
{
    struct job_record record = {0};
    struct run_logs *logs;
    char *text = calloc(1, EP_CONSOLE_RECORD_MAX);

    (void)state;
    assert_non_null(text);
    assert_int_equal(ep_run_logs_open(&logs), 0);
    assert_false(
        ep_run_logs_add(logs, 1, text, EP_CONSOLE_RECORD_MAX, &record));
    assert_true(
        ep_run_logs_add(logs, 1, text, EP_CONSOLE_RECORD_MAX - 1, &record));
    assert_int_equal(record.len_bytes, EP_CONSOLE_RECORD_MAX);
    ep_run_logs_close(logs);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_text_is_whole_lines),
        cmocka_unit_test(a_token_is_due_when_its_text_is_taken),
        cmocka_unit_test(records_of_processes_are_none_of_these),
        cmocka_unit_test(so_many_wait_and_no_more),
        cmocka_unit_test(a_text_may_be_so_long),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
