/* A process of this machine, as /proc shows it: when it began, and in which
 * namespaces it is.
 *
 * A pid alone is used again by later processes, and means nothing on another
 * machine. Together with its start, the boot and the namespaces it names one
 * process for good.
 */
#ifndef ENDPOINTS_SYS_PROCESS_H
#define ENDPOINTS_SYS_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct ep_process {
    pid_t pid;
    pid_t parent;
    uint64_t start;     /* when it began, in ticks since the boot */
    uint64_t cpu_ticks; /* processor time of all its threads */
    char state;         /* state of the process's first thread: a letter of
                         * proc(5) */
    bool is_zombie;     /* the process has begun to exit, or is a zombie */
};

/* Reads about a process. Cost: one small file. Returns 0; OV_ENOENT: there is
 * no such process; or OV_ESYS: /proc cannot be read. *out is undefined after an
 * error. */
int ep_process_look(pid_t pid, struct ep_process *out);

/* Returns the processor time that a process and all its threads have used, in
 * ns; UINT64_MAX: the system does not tell. It is the same as before when none
 * of them has run since. Cost: one system call, a tenth of a file of /proc. */
uint64_t ep_process_ran_ns(pid_t pid);

/* Reads a pid; returns 0 when the text is anything else. */
pid_t ep_process_number(const char *text);

/* Finds the user of a process; returns false when there is no such process. */
bool ep_process_owner(pid_t pid, uid_t *uid);

/* Returns a descriptor that is readable when the process has ended; -1: the
 * system has no such descriptors, or `pid` is 0. */
int ep_process_watch(pid_t pid);

/* True when /proc shows the processes of our own namespace. Otherwise our pids
 * are those of other processes there. */
bool ep_process_can_look(void);

/* Returns a hash of this boot of the kernel; 0: /proc cannot be read. */
uint64_t ep_process_boot(void);

/* Adds the namespaces of a process to a hash and returns it. `kinds` are names
 * in /proc/PID/ns, ended by NULL. For a kind that the kernel does not have, its
 * absence is added; every kernel must know the first kind. Returns 0 when we
 * may not read about the process. Cost: reading a link for each kind. */
uint64_t ep_process_spaces(pid_t pid, const char *const *kinds, uint64_t hash);

/* Reads a small file by one call: at most size_bytes - 1 bytes, and adds a NUL.
 * Returns the number of bytes, or -1 with errno; `text` is then "". */
ssize_t ep_process_read(const char *path, char *text, size_t size_bytes);

#endif
