/* Options about stdin and output. */
#ifndef COMMANDS_STREAM_OPTIONS_H
#define COMMANDS_STREAM_OPTIONS_H

#include "commands/options.h"
#include "endpoints/run/run.h"

/* Rows for fields of struct ep_run_options, each list with a heading: stdin of
 * a job that is started; and output, for all commands that show it. */
extern const struct option_row input_options[];
extern const struct option_row output_options[];

/* Ends the program (2) when options of output contradict each other. */
void stream_options_check(const struct ep_run_options *o);

#endif
