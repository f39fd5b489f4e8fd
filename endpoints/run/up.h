/* What comes up the tree: output of processes, and messages of the nodes. */
#ifndef ENDPOINTS_RUN_UP_H
#define ENDPOINTS_RUN_UP_H

#include "endpoints/hub/hub.h"

struct run;

/* Opens the takers of output: console and files. Returns 0, OV_ENOMEM, or
 * OV_EINVAL after a message on stderr. */
int ep_run_output_open(struct run *r);

/* What the launcher does at events of the hub. Their `arg` is the struct
 * run. */
extern const struct ep_hub_events ep_run_hub_events;

#endif
