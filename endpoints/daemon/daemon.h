/* A daemon: hosts nodes, starts the daemons beneath it, runs processes.
 *
 * Life: it reads its configuration from its starter (stdin; or the environment,
 * and it calls its parent), starts the daemons of its children or awaits them,
 * listens, says so (stdout), joins the tree, does what stream 0 says, and
 * leaves at the goodbye. When the tree is lost to it, or before it has joined
 * its starter, it kills its processes and goes.
 */
#ifndef ENDPOINTS_DAEMON_DAEMON_H
#define ENDPOINTS_DAEMON_DAEMON_H

struct ep_spawner;
struct text_buf;

/* Orphans below become children of this process, unless a spawner has them. For
 * main, before it opens the spawner: the call writes into each process that is
 * there already, in the word in which a spawner notes the same of itself, and
 * one of the two can be lost (Linux 3.4 to 6.18 at least; seen as a spawner
 * whose orphans went by it, 1 in 10,000). */
void ep_daemon_adopt(void);

/* Runs to the end on descriptors 0, 1 and 2. The spawner was opened first
 * thing in main, behind ep_daemon_adopt, and is closed here. `boot` is the
 * start-up text up to `go`, taken over and wiped: the daemon then calls its
 * parent, whose connection takes the place of descriptors 0 and 1; NULL: the
 * text comes on 0. Returns the program's exit code. */
int ep_daemon_run(struct ep_spawner *spawner, struct text_buf *boot);

#endif
