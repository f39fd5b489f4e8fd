/* The first moments of the spawner process. */
#ifndef ENDPOINTS_SPAWN_SETUP_H
#define ENDPOINTS_SPAWN_SETUP_H

#include <sys/resource.h>

enum { EP_SPAWN_OWNER_FD = 3 };

/* Turns a fresh fork with all signals blocked into the spawner: own name and
 * process group, subreaper, deaf to what is sent to whole groups (SIGINT,
 * SIGTERM ...). Its descriptors become: /dev/null at 0 and 1, stderr as it is
 * (/dev/null if closed), the socket `fd` at EP_SPAWN_OWNER_FD, and a
 * non-blocking signalfd for SIGCHLD. The soft descriptor limit is raised;
 * *nofile is what it was.
 * Returns 0, or -1 with errno set: the process is then of no use.
 */
int ep_spawn_setup(int fd, struct rlimit *nofile, int *signal_fd);

#endif
