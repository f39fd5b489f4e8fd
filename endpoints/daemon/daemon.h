/* A daemon: hosts nodes, starts the daemons beneath it, runs processes.
 *
 * Life: it reads its configuration from its starter (stdin), starts the
 * daemons of its children, listens, says so (stdout), joins the tree, does
 * what stream 0 says, and leaves at the goodbye. When its parent or its
 * starter is lost it kills its processes and goes.
 */
#ifndef ENDPOINTS_DAEMON_DAEMON_H
#define ENDPOINTS_DAEMON_DAEMON_H

struct ep_spawner;

/* Runs to the end on descriptors 0, 1 and 2. The spawner was opened first
 * thing in main and is closed here. Returns the program's exit code. */
int ep_daemon_run(struct ep_spawner *spawner);

#endif
