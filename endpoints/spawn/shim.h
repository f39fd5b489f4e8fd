/* The shim: the code that a new process runs between fork and exec. */
#ifndef ENDPOINTS_SPAWN_SHIM_H
#define ENDPOINTS_SPAWN_SHIM_H

#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "endpoints/spawn/msg.h"

/* Written by a shim to its report pipe, in one piece: why it fails, or that it
 * goes on in another directory than the job's. */
struct ep_shim_report {
    uint32_t step; /* enum ep_step */
    int32_t err;   /* an errno; below 0: -errno, and the shim goes on */
};

struct ep_shim {
    const struct ep_held_job *job;
    const struct ep_start *start;
    /* descriptors for 0, 1 and 2; each above 2, or -1: /dev/null */
    int stdio[3];
    int further;   /* descriptor for EP_SPAWN_FURTHER_FD; above 2, or 0: none */
    int report_fd; /* write end of a pipe, above 2 */
    pid_t spawner; /* when it dies, the process is killed */
    struct rlimit nofile; /* limit on descriptors that is set again */
};

/* Makes the calling process the one that is to be started. Expects descriptors
 * 0 and 1 to be /dev/null, open for reading and writing. On success exec closes
 * the report pipe without a report; on failure the pipe gets an ep_shim_report
 * and the process exits with 127.
 *
 * Every descriptor of the spawner is closed before the first step that a slow
 * file system can delay (chdir, exec).
 */
_Noreturn void ep_shim_run(const struct ep_shim *shim);

#endif
