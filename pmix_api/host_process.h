/* The helper as a process. */
#ifndef PMIX_API_HOST_PROCESS_H
#define PMIX_API_HOST_PROCESS_H

#include <sys/types.h>

struct px_share;

/* Starts the program with these words, one end of a socketpair as its
 * descriptor 3 and what is shared as 4; *fd is the other end. Where memory
 * cannot be shared, or `share` is NULL, there is no 4, and *share is empty.
 * Returns 0, or OV_ESYS with errno. */
int px_process_start(const char *path, char *const *argv, pid_t *pid, int *fd,
                     struct px_share *share);
/* Kills it and waits for its end, which is soon. Returns its status. */
int px_process_end(pid_t pid);

#endif
