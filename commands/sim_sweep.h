/* Tables of many runs. */
#ifndef COMMANDS_SIM_SWEEP_H
#define COMMANDS_SIM_SWEEP_H

#include <stdint.h>
#include <stdio.h>

#include "sim/summary.h"

/* The head of the table, and a line for a run: what was swept, times, rates,
 * the root's links, what was held. */
void sim_sweep_head(FILE *file);
void sim_sweep_line(FILE *file, const struct sim_summary *run);

#endif
