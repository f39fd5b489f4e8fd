/* A process of this machine, as /proc shows it: when it began, and where it is.
 *
 * Its number alone is used again, and means nothing elsewhere. With its start,
 * the boot and the namespaces it is one process for good.
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
    uint64_t start; /* in ticks since the boot */
    bool is_zombie; /* or about to be one: it has begun to exit */
};

/* Looks at a process. Cost: one small file. Returns 0; OV_ENOENT: there is
 * none; or OV_ESYS: /proc does not tell. *out is undefined after an error. */
int ep_process_look(pid_t pid, struct ep_process *out);

/* Reads a process number; 0: the text is not exactly that. */
pid_t ep_process_number(const char *text);

/* The owner of a process; false when there is no such process. */
bool ep_process_owner(pid_t pid, uid_t *uid);
/* A descriptor that is readable when the process has ended; -1: the system has
 * none, or `pid` is 0. */
int ep_process_watch(pid_t pid);

/* True when /proc shows the processes of our own namespace. Otherwise our
 * numbers are those of other processes there. */
bool ep_process_can_look(void);

/* A hash of this boot of the kernel; 0: /proc does not tell. */
uint64_t ep_process_boot(void);

/* Adds the namespaces of a process to a hash, of these kinds: names in
 * /proc/PID/ns, then NULL. A kind that the kernel does not have adds just that
 * fact; every kernel must know the first kind. 0: the process cannot be looked
 * at. Cost: a link for each. */
uint64_t ep_process_spaces(pid_t pid, const char *const *kinds, uint64_t hash);

/* Reads a small file by one call: at most size_bytes - 1 bytes, and adds a NUL.
 * Returns how many bytes, or -1 with errno; then there is only the NUL. */
ssize_t ep_process_read(const char *path, char *text, size_t size_bytes);

#endif
