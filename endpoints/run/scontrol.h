/* What Slurm says about its switches, and about an allocation. */
#ifndef ENDPOINTS_RUN_SCONTROL_H
#define ENDPOINTS_RUN_SCONTROL_H

#include "text/fields.h"

enum {
    EP_SCONTROL_MS = 2000, /* it may take so long */
    EP_SCONTROL_BYTES_MAX = 16 << 20
};

/* Adds what `scontrol show topology` prints. Returns 0; OV_ENOENT when it is
 * not there, fails, says nothing or too much, or takes too long (it is killed
 * then); OV_ENOMEM. Waits for it. */
int ep_scontrol_topology(struct text_buf *out);

/* Adds the nodes that this job has now, as Slurm lists them: h[1-3,7]. Returns
 * as above; OV_ENOENT also for a job that is over. */
int ep_scontrol_nodes(const char *job, struct text_buf *out);

/* Adds them from what `scontrol -o show job` has printed. Returns 0, OV_ENOENT
 * (it says nothing of them) or OV_ENOMEM. O(length). */
int ep_scontrol_nodes_parse(const char *text, struct text_buf *out);

#endif
