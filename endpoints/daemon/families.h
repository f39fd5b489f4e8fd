/* What processes, with all that they have started, are doing, as /proc shows
 * it. A descendant whose parent has ended is in none of the families.
 */
#ifndef ENDPOINTS_DAEMON_FAMILIES_H
#define ENDPOINTS_DAEMON_FAMILIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "job/stall.h"

struct ep_procs;

struct ep_family {
    pid_t pid; /* of the process itself; 0: it is not looked at */
    /* Before a look: what the last one has seen. After it, output_bytes is as
     * before, and so is moved_bytes when all of them together have used the
     * processor since; it has grown, or may have, when bytes were moved.
     * `doing` is JOB_DOING_UNKNOWN where nothing can be seen. */
    struct job_stall_sample sample;
    bool counts_all; /* moved_bytes is counted also when they compute */
    /* All of them are read, also those that have not run since the last look,
     * and those that read stdin are told from those that wait. */
    bool is_close;
    uint32_t index, number; /* the caller's own, like the two below */
    uint8_t doing, news;    /* enum job_doing */
};

/* Looks at `count` processes. May be called in any thread. `known` is what the
 * last look has read of all processes of the machine, or all zero; the caller
 * gives it to ep_procs_fini() after the last look. Cost: a system call for each
 * process of the machine, and two small files of /proc for each that has run
 * since the last look; three for each member in a close look. */
void ep_families_look(struct ep_family *families, size_t count,
                      struct ep_procs *known);

#endif
