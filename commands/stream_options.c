/* Options about stdin and output. */
#include "commands/stream_options.h"

#include <string.h>

#include "commands/refuse.h"
#include "commands/values.h"
#include "endpoints/output/names.h"
#include "overlay/base/err.h"
#include "text/pattern.h"
#include "text/row.h"

#define OPTION_INTO struct ep_run_options

#define SPILL_DEFAULT   (UINT64_C(1) << 30)
#define CLOSE_MIN_S     0.1
#define CLOSE_DEFAULT_S 10

/* --- stdin */

/* Returns the text after "NAME=" of a policy; NULL when the text names another
 * policy. */
static const char *policy_value(const char *text, const char *name)
{
    size_t len = strlen(name);

    if (strncmp(text, name, len) != 0)
        return NULL;
    if (text[len] == '=')
        return text + len + 1;
    return text[len] == '\0' ? "" : NULL;
}

static void read_stdin_slow(const char *text, void *into)
{
    struct ep_run_options *o = into;
    const char *bytes = policy_value(text, "spill");
    const char *time = policy_value(text, "close");

    if (strcmp(text, "wait") == 0) {
        o->slow = JOB_SLOW_WAIT;
    } else if (bytes != NULL) {
        o->slow = JOB_SLOW_SPILL;
        o->spill_bytes = SPILL_DEFAULT;
        if (text[5] == '=')
            o->spill_bytes =
                value_bytes("--stdin-slow=spill", bytes, JOB_SPILL_BYTES_MIN,
                            JOB_SPILL_BYTES_MAX);
    } else if (time != NULL) {
        o->slow = JOB_SLOW_CLOSE;
        o->close_s = text[5] == '=' ? value_seconds("--stdin-slow=close", time,
                                                    CLOSE_MIN_S)
                                    : CLOSE_DEFAULT_S;
    } else {
        usage("--stdin-slow takes wait, spill, spill=BYTES, close or "
              "close=TIME, not '%s'",
              text);
    }
}

/* Reads the directory, which must be absolute because it is used on other
 * hosts. */
static void read_spill_dir(const char *text, void *into)
{
    struct ep_run_options *o = into;

    if (text[0] != '/')
        usage("--spill-dir takes the full path of a directory, not '%s'", text);
    o->spill_dir = text;
}

// clang-format off
const struct option_row input_options[] = {
    {.doc = "Input:"},
    {"stdin", 'i', "T",
     "who reads stdin: all, none, or a list of ranks as 0,4-7 (default: all)",
     OF_JOB, WORDS(stdin_ranks)},
    {"input", 0, "FILE", "read from FILE instead of stdin",
     OF_JOB, WORDS(input)},
    {"keep-stdin", 0, NULL,
     "the end of stdin does not end it for the processes: PMIx tools go on",
     0, FLAG(keep_stdin)},
    {"stdin-slow", 0, "P",
     "what is done for a process that does not read: wait, spill[=BYTES], as "
     "64M or 2G, close[=TIME], as 500ms or 10 (default: wait)",
     OF_TREE, READ(read_stdin_slow)},
    {"spill-dir", 0, "DIR",
     "where nodes spill (default: TMPDIR or /var/tmp, on a disk)",
     OF_TREE, READ(read_spill_dir)},
    {0},
};
// clang-format on

/* --- output */

enum text_label_mode stream_options_find_label(const char *text)
{
    if (strcmp(text, "rank") == 0)
        return TEXT_LABEL_RANK;
    if (strcmp(text, "host") == 0)
        return TEXT_LABEL_HOST;
    return strcmp(text, "full") == 0 ? TEXT_LABEL_FULL : TEXT_LABEL_NONE;
}

static void read_label(const char *text, void *into)
{
    struct ep_run_options *o = into;

    o->style.label =
        text != NULL ? stream_options_find_label(text) : TEXT_LABEL_RANK;
    if (o->style.label == TEXT_LABEL_NONE)
        usage("--label takes rank, host or full, not '%s'", text);
}

static void read_format(const char *text, void *into)
{
    struct ep_run_options *o = into;

    o->style.format = text_row_find(text);
    if (o->style.format == TEXT_FORMATS)
        usage("--format takes text, json or xml, not '%s'", text);
}

static void read_order(const char *text, void *into)
{
    struct ep_run_options *o = into;

    o->by_rank = strcmp(text, "rank") == 0;
    if (!o->by_rank && strcmp(text, "arrival") != 0)
        usage("--order takes rank or arrival, not '%s'", text);
}

static void read_fold(const char *text, void *into)
{
    struct ep_run_options *o = into;

    o->fold = EP_FOLD_LIVE;
    if (text != NULL && strcmp(text, "end") == 0)
        o->fold = EP_FOLD_END;
    else if (text != NULL && strcmp(text, "diff") == 0)
        o->fold = EP_FOLD_DIFF;
    else if (text != NULL && strcmp(text, "live") != 0)
        usage("--fold takes live, end or diff, not '%s'", text);
}

static void read_progress(const char *text, void *into)
{
    struct ep_run_options *o = into;

    o->filter.keeps_last = strcmp(text, "last") == 0;
    if (!o->filter.keeps_last && strcmp(text, "all") != 0)
        usage("--progress takes all or last, not '%s'", text);
}

/* Adds a pattern, once it is known to be one. */
static void add_pattern(const char *option, const char *text,
                        struct job_strings *into)
{
    struct text_pattern_fault fault;
    struct text_patterns *set;
    int rc;

    if (into->count == TEXT_PATTERNS_MAX)
        usage("%s may be given %d times at most: join some in one pattern",
              option, TEXT_PATTERNS_MAX);
    if (text_patterns_open(NULL, &set) != 0)
        usage("out of memory");
    rc = text_patterns_add(set, value_words(option, text), &fault);
    text_patterns_close(set);
    if (rc == OV_EINVAL)
        usage("%s: at character %zu of '%s': %s; pcre2syntax(3) has the syntax",
              option, fault.at_bytes + 1, text, fault.why);
    if (rc != 0 || job_strings_add(into, text) != 0)
        usage("out of memory");
}

static void read_grep(const char *text, void *into)
{
    add_pattern("--grep", text, &((struct ep_run_options *)into)->filter.grep);
}

static void read_grep_v(const char *text, void *into)
{
    add_pattern("--grep-v", text,
                &((struct ep_run_options *)into)->filter.grep_v);
}

static void read_file(const char *text, void *into)
{
    struct ep_run_options *o = into;
    const char *fault = ep_names_fault(value_words("--output-file", text));

    if (fault != NULL)
        usage("--output-file knows %%n (nspace), %%r (rank), %%h (host) and "
              "%%%%, not '%.2s'",
              fault);
    o->output_file = text;
}

static const char *read_exact(const char *option, const char *text)
{
    const char *fault = ep_names_exact_fault(value_words(option, text));

    if (fault != NULL)
        usage(
            "%s knows %%t (rank), %%n (node), %%N (host), %%j (job) and %%%%, "
            "not '%.3s'",
            option, fault);
    return text;
}

static void read_output(const char *text, void *into)
{
    ((struct ep_run_options *)into)->output = read_exact("--output", text);
}

static void read_error(const char *text, void *into)
{
    ((struct ep_run_options *)into)->error = read_exact("--error", text);
}

// clang-format off
const struct option_row output_options[] = {
    {.doc = "Output:"},
    {"label", 0, "WHAT",
     "every line starts with `RANK: '; --label=host: `HOST: ', --label=full: "
     "`[NSPACE,RANK]<channel>: '",
     OF_JOB, READ(read_label), .is_optional = true},
    {.letter = 'l', .doc = "the same as --label", .sets = OF_JOB},
    {"fold", 0, "HOW",
     "the console shows equal lines once, as `[0-3,7] LINE'; --fold=end: whole "
     "outputs that are equal, at the end; --fold=diff: that of most ranks, and "
     "what others differ in",
     OF_JOB, READ(read_fold), .is_optional = true},
    {.letter = 'b', .doc = "the same as --fold", .sets = OF_JOB},
    {"timestamp", 0, NULL, "every line starts with the time at which it came",
     OF_JOB, FLAG(style.has_time)},
    {"format", 0, "F", "text, json (an object a line) or xml (default: text)",
     OF_JOB, READ(read_format)},
    {"order", 0, "O",
     "rank: the console shows one rank after the other, as each has ended "
     "(default: arrival)",
     OF_JOB, READ(read_order)},
    {"output-dir", 0, "DIR",
     "output also to DIR/NSPACE/rank.RANK/stdout and stderr",
     OF_JOB, WORDS(output_dir)},
    {"output-file", 0, "PAT",
     "output also to PAT.NSPACE.RANK.stdout and .stderr, or, where PAT has %n "
     "(nspace), %r (rank) or %h (host), to PAT.stdout and .stderr",
     OF_JOB, READ(read_file)},
    {"output", 'o', "FILE",
     "stdout goes to FILE, and not to the console, and so does stderr without "
     "--error; in it %t is the rank, %n the number of the node, %N the host, "
     "%j the job, and %4t has at least 4 digits",
     OF_JOB, READ(read_output)},
    {"error", 'e', "FILE", "stderr goes to FILE, as with --output",
     OF_JOB, READ(read_error)},
    {"file-only", 0, NULL, "output to these files only",
     OF_JOB, FLAG(file_only)},
    {"merge-stderr", 0, NULL, "stderr joins stdout",
     OF_JOB, FLAG(merge_stderr)},
    {"grep", 0, "RE",
     "lines come that match the regular expression (PCRE2), or one of several; "
     "what is left out stays on its node and is counted",
     OF_JOB, READ(read_grep)},
    {"grep-v", 0, "RE", "lines come that match none of these",
     OF_JOB, READ(read_grep_v)},
    {"head", 0, "N", "the first N lines of each channel of each rank",
     OF_JOB, NUMBER(filter.head, 1, JOB_FILTER_LINES_MAX)},
    {"tail", 0, "N", "the last N lines, when it has ended; with --head, both",
     OF_JOB, NUMBER(filter.tail, 1, JOB_FILTER_LINES_MAX)},
    {"rate", 0, "N", "N lines a second of each channel of each rank at most",
     OF_JOB, NUMBER(filter.rate, 1, JOB_FILTER_RATE_MAX)},
    {"budget", 0, "BYTES",
     "so many bytes of each channel of each rank, as 64K: one half its first "
     "lines, the other its last, when it has ended",
     OF_JOB, BYTES(filter.budget_bytes, 1, UINT64_C(1) << 40)},
    {"progress", 0, "P",
     "last: of a progress bar, a line that is written over itself, the last "
     "state alone comes (default: all)",
     OF_JOB, READ(read_progress)},
    {"raw", 0, NULL, "bytes as they come, no line handling",
     OF_JOB, FLAG(raw)},
    {"unbuffered", 0, NULL, "show a line without newline after 250 ms",
     OF_JOB, FLAG(unbuffered)},
    {0},
};
// clang-format on

static bool has_node(const char *name)
{
    return name != NULL && ep_names_exact_has_node(name);
}

static void check_exact(const struct ep_run_options *o, bool knows_nodes)
{
    if (o->output == NULL && o->error == NULL)
        return;
    if (o->output_dir != NULL || o->output_file != NULL || o->file_only)
        usage("--output and --error name the only files of output: leave out "
              "--output-dir, --output-file and --file-only");
    if (o->merge_stderr && o->error != NULL)
        usage("--merge-stderr sends stderr to where stdout goes: leave out "
              "--merge-stderr or --error");
    if (!knows_nodes && (has_node(o->output) || has_node(o->error)))
        usage(
            "%%n, the number of the node, is known only to a run that builds a "
            "tree of its own: name files by %%N, the host, or %%t, the rank");
}

/* The first option that leaves lines out; NULL: none does. */
static const char *rule_of(const struct job_filter *filter)
{
    if (filter->grep.count > 0)
        return "--grep";
    if (filter->grep_v.count > 0)
        return "--grep-v";
    if (filter->head > 0)
        return "--head";
    if (filter->tail > 0)
        return "--tail";
    if (filter->rate > 0)
        return "--rate";
    return filter->budget_bytes > 0 ? "--budget" : NULL;
}

static void check_fold(const struct ep_run_options *o)
{
    const bool is_whole = o->fold == EP_FOLD_END || o->fold == EP_FOLD_DIFF;

    if (o->raw && o->fold != EP_FOLD_NONE)
        usage("--raw passes bytes as they come and knows no lines: leave "
              "out --fold or --raw");
    if (o->by_rank && o->fold != EP_FOLD_NONE)
        usage("--fold shows a line of all ranks together, and --order=rank one "
              "rank after the other: leave out one of them");
    if (is_whole && o->style.has_time)
        usage("--fold=end and --fold=diff show whole outputs, whose lines came "
              "at many times: leave out --timestamp");
    if (o->fold == EP_FOLD_DIFF && o->style.format != TEXT_FORMAT_TEXT)
        usage("--fold=diff is for the format text: give --fold=end with "
              "--format, whose objects have all lines");
}

void stream_options_check(const struct ep_run_options *o, bool knows_nodes)
{
    if (o->raw && o->style.label != TEXT_LABEL_NONE)
        usage("--raw passes bytes as they come and cannot label lines: leave "
              "out --label or --raw");
    if (o->raw && (o->style.has_time || o->style.format != TEXT_FORMAT_TEXT))
        usage("--raw passes bytes as they come and knows no lines: leave "
              "out --timestamp, --format or --raw");
    if (o->raw && rule_of(&o->filter) != NULL)
        usage("--raw passes bytes as they come and knows no lines: leave "
              "out %s or --raw",
              rule_of(&o->filter));
    if (o->raw && o->filter.keeps_last)
        usage("--raw passes bytes as they come and knows no lines: leave "
              "out --progress=last or --raw");
    if (o->output_dir != NULL && o->output_file != NULL)
        usage("--output-dir and --output-file both say where output goes: "
              "give one of them");
    check_fold(o);
    check_exact(o, knows_nodes);
    if (o->file_only && o->output_dir == NULL && o->output_file == NULL)
        usage("--file-only needs --output-dir or --output-file");
}
