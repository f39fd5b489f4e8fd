/* Lists among the options of `xylem sim`: faults, readers, sweeps. */
#ifndef COMMANDS_SIM_LISTS_H
#define COMMANDS_SIM_LISTS_H

#include "commands/sim_options.h"

/* Each adds to the options what the text of its option says, or ends the
 * program with exit code 2 and a sentence. */
void sim_list_fail(const char *text, struct sim_options *o);
void sim_list_slow_node(const char *text, struct sim_options *o);
void sim_list_readers(const char *text, struct sim_options *o);
void sim_list_console_stuck(const char *text, struct sim_job *job);
void sim_list_sweep(const char *text, struct sim_options *o);

#endif
