/* The options about stdin and output. */
#ifndef COMMANDS_STREAM_OPTIONS_H
#define COMMANDS_STREAM_OPTIONS_H

#include "commands/options.h"
#include "endpoints/run/run.h"

/* Rows of fields of struct ep_run_options, each below a heading: stdin of a job
 * that is started, and output, for all commands that show it. */
extern const struct option_row input_options[];
extern const struct option_row output_options[];

/* Options of output that contradict each other end the program (2). */
void stream_options_check(const struct ep_run_options *o);

#endif
