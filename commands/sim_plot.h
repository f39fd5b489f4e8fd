/* Pictures of runs, drawn by gnuplot. */
#ifndef COMMANDS_SIM_PLOT_H
#define COMMANDS_SIM_PLOT_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/summary.h"
#include "sim/world.h"

/* How far each level is, at moments of a run. All zero: nothing is kept. */
struct sim_progress {
    uint64_t *at_ns; /* owned [count] */
    uint64_t *bytes; /* owned [count][levels]: stdin read and output shown */
    uint32_t count;
    uint32_t levels;
    uint32_t every, looks; /* only one in `every` looks is kept */
};

/* Begins again, for a run with this many levels. Returns 0 or OV_ENOMEM. */
int sim_progress_open(struct sim_progress *progress, uint32_t levels);
/* Looks once more. Some hundred looks are kept in a run of any length, always
 * including the last. */
void sim_progress_look(struct sim_progress *progress,
                       const struct sim_world *world, bool is_last);
void sim_progress_close(struct sim_progress *progress);

/* Ends the program with exit code 2 and a sentence when gnuplot is missing. To
 * be called before long work. */
void sim_plot_check(void);

/* One run: how much of the whole each level has, over time. This and the next
 * return 0, or OV_ESYS when gnuplot failed, which has said why. */
int sim_plot_progress(const char *path, const struct sim_summary *run,
                      const struct sim_progress *progress);

/* Many runs: the time until everything has arrived over `x`, with a line for
 * each `line`. Both are names of what was swept: nodes, arity, size. line may
 * be NULL. */
int sim_plot_sweep(const char *path, const char *x, const char *line,
                   const struct sim_summary *runs, uint32_t count);

#endif
