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

struct ep_family {
    pid_t pid; /* of the process itself; 0: it is not looked at */
    /* Before a look: what the last one has seen. After it, output_bytes is as
     * before, and so is moved_bytes when all of them together have used the
     * processor since. `doing` is JOB_DOING_UNKNOWN where nothing can be
     * seen. */
    struct job_stall_sample sample;
    /* Counts moved_bytes in any case, and tells those that read stdin from
     * those that wait. */
    bool is_close;
    uint32_t index, number; /* the caller's own, like the two below */
    uint8_t doing, news;    /* enum job_doing */
};

/* Looks at `count` processes. May be called in any thread. Cost: a small file
 * of /proc for each process of the machine, and another for each member of a
 * family that has not used the processor; two for each in a close look. */
void ep_families_look(struct ep_family *families, size_t count);

#endif
