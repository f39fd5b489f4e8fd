/* Writes the report of a run, for a person. */
#ifndef SIM_REPORT_H
#define SIM_REPORT_H

#include <stdio.h>

#include "sim/world.h"

/* How a run ended. */
enum sim_end {
    SIM_END_WELL,   /* all nodes left after goodbye */
    SIM_END_LOSS,   /* a node was lost, and the job ended or went on without
                       it */
    SIM_END_TIME,   /* the time limit of the run ended it */
    SIM_END_STUCK,  /* the limit of virtual or of real time stopped the run */
    SIM_END_BROKEN, /* a rule that the checks know was broken */
};

enum sim_end sim_report_end(const struct sim_world *w);

/* Writes the whole report of a finished run. The same configuration gives the
 * same bytes, unless real time stopped the run. */
void sim_report_print(const struct sim_world *w, FILE *file);

/* Writes what each node waits for, for a run that a limit stopped: at most
 * `lines` lines. */
void sim_report_waits(const struct sim_world *w, FILE *file, unsigned lines);

/* Bytes a second of stdin to the last process, and of output to the console; 0
 * when there was none. */
uint64_t sim_report_down_rate(const struct sim_world *w);
uint64_t sim_report_up_rate(const struct sim_world *w);

/* When the last byte of stdin reached the last process, and when the last byte
 * of output reached the console; SIM_NEVER when there was none. */
uint64_t sim_report_stdin_ns(const struct sim_world *w);
uint64_t sim_report_shown_ns(const struct sim_world *w);

#endif
