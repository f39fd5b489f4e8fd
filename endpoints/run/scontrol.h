/* What Slurm says about its switches. */
#ifndef ENDPOINTS_RUN_SCONTROL_H
#define ENDPOINTS_RUN_SCONTROL_H

#include "endpoints/msg/text.h"

enum {
    EP_SCONTROL_MS = 2000, /* it may take so long */
    EP_SCONTROL_BYTES_MAX = 16 << 20
};

/* Adds what `scontrol show topology` prints. Returns 0; OV_ENOENT when it is
 * not there, fails, says nothing or too much, or takes too long (it is killed
 * then); OV_ENOMEM. Waits for it. */
int ep_scontrol_topology(struct ep_text *out);

#endif
