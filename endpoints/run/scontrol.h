/* Asks Slurm about its switches and about an allocation. */
#ifndef ENDPOINTS_RUN_SCONTROL_H
#define ENDPOINTS_RUN_SCONTROL_H

#include "text/fields.h"

enum {
    EP_SCONTROL_MS = 2000, /* how long scontrol may run */
    EP_SCONTROL_BYTES_MAX = 16 << 20
};

/* Adds to `out` what `scontrol show topology` prints, and blocks until it has
 * ended. Returns 0; OV_ENOENT when scontrol does not exist, fails, prints
 * nothing or too much, or runs too long (then it is killed); or OV_ENOMEM. */
int ep_scontrol_topology(struct text_buf *out);

/* Adds to `out` the nodes that this Slurm job has now, in the form that Slurm
 * prints: h[1-3,7]. Returns the same as ep_scontrol_topology(), and OV_ENOENT
 * also when the job is over. */
int ep_scontrol_nodes(const char *job, struct text_buf *out);

/* Adds to `out` the nodes that the output of `scontrol -o show job` names.
 * Returns 0, OV_ENOENT (no nodes are named) or OV_ENOMEM. O(length). */
int ep_scontrol_nodes_parse(const char *text, struct text_buf *out);

#endif
