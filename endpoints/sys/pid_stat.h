/* The contents of /proc/PID/stat about a process. */
#ifndef ENDPOINTS_SYS_PID_STAT_H
#define ENDPOINTS_SYS_PID_STAT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct ep_pid_stat {
    char state;
    pid_t parent;
    uint32_t flags; /* the kernel's PF_ bits */
    uint64_t start; /* when it began, in ticks since the boot */
};

/* Reads the text of such a file. Returns 0, or OV_EPROTO: the text is not
 * well-formed, or cut short, and *out is undefined. O(length). */
int ep_pid_stat_parse(const char *text, struct ep_pid_stat *out);

/* True when the process has died and its parent has not waited for it yet. */
bool ep_pid_stat_is_dead(const struct ep_pid_stat *stat);

#endif
