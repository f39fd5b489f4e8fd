/* The command line of `xylem run`. */
#ifndef COMMANDS_RUN_OPTIONS_H
#define COMMANDS_RUN_OPTIONS_H

#include "endpoints/run/run.h"

/* Parses the words after `run`, which is argv[1]; strings stay borrowed. On
 * wrong usage, --help and --version it prints and ends the program (2, 0). */
void run_options_parse(int argc, char **argv, struct ep_run_options *options);

#endif
