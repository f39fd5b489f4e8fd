/* What the proof of the output comes to at the end of a run. */
#ifndef ENDPOINTS_RUN_VERDICT_H
#define ENDPOINTS_RUN_VERDICT_H

#include <stdbool.h>

#include "endpoints/run/proof.h"

struct job;
struct run_nodes;
struct run_plan;
struct run_voice;

/* A job, and what became of it. All are borrowed. */
struct run_judged {
    const struct run_plan *plan;
    const struct job *job;
    const struct run_nodes *nodes;
    struct ep_proof *proof;
    struct run_voice *voice;
    bool is_cut;  /* not all that came was written */
    bool is_news; /* the user has not read yet that nodes are lost */
};

/* Judges the output, when all is written that will be: says in one line what it
 * lacks. Output of lost nodes has a line of its own, with -v alone where their
 * loss is no news. Returns whether output lacks something of nodes that live.
 * O(processes). */
bool ep_run_judge(const struct run_judged *what);

#endif
