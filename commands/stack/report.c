/* Gathers the results for a job's processes. */
#include "commands/stack/report.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The most memory for the gathered results. */
#define ROOM_BYTES  ((uint64_t)256 << 20)
#define FAULT_BYTES ((uint64_t)64 << 20)

enum {
    SAID_BYTES = 200, /* the most bytes of a command's last words */
    TIMED_OUT = 124,  /* the exit code of timeout(1) for a command that took too
                       * long */
    KILLED = 137
};

/* Commands that write call chains. */
static const char *const tools[] = {"gdb", "eu-stack", "gstack", "pstack"};

void stack_report_init(struct stack_report *report, const char *command,
                       double limit_s)
{
    const char *slash = command != NULL ? strrchr(command, '/') : NULL;
    const char *name = slash != NULL ? slash + 1 : command;

    *report = (struct stack_report){.room = {.left_bytes = ROOM_BYTES},
                                    .fault_room = {.left_bytes = FAULT_BYTES},
                                    .reads_chains = command == NULL,
                                    .limit_s = limit_s};
    for (size_t i = 0; name != NULL && i < sizeof(tools) / sizeof(tools[0]);
         i++)
        report->reads_chains |= strcmp(name, tools[i]) == 0;
}

void stack_report_free(struct stack_report *report)
{
    stack_tree_free(&report->tree);
    stack_texts_free(&report->texts);
    for (int i = 0; i < STACK_FAULTS; i++)
        stack_texts_free(&report->faults[i]);
    stack_ranks_free(&report->ended);
}

/* --- results */

void stack_report_fault(struct stack_report *report, enum stack_fault fault,
                        uint32_t rank, const char *text, size_t len_bytes)
{
    struct stack_texts *faults = &report->faults[fault];
    struct stack_room more = {.left_bytes = UINT64_MAX};

    /* When there is no room for the text, the rank is added without it. */
    if (stack_texts_add(faults, &report->fault_room, rank, text, len_bytes) !=
        0)
        (void)stack_texts_add(faults, &more, rank, "", 0);
}

void stack_report_ended(struct stack_report *report, uint32_t rank)
{
    struct stack_room more = {.left_bytes = UINT64_MAX};

    (void)stack_ranks_add(&report->ended, rank, &more);
}

struct adding {
    struct stack_report *report;
    const struct stack_look *look;
    bool is_full;
};

static void on_chain(void *arg, const struct stack_frame *frames,
                     uint32_t count)
{
    struct adding *adding = arg;
    struct stack_report *report = adding->report;
    const struct stack_look *look = adding->look;

    if (!adding->is_full &&
        stack_tree_add(&report->tree, &report->room, look->rank, look->name,
                       frames, count) != 0)
        adding->is_full = true;
}

/* True when the beginning of a line says that the system refuses to attach. */
static bool is_refusal(const char *line, size_t len)
{
    char text[SAID_BYTES];

    snprintf(text, sizeof(text), "%.*s", (int)len, line);
    return strstr(text, "peration not permitted") != NULL;
}

/* Finds the line that says why a command failed: a line about a refusal, or
 * else the last line that is not empty. Returns its length, at most SAID_BYTES
 * - 1. */
static size_t find_reason(const struct stack_look *look, const char **line,
                          bool *is_refused)
{
    const char *at = look->text, *const end = at + look->len_bytes;
    size_t len = 0;

    *is_refused = false;
    while (at < end && !*is_refused) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        size_t here = (size_t)((stop != NULL ? stop : end) - at);

        if (here >= SAID_BYTES)
            here = SAID_BYTES - 1;
        if (here > 0) {
            *is_refused = is_refusal(at, here);
            *line = at;
            len = here;
        }
        at = stop != NULL ? stop + 1 : end;
    }
    return len;
}

static bool is_killed(const struct stack_look *look)
{
    return look->status == TIMED_OUT || look->status == KILLED;
}

static void add_failure(struct stack_report *report,
                        const struct stack_look *look)
{
    enum stack_fault fault = STACK_FAULT_FAILED;
    char said[SAID_BYTES];
    const char *line = "";
    bool is_refused;
    size_t len = find_reason(look, &line, &is_refused);

    if (is_refused) {
        fault = STACK_FAULT_REFUSED;
    } else if (look->tool == STACK_TOOL_NONE) {
        fault = STACK_FAULT_NO_TOOL;
        len = 0;
    } else if (is_killed(look)) {
        fault = STACK_FAULT_TIMEOUT;
        len = 0;
    } else if (len == 0) {
        line = said;
        len = (size_t)snprintf(said, sizeof(said), "it returned %" PRIu32,
                               look->status);
    }
    stack_report_fault(report, fault, look->rank, line, len);
}

/* Adds the call chains in a command's output, or the output itself when it has
 * none. Returns false when there is no room. */
static bool add_text(struct stack_report *report, const struct stack_look *look,
                     uint32_t *chains)
{
    struct adding adding = {.report = report, .look = look};

    *chains = 0;
    if (report->reads_chains)
        *chains =
            stack_frames_read(look->text, look->len_bytes, on_chain, &adding);
    if (*chains == 0 && look->tool == STACK_TOOL_OWN && look->len_bytes > 0 &&
        stack_texts_add(&report->texts, &report->room, look->rank, look->text,
                        look->len_bytes) != 0)
        adding.is_full = true;
    return !adding.is_full;
}

void stack_report_look(void *arg, const struct stack_look *look)
{
    struct stack_report *report = arg;
    const bool is_own = look->tool == STACK_TOOL_OWN;
    uint32_t chains;

    if (look->is_gone && look->status != 0 && is_own) {
        if (!look->is_below)
            stack_report_ended(report, look->rank);
        return;
    }
    if (!add_text(report, look, &chains) || look->is_cut)
        stack_report_fault(report, STACK_FAULT_ROOM, look->rank, "", 0);
    if (is_own ? look->status == 0 : chains > 0 && !is_killed(look))
        return;
    if (!look->is_gone)
        add_failure(report, look);
    else if (!look->is_below)
        stack_report_ended(report, look->rank);
}
