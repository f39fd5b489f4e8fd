/* The list of hosts that `--hostfile -' reads from stdin. */
#ifndef COMMANDS_HOST_INPUT_H
#define COMMANDS_HOST_INPUT_H

#include <stdbool.h>

#include "endpoints/run/run.h"

/* When options->hostfile is "-", reads the lines of a host file from stdin to
 * its end, and returns true: options->hosts is the list, in memory that is
 * never freed, and options->hostfile NULL. Otherwise nothing changes. To be
 * called in the prelude (endpoints/sys/prelude.h). A list that cannot be used
 * ends the program with a message and 2, or 1 when stdin cannot be read. */
bool host_input_read(struct ep_run_options *options);

#endif
