/* Options about stdin and output. */
#ifndef COMMANDS_STREAM_OPTIONS_H
#define COMMANDS_STREAM_OPTIONS_H

#include "commands/options.h"
#include "endpoints/run/run.h"

/* Option rows for fields of struct ep_run_options, each list with a heading.
 * input_options are about stdin, for commands that start a job; output_options
 * are for all commands that show output. */
extern const struct option_row input_options[];
extern const struct option_row output_options[];

/* Returns the label that is a value of --label; TEXT_LABEL_NONE when the text
 * is no such value. */
enum text_label_mode stream_options_find_label(const char *text);

/* Ends the program with exit code 2 when options about output contradict each
 * other, or the caller does not know the numbers of nodes and a name of a file
 * needs one. */
void stream_options_check(const struct ep_run_options *o, bool knows_nodes);

#endif
