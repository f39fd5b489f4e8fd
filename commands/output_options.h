/* The options of all commands that show the output of processes. */
#ifndef COMMANDS_OUTPUT_OPTIONS_H
#define COMMANDS_OUTPUT_OPTIONS_H

#include <argp.h>
#include <stdbool.h>

#include "endpoints/run/run.h"

/* Keys; apart from those of the commands. */
enum output_key {
    OUTPUT_TIMESTAMP = 512,
    OUTPUT_FORMAT,
    OUTPUT_DIR,
    OUTPUT_FILE,
    OUTPUT_FILE_ONLY,
    OUTPUT_MERGE_STDERR,
    OUTPUT_RAW,
    OUTPUT_UNBUFFERED,
};

/* Rows of a table of argp options. */
// clang-format off
#define OUTPUT_OPTIONS(group)                                                  \
    {"label", 'l', "WHAT", OPTION_ARG_OPTIONAL,                                \
     "every line starts with `RANK: '; --label=host: `HOST: ', --label=full: " \
     "`[NSPACE,RANK]<channel>: '", (group)},                                   \
    {"timestamp", OUTPUT_TIMESTAMP, NULL, 0,                                   \
     "every line starts with the time at which it came", (group)},             \
    {"format", OUTPUT_FORMAT, "F", 0,                                          \
     "text, json (an object a line) or xml (default: text)", (group)},         \
    {"output-dir", OUTPUT_DIR, "DIR", 0,                                       \
     "output also to DIR/NSPACE/rank.RANK/stdout and stderr", (group)},        \
    {"output-file", OUTPUT_FILE, "PAT", 0,                                     \
     "output also to PAT.NSPACE.RANK.stdout and .stderr, or, where PAT has %n "\
     "(nspace), %r (rank) or %h (host), to PAT.stdout and .stderr", (group)},  \
    {"file-only", OUTPUT_FILE_ONLY, NULL, 0,                                   \
     "output to these files only", (group)},                                   \
    {"merge-stderr", OUTPUT_MERGE_STDERR, NULL, 0,                             \
     "stderr joins stdout", (group)},                                          \
    {"raw", OUTPUT_RAW, NULL, 0,                                               \
     "bytes as they come, no line handling", (group)},                         \
    {"unbuffered", OUTPUT_UNBUFFERED, NULL, 0,                                 \
     "show a line without newline after 250 ms", (group)},
// clang-format on

/* Reads one of them; false: it is another one. A wrong value ends the program
 * (2), as do options that contradict each other. Strings stay borrowed. */
bool output_options_parse(int key, const char *arg, struct ep_run_options *o);
void output_options_check(const struct ep_run_options *o);

#endif
