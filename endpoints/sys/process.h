/* A process of this machine, as /proc has it: when it began, and where it is.
 *
 * Its number alone is used again, and means nothing elsewhere. With its start,
 * the boot and the namespaces it is one process for ever.
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
    bool is_zombie; /* or about to be: it has begun to exit */
};

/* Cost: one small file. Returns 0; OV_ENOENT: there is none; or OV_ESYS: /proc
 * does not tell. *out is undefined then. */
int ep_process_look(pid_t pid, struct ep_process *out);

/* The process number that the text is, and nothing else; 0: it is none. */
pid_t ep_process_number(const char *text);

/* The owner of a process; false when there is no such process. */
bool ep_process_owner(pid_t pid, uid_t *uid);
/* A descriptor that is readable when the process has ended; -1 where the system
 * has none, and of process 0. */
int ep_process_watch(pid_t pid);

/* Does /proc show the processes of our own namespace? Else our numbers are
 * those of others there. */
bool ep_process_can_look(void);

/* A hash of this boot of the kernel; 0: /proc does not tell. */
uint64_t ep_process_boot(void);

/* Adds to a hash the namespaces that a process is in, of these kinds: names in
 * /proc/PID/ns, then NULL. Kinds that the kernel does not have add that; the
 * first is known to each. 0: the process cannot be looked at. Cost: a link for
 * each. */
uint64_t ep_process_spaces(pid_t pid, const char *const *kinds, uint64_t hash);

/* Reads a small file by one call: at most size_bytes - 1, and a NUL. Returns
 * how many bytes, or -1 with errno; there is the NUL alone then. */
ssize_t ep_process_read(const char *path, char *text, size_t size_bytes);

#endif
