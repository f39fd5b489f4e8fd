/* Pictures of runs, drawn by gnuplot. */
#ifndef COMMANDS_SIM_PLOT_H
#define COMMANDS_SIM_PLOT_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/summary.h"
#include "sim/world.h"

/* How far each level is, at moments of a run. All zero: nobody asks. */
struct sim_progress {
    uint64_t *at_ns; /* owned [count] */
    uint64_t *bytes; /* owned [count][levels]: stdin read and output shown */
    uint32_t count;
    uint32_t levels;
    uint32_t every, looks; /* one look of so many counts */
};

/* Begins anew, for a run of so many levels. Returns 0 or OV_ENOMEM. */
int sim_progress_open(struct sim_progress *progress, uint32_t levels);
/* One look more: in a run of any length some hundred of them are kept. The last
 * one of a run is kept in any case. */
void sim_progress_look(struct sim_progress *progress,
                       const struct sim_world *world, bool is_last);
void sim_progress_close(struct sim_progress *progress);

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
