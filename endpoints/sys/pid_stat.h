/* The contents of files of /proc about a process: stat, io and syscall. */
#ifndef ENDPOINTS_SYS_PID_STAT_H
#define ENDPOINTS_SYS_PID_STAT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct ep_pid_stat {
    char state;
    pid_t parent;
    uint32_t flags;     /* the kernel's PF_ bits */
    uint64_t cpu_ticks; /* processor time of all threads of the process */
    uint64_t start;     /* when the process began, in ticks since the boot */
};

/* Reads the text of such a file. Returns 0, or OV_EPROTO: the text is not
 * well-formed, or cut short, and *out is undefined. O(length). */
int ep_pid_stat_parse(const char *text, struct ep_pid_stat *out);

/* Reads the text of /proc/PID/io: how many bytes the process has read and
 * written by system calls. Returns 0 or OV_EPROTO. O(length). */
int ep_pid_io_parse(const char *text, uint64_t *moved_bytes);
/* Reads the text of /proc/PID/syscall: the number of the system call in which
 * the process waits, and its first argument. Returns 0; or OV_EPROTO: it waits
 * in none, or the text is not well-formed. O(length). */
int ep_pid_syscall_parse(const char *text, long *call, uint64_t *first);

/* True when the process has died and its parent has not waited for it yet. */
bool ep_pid_stat_is_dead(const struct ep_pid_stat *stat);

#endif
