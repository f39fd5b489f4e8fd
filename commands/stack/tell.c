/* Prints the results for a job's processes. */
#include "commands/stack/tell.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "commands/ps/table.h"
#include "commands/refuse.h"
#include "commands/stack/draw.h"
#include "commands/stack/report.h"
#include "overlay/base/err.h"
#include "text/escape.h"

enum { FAULTS_TOLD = 20 /* how many failures of a kind are printed */ };

static const char *const fault_names[STACK_FAULTS] = {
    [STACK_FAULT_NO_TOOL] = "no-tool",     [STACK_FAULT_REFUSED] = "refused",
    [STACK_FAULT_TIMEOUT] = "timeout",     [STACK_FAULT_FAILED] = "failed",
    [STACK_FAULT_UNSTARTED] = "unstarted", [STACK_FAULT_ROOM] = "left-out",
};

/* --- for people */

static int put_texts(const struct stack_report *report, FILE *out)
{
    struct stack_text **all = stack_texts_list(&report->texts);
    char ranks[STACK_RANKS_BYTES];

    if (all == NULL)
        return OV_ENOMEM;
    for (uint32_t i = 0; all[i] != NULL; i++) {
        const struct stack_text *text = all[i];

        stack_ranks_text(&text->ranks, ranks);
        fprintf(out, "%s:\n", ranks);
        fwrite(text->mem, 1, text->len_bytes, out);
        if (text->mem[text->len_bytes - 1] != '\n')
            putc('\n', out);
    }
    free(all);
    return 0;
}

int stack_tell_text(struct stack_report *report, uint32_t columns, FILE *out)
{
    if (stack_tree_sort(&report->tree) != 0)
        return OV_ENOMEM;
    stack_draw(&report->tree, columns, out);
    return put_texts(report, out);
}

/* --- for programs */

static void add_ranks(json_t *object, const struct topo_ranges *ranks)
{
    char *whole = stack_ranks_whole(ranks);

    json_object_set_new(object, "ranks",
                        json_string(whole != NULL ? whole : ""));
    json_object_set_new(object, "count", json_integer(topo_ranges_size(ranks)));
    free(whole);
}

/* Adds a text, in which bytes that are not valid UTF-8 become '?'. */
static void add_text(json_t *object, const char *key, const char *mem,
                     size_t len_bytes)
{
    char *clean = malloc(len_bytes + 1);
    size_t left = len_bytes;

    if (clean == NULL)
        return;
    memcpy(clean, mem, len_bytes);
    for (char *at = clean; left > 0;) {
        size_t len = text_utf8_len((const uint8_t *)at, left);

        if (len == 0) {
            *at = '?';
            len = 1;
        }
        at += len;
        left -= len;
    }
    json_object_set_new(object, key, json_stringn(clean, len_bytes));
    free(clean);
}

static json_t *make_node(const struct stack_node *node, const char *key)
{
    json_t *object = json_object(), *children = json_array();

    json_object_set_new(object, key, json_string(node->name));
    if (node->file != NULL)
        json_object_set_new(object, node->line > 0 ? "file" : "library",
                            json_string(node->file));
    if (node->line > 0)
        json_object_set_new(object, "line", json_integer(node->line));
    add_ranks(object, &node->ranks);
    json_object_set_new(object, "threads",
                        json_integer((json_int_t)node->threads));
    for (const struct stack_node *at = node->first; at != NULL; at = at->next)
        json_array_append_new(children, make_node(at, "function"));
    json_object_set_new(object, "calls", children);
    return object;
}

static int add_texts(json_t *list, const struct stack_texts *texts,
                     const char *why)
{
    struct stack_text **all = stack_texts_list(texts);

    if (all == NULL)
        return OV_ENOMEM;
    for (uint32_t i = 0; all[i] != NULL; i++) {
        json_t *object = json_object();

        add_ranks(object, &all[i]->ranks);
        if (why != NULL)
            json_object_set_new(object, "why", json_string(why));
        add_text(object, why != NULL ? "said" : "text", all[i]->mem,
                 all[i]->len_bytes);
        json_array_append_new(list, object);
    }
    free(all);
    return 0;
}

int stack_tell_json(struct stack_report *report, const char *job, FILE *out)
{
    json_t *object = json_object(), *tree = json_array();
    json_t *texts = json_array(), *failed = json_array();
    json_t *ended = json_object();
    int rc = stack_tree_sort(&report->tree);

    for (const struct stack_node *at = report->tree.root.first; at != NULL;
         at = at->next)
        json_array_append_new(tree, make_node(at, "program"));
    if (rc == 0)
        rc = add_texts(texts, &report->texts, NULL);
    for (int i = 0; rc == 0 && i < STACK_FAULTS; i++)
        rc = add_texts(failed, &report->faults[i], fault_names[i]);
    add_ranks(ended, &report->ended);
    add_text(object, "job", job, strlen(job));
    json_object_set_new(object, "tree", tree);
    json_object_set_new(object, "texts", texts);
    json_object_set_new(object, "failed", failed);
    json_object_set_new(object, "ended", ended);
    if (rc == 0 && json_dumpf(object, out, JSON_COMPACT) == 0)
        putc('\n', out);
    json_decref(object);
    return rc;
}

/* --- processes that could not be looked at */

static void tell_fault(const struct stack_report *report,
                       enum stack_fault fault, const char *ranks,
                       const char *said)
{
    switch (fault) {
    case STACK_FAULT_NO_TOOL:
        refuse("%s: the host has neither gdb nor eu-stack: install gdb or "
               "elfutils there, or name another command behind `--'",
               ranks);
        break;
    case STACK_FAULT_REFUSED:
        refuse("%s: the system lets no process of this user look into another "
               "(%s): set kernel.yama.ptrace_scope to 0 on the host, or start "
               "the job as root",
               ranks, said);
        break;
    case STACK_FAULT_TIMEOUT:
        refuse("%s: the command was killed after %g s (--timeout)", ranks,
               report->limit_s);
        break;
    case STACK_FAULT_FAILED:
        refuse("%s: cannot be looked at: %s", ranks, said);
        break;
    case STACK_FAULT_UNSTARTED:
        refuse("%s: not started yet", ranks);
        break;
    case STACK_FAULT_ROOM:
        refuse("%s: some results were left out, as they take too much memory",
               ranks);
        break;
    case STACK_FAULTS:
        break;
    }
}

static uint32_t tell_kind(const struct stack_report *report,
                          enum stack_fault fault)
{
    const struct stack_texts *texts = &report->faults[fault];
    struct stack_text **all = stack_texts_list(texts);
    char ranks[STACK_RANKS_BYTES], said[PS_LINE_BYTES];

    for (uint32_t i = 0; all != NULL && i < texts->count && i < FAULTS_TOLD;
         i++) {
        stack_ranks_text(&all[i]->ranks, ranks);
        ps_text_clean(all[i]->mem, said, sizeof(said));
        tell_fault(report, fault, ranks, said);
    }
    if (texts->count > FAULTS_TOLD)
        refuse("%" PRIu32 " more failures of this kind are not shown",
               texts->count - FAULTS_TOLD);
    free(all);
    return texts->count;
}

int stack_tell_faults(const struct stack_report *report)
{
    char ranks[STACK_RANKS_BYTES];
    uint32_t count = 0;

    if (report->ended.count > 0) {
        stack_ranks_text(&report->ended, ranks);
        refuse("%s: ended, or lost with a node: there is nothing to see",
               ranks);
    }
    for (int i = 0; i < STACK_FAULTS; i++)
        count += tell_kind(report, (enum stack_fault)i);
    return count > 0 ? 1 : 0;
}
