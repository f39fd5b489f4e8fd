/* Pictures of runs, drawn by gnuplot. */
#ifndef COMMANDS_SIM_PLOT_H
#define COMMANDS_SIM_PLOT_H

#include <stdint.h>

#include "sim/summary.h"

/* How far each level is, at moments of a run. */
struct sim_progress {
    uint64_t *at_ns; /* [count] */
    uint64_t *bytes; /* [count][levels]: stdin read and output shown */
    uint32_t count;
    uint32_t levels;
};

/* Ends the program with exit code 2 and words when there is no gnuplot. Call
 * before long work. */
void sim_plot_check(void);

/* One run: how much of the whole each level has, over time.
 * Both return 0, or OV_ESYS when gnuplot failed; it has said why. */
int sim_plot_progress(const char *path, const struct sim_summary *run,
                      const struct sim_progress *progress);

/* Many: the time until all is there over `x`, a line for each `line`; both are
 * names of what was swept: nodes, arity, size. line may be NULL. */
int sim_plot_sweep(const char *path, const char *x, const char *line,
                   const struct sim_summary *runs, uint32_t count);

#endif
