/* Starts and ends the process that is a tool's helper, and passes the tool's
 * connection to it. */
#ifndef PMIX_API_PROCESS_H
#define PMIX_API_PROCESS_H

#include <sys/types.h>

/* Starts the program with the arguments `argv`, and with one end of a
 * socketpair as its descriptor 3; *fd is the other end. Returns 0, or OV_ESYS
 * with errno. */
int px_process_start(const char *path, char *const *argv, pid_t *pid, int *fd);
/* Sends the helper a packet of one byte with a copy of the descriptor `given`.
 * Returns 0 or OV_ESYS. */
int px_process_give(int fd, int given);
/* Kills the process and waits for its end, which takes a moment only. Returns
 * the status as from waitpid(). */
int px_process_end(pid_t pid);

#endif
