/* The shim: what a new process does between fork and exec. */
#ifndef ENDPOINTS_SPAWN_SHIM_H
#define ENDPOINTS_SPAWN_SHIM_H

#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "endpoints/spawn/msg.h"

/* What a shim writes to its report pipe, in one piece: why it fails, or that it
 * goes on in another directory than the job's. */
struct ep_shim_report {
    uint32_t step; /* enum ep_step */
    int32_t err;   /* errno; below 0: -errno, and the shim goes on */
};

struct ep_shim {
    const struct ep_held_job *job;
    const struct ep_start *start;
    int stdio[3];         /* for 0, 1 and 2; each above 2, or -1: /dev/null */
    int further;          /* for EP_SPAWN_FURTHER_FD; above 2, or 0: none */
    int report_fd;        /* write end of a pipe, above 2 */
    pid_t spawner;        /* the process dies when this one does */
    struct rlimit nofile; /* descriptor limit to restore */
};

/* Becomes the process. Expects descriptors 0 and 1 to be /dev/null, open for
 * reading and writing. On success exec closes the report pipe without a report;
 * on failure an ep_shim_report is in it and the process exits with 127.
 *
 * Every descriptor of the spawner is closed before the first step that a slow
 * file system can delay (chdir, exec).
 */
_Noreturn void ep_shim_run(const struct ep_shim *shim);

#endif
