/* Asks Slurm about its switches and about an allocation. */
#ifndef ENDPOINTS_RUN_SCONTROL_H
#define ENDPOINTS_RUN_SCONTROL_H

#include "text/fields.h"

enum {
    EP_SCONTROL_MS = 2000, /* how long it may take */
    EP_SCONTROL_BYTES_MAX = 16 << 20
};

/* Adds what `scontrol show topology` prints. Returns 0; OV_ENOENT when scontrol
 * does not exist, fails, says nothing or too much, or takes too long (it is
 * killed then); or OV_ENOMEM. Waits for it. */
int ep_scontrol_topology(struct text_buf *out);

/* Adds the nodes that this job has now, as Slurm lists them: h[1-3,7]. Returns
 * as above, and OV_ENOENT also for a job that is over. */
int ep_scontrol_nodes(const char *job, struct text_buf *out);

/* Adds the nodes from the output of `scontrol -o show job`. Returns 0,
 * OV_ENOENT (it names no nodes) or OV_ENOMEM. O(length). */
int ep_scontrol_nodes_parse(const char *text, struct text_buf *out);

#endif
