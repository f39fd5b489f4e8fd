/* Turns the options about output into the configuration of its takers. */
#ifndef ENDPOINTS_RUN_STYLE_H
#define ENDPOINTS_RUN_STYLE_H

#include "endpoints/output/output.h"
#include "endpoints/run/run.h"

/* Fills in *cfg: its defaults, and what the options ask for. `nspace`, the
 * job's name, is borrowed. The caller sets base, writer, events and arg. */
void ep_run_output_cfg(const struct ep_run_options *options, const char *nspace,
                       struct ep_output_cfg *cfg);

#endif
