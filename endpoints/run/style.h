/* Turns the options about output into the configuration of its takers. */
#ifndef ENDPOINTS_RUN_STYLE_H
#define ENDPOINTS_RUN_STYLE_H

#include "endpoints/output/output.h"
#include "endpoints/run/run.h"

/* Fills in *cfg: its defaults, and what the options ask for. `nspace`, the
 * job's name, is borrowed. The caller sets base, writer, events and arg. */
void ep_run_output_cfg(const struct ep_run_options *options, const char *nspace,
                       struct ep_output_cfg *cfg);

/* Makes labels as wide as a job of this many ranks needs; host_of returns the
 * host of a rank, and is called for host labels only. O(ranks). */
void ep_run_style_fit(struct text_style *style, uint32_t ranks,
                      const char *(*host_of)(const void *arg, uint32_t rank),
                      const void *arg);

/* Opens those files of --output and --error that are FIFOs or devices: so a
 * FIFO gets its reader before anything is started, and keeps a writer until the
 * caller closes these descriptors (-1: none). Returns 0, or OV_EINVAL or
 * OV_ESYS with `why` (EP_WHY_MAX bytes). */
int ep_run_output_look(const struct ep_run_options *options, int fds[2],
                       char *why);

#endif
