/* Jobs that PMIx tools start in the tree of a run. */
#ifndef COMMANDS_RUN_PMIX_JOBS_H
#define COMMANDS_RUN_PMIX_JOBS_H

#include <stdbool.h>

#include "endpoints/client/taps.h"
#include "endpoints/sys/beside.h"
#include "pmix_api/host.h"

/* The tap. */
struct run_pmix {
    struct ep_tap_cfg run;
    struct px_host *host;
    bool is_spawning;           /* the job that begins is a tool's */
    char helper[EP_BESIDE_MAX]; /* the program */
};

/* As on_spawn of struct px_host_events. */
bool run_pmix_spawn(struct run_pmix *pmix, const struct px_spawn *spawn,
                    struct px_spawned *out);
/* As of struct ep_tap_ops; the tap is one. */
void run_pmix_job(void *tap, const struct ep_tap_job *job);

#endif
