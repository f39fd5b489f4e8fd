/* What is made of the texts of processes: chains, texts, failures. */
#include "commands/stack/report.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "commands/stack/tell.h"

#define CHAIN "#0  0x1 in f ()\n#1  0x2 in main ()\n"

static struct stack_report report;

static struct stack_look of(uint32_t rank, enum stack_tool tool,
                            uint32_t status, const char *text)
{
    return (struct stack_look){.rank = rank,
                               .pid = 100 + rank,
                               .tool = tool,
                               .name = "p",
                               .status = status,
                               .text = text,
                               .len_bytes = strlen(text)};
}

static void see(uint32_t rank, enum stack_tool tool, uint32_t status,
                const char *text)
{
    const struct stack_look look = of(rank, tool, status, text);

    stack_report_look(&report, &look);
}

static const char *told(bool is_json)
{
    static char text[8192];
    FILE *out = fmemopen(text, sizeof(text), "w");

    assert_non_null(out);
    text[0] = '\0';
    assert_int_equal(is_json ? stack_tell_json(&report, "j", out)
                             : stack_tell_text(&report, 0, out),
                     0);
    fclose(out);
    return text;
}

/* Returns the ranks and texts of a kind of failure, as "0-3:text;". */
static const char *faults(enum stack_fault fault)
{
    static char text[1024];
    struct stack_text **all = stack_texts_list(&report.faults[fault]);

    assert_non_null(all);
    text[0] = '\0';
    for (uint32_t i = 0; all[i] != NULL; i++) {
        char *ranks = stack_ranks_whole(&all[i]->ranks);

        snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s:%s;",
                 ranks, all[i]->mem);
        free(ranks);
    }
    free(all);
    return text;
}

/* Chains are read from the known tools, also when the user names one; the exit
 * code of a debugger does not matter. */
static void chains_are_of_known_tools(void **state)
{
    static const char *const commands[] = {NULL, "/usr/bin/gdb", "pstack"};

    (void)state;
    for (int i = 0; i < 3; i++) {
        stack_report_init(&report, commands[i], 30);
        see(0, STACK_TOOL_GDB, 1, CHAIN);
        see(2, STACK_TOOL_EU_STACK, 0, CHAIN);
        assert_string_equal(told(false), "main > f  ranks 0,2 (2)\n");
        assert_int_equal(stack_tell_faults(&report), 0);
        stack_report_free(&report);
    }
}

/* Equal texts of other commands are shown once, by their lowest rank,
 * unchanged; only a text without a newline at its end gets one. */
static void equal_texts_are_told_once(void **state)
{
    (void)state;
    stack_report_init(&report, "cat", 30);
    see(3, STACK_TOOL_OWN, 0, "b\033");
    see(1, STACK_TOOL_OWN, 0, "a\n" CHAIN);
    see(2, STACK_TOOL_OWN, 0, "b\033");
    see(0, STACK_TOOL_OWN, 0, "a\n" CHAIN);
    see(4, STACK_TOOL_OWN, 0, "");
    assert_string_equal(told(false),
                        "ranks 0-1 (2):\na\n" CHAIN "ranks 2-3 (2):\nb\033\n");
    assert_int_equal(stack_tell_faults(&report), 0);
    stack_report_free(&report);
}

/* A failure is shown with the line that says why, and is no chain. */
static void failures_have_their_reason(void **state)
{
    (void)state;
    stack_report_init(&report, NULL, 30);
    see(0, STACK_TOOL_NONE, 127, "");
    see(1, STACK_TOOL_NONE, 127, "");
    see(2, STACK_TOOL_GDB, 0,
        "Could not attach to process.\n"
        "ptrace: Operation not permitted.\nNo threads.\n");
    see(3, STACK_TOOL_GDB, 124, CHAIN);
    see(4, STACK_TOOL_EU_STACK, 137, "");
    see(5, STACK_TOOL_GDB, 0, "one\nlast\n\n");
    see(6, STACK_TOOL_EU_STACK, 2, "");
    stack_report_fault(&report, STACK_FAULT_UNSTARTED, 7, "", 0);
    assert_string_equal(faults(STACK_FAULT_NO_TOOL), "0-1:;");
    assert_string_equal(faults(STACK_FAULT_REFUSED),
                        "2:ptrace: Operation not permitted.;");
    assert_string_equal(faults(STACK_FAULT_TIMEOUT), "3-4:;");
    assert_string_equal(faults(STACK_FAULT_FAILED), "5:last;6:it returned 2;");
    assert_string_equal(faults(STACK_FAULT_UNSTARTED), "7:;");
    assert_int_equal(stack_tell_faults(&report), 1);
    stack_report_free(&report);
}

/* A process that has ended meanwhile is no failure; one beneath it that has
 * ended is ignored. */
static void ended_ones_are_no_failure(void **state)
{
    struct stack_look look = of(4, STACK_TOOL_GDB, 0, "No such process.\n");

    (void)state;
    stack_report_init(&report, NULL, 30);
    look.is_gone = true;
    stack_report_look(&report, &look);
    look.rank = 5;
    look.is_below = true;
    stack_report_look(&report, &look);
    stack_report_ended(&report, 1);
    assert_int_equal(topo_ranges_size(&report.ended), 2);
    assert_int_equal(stack_tell_faults(&report), 0);
    assert_string_equal(told(false), "");
    stack_report_free(&report);
}

/* The whole report is one JSON object, whatever bytes it contains. */
static void json_has_all_of_it(void **state)
{
    (void)state;
    stack_report_init(&report, "gdb", 30);
    see(0, STACK_TOOL_OWN, 0, "#0  f () at a.c:3\n");
    see(1, STACK_TOOL_OWN, 3, "x\xff\n");
    stack_report_ended(&report, 2);
    assert_string_equal(
        told(true),
        "{\"job\":\"j\",\"tree\":[{\"program\":\"p\",\"ranks\":\"0\","
        "\"count\":1,\"threads\":1,\"calls\":[{\"function\":\"f\",\"file\":"
        "\"a.c\",\"line\":3,\"ranks\":\"0\",\"count\":1,\"threads\":1,"
        "\"calls\":[]}]}],\"texts\":[{\"ranks\":\"1\",\"count\":1,\"text\":"
        "\"x?\\n\"}],\"failed\":[{\"ranks\":\"1\",\"count\":1,\"why\":"
        "\"failed\",\"said\":\"x?\"}],\"ended\":{\"ranks\":\"2\","
        "\"count\":1}}\n");
    stack_report_free(&report);
}

/* Failures are shown however little room there is; output that is left out
 * counts as a failure. */
static void what_is_left_out_is_told(void **state)
{
    (void)state;
    stack_report_init(&report, "cat", 30);
    report.room.left_bytes = report.fault_room.left_bytes = 0;
    see(0, STACK_TOOL_OWN, 1, "text\n");
    assert_string_equal(faults(STACK_FAULT_ROOM), "0:;");
    assert_string_equal(faults(STACK_FAULT_FAILED), "0:;");
    stack_report_free(&report);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chains_are_of_known_tools),
        cmocka_unit_test(equal_texts_are_told_once),
        cmocka_unit_test(failures_have_their_reason),
        cmocka_unit_test(ended_ones_are_no_failure),
        cmocka_unit_test(json_has_all_of_it),
        cmocka_unit_test(what_is_left_out_is_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
