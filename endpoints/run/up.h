/* What comes up: output of processes, words of the nodes. */
#ifndef ENDPOINTS_RUN_UP_H
#define ENDPOINTS_RUN_UP_H

#include "endpoints/hub/hub.h"

struct run;

/* Opens all that output goes to. Returns 0, OV_ENOMEM, or OV_EINVAL after
 * words on stderr. */
int ep_run_output_open(struct run *r);

/* The launcher's side of the overlay; their arg is the struct run. */
extern const struct ep_hub_events ep_run_hub_events;

#endif
