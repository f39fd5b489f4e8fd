/* The command line of `xylem run`. */
#ifndef COMMANDS_RUN_OPTIONS_H
#define COMMANDS_RUN_OPTIONS_H

#include <argp.h>

#include "endpoints/run/run.h"

/* Parses the words after `run`, which is argv[1]; strings stay borrowed. On
 * wrong usage, --help and --version it prints and ends the program (2, 0).
 * `more` (ended by a zero one; NULL: none) has the further options of a command
 * that only looks at what `run` would do: then no program is needed. */
void run_options_parse(int argc, char **argv, const struct argp_child *more,
                       struct ep_run_options *options);

#endif
