/* Pictures of runs, drawn by gnuplot. */
#ifndef COMMANDS_SIM_PLOT_H
#define COMMANDS_SIM_PLOT_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/summary.h"
#include "sim/world.h"

/* How much each level of the tree has read and shown, at several moments of a
 * run. All zero: nothing is recorded. */
struct sim_progress {
    uint64_t *at_ns; /* owned [count] */
    uint64_t *bytes; /* owned [count][levels]: stdin read and output shown */
    uint32_t count;
    uint32_t levels;
    uint32_t every, looks; /* only each `every`-th look is recorded */
};

/* Begins a new record, for a run with this many levels. Returns 0 or OV_ENOMEM.
 */
int sim_progress_open(struct sim_progress *progress, uint32_t levels);
/* Looks at the world's progress once more. For a run of any length some hundred
 * looks are recorded, always including the last. */
void sim_progress_look(struct sim_progress *progress,
                       const struct sim_world *world, bool is_last);
void sim_progress_close(struct sim_progress *progress);

/* Ends the program with exit code 2 and a sentence when gnuplot is missing. To
 * be called before long work. */
void sim_plot_check(void);

/* Draws one run: the share of all bytes that each level has, over time. Both
 * functions that draw return 0, or OV_ESYS when gnuplot failed, which has
 * printed why. */
int sim_plot_progress(const char *path, const struct sim_summary *run,
                      const struct sim_progress *progress);

/* Draws many runs: the time until everything has arrived, over the values of
 * the option `x`, with a line for each value of the option `line`. Both are
 * names of swept options: nodes, arity, size. `line` may be NULL. */
int sim_plot_sweep(const char *path, const char *x, const char *line,
                   const struct sim_summary *runs, uint32_t count);

#endif
