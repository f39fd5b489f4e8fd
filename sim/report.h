/* The report of a run, for a person. */
#ifndef SIM_REPORT_H
#define SIM_REPORT_H

#include <stdio.h>

#include "sim/world.h"

/* How a run ended. */
enum sim_end {
    SIM_END_WELL,   /* everybody left after goodbye */
    SIM_END_LOSS,   /* a node was lost: the job ended, or went on without it */
    SIM_END_TIME,   /* its own limit of time ended it */
    SIM_END_STUCK,  /* stopped by the limit of virtual time, or real time */
    SIM_END_BROKEN, /* a rule broke */
};

enum sim_end sim_report_end(const struct sim_world *w);

/* Writes the whole report of a run that is finished. The same configuration
 * gives the same bytes, unless real time stopped it. */
void sim_report_print(const struct sim_world *w, FILE *file);

/* Writes where everybody waits, in a run that a limit stopped: at most
 * `lines` lines. */
void sim_report_waits(const struct sim_world *w, FILE *file, unsigned lines);

/* Bytes a second of the workload: stdin to the last process, and output. 0:
 * none. */
uint64_t sim_report_down_rate(const struct sim_world *w);
uint64_t sim_report_up_rate(const struct sim_world *w);

/* The time the last byte of stdin reached its last process; SIM_NEVER. */
uint64_t sim_report_stdin_ns(const struct sim_world *w);
uint64_t sim_report_shown_ns(const struct sim_world *w);

#endif
