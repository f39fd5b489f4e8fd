/* Makes a forked process the spawner. */
#ifndef ENDPOINTS_SPAWN_SETUP_H
#define ENDPOINTS_SPAWN_SETUP_H

#include <sys/resource.h>

enum { EP_SPAWN_OWNER_FD = 3 };

/* Turns a fresh fork with all signals blocked into the spawner: it gets a name
 * and a process group of its own, becomes a subreaper, and ignores what is sent
 * to whole groups (SIGINT, SIGTERM ...). Its descriptors become: /dev/null at 0
 * and 1, stderr as it is (/dev/null if closed), the socket `fd` at
 * EP_SPAWN_OWNER_FD, and a non-blocking signalfd for SIGCHLD. The soft
 * descriptor limit is raised; *nofile is the limit before. Returns 0, or -1
 * with errno set: the process cannot be used then. */
int ep_spawn_setup(int fd, struct rlimit *nofile, int *signal_fd);

#endif
