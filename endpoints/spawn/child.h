/* The life of the spawner process. */
#ifndef ENDPOINTS_SPAWN_CHILD_H
#define ENDPOINTS_SPAWN_CHILD_H

/* Runs the spawner on its end of the socket pair (non-blocking) and leaves the
 * process. Expects a process of its own, with one thread and with all signals
 * blocked since before its fork. */
_Noreturn void ep_spawn_child_run(int fd, unsigned grace_ms);

#endif
