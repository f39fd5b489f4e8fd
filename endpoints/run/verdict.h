/* Tells the user at the end of a run whether all output has arrived. */
#ifndef ENDPOINTS_RUN_VERDICT_H
#define ENDPOINTS_RUN_VERDICT_H

#include <stdbool.h>

#include "endpoints/run/proof.h"

struct job;
struct run_nodes;
struct run_plan;
struct run_voice;

/* A job, and what is known about its end. All pointers are borrowed. */
struct run_judged {
    const struct run_plan *plan;
    const struct job *job;
    const struct run_nodes *nodes;
    struct ep_proof *proof;
    struct run_voice *voice;
    bool is_cut;  /* output that has arrived was dropped unwritten */
    bool is_news; /* the user has not been told yet that nodes are lost */
};

/* Judges the output of a job, and says in one line what is missing. To be
 * called once no more output will be written. Missing output of lost nodes has
 * a line of its own, only with -v when the user knows of the loss. Returns
 * whether output of nodes that live is missing or wrong. O(processes). */
bool ep_run_judge(const struct run_judged *what);

#endif
