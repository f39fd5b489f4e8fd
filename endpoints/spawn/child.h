/* The spawner process from its start to its end. */
#ifndef ENDPOINTS_SPAWN_CHILD_H
#define ENDPOINTS_SPAWN_CHILD_H

/* Runs the spawner on its end of the socket pair (non-blocking) and then exits.
 * Must be called in a process of its own, with one thread and with all signals
 * blocked since before the fork. */
_Noreturn void ep_spawn_child_run(int fd, unsigned grace_ms);

#endif
