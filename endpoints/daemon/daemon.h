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
 * main, before it opens the spawner: Linux notes it in all processes that are
 * below already (since 2017: "prctl: propagate has_child_subreaper flag to
 * every descendant"), in the word in which a spawner may note at this moment
 * that it is one itself, and one of the two can be lost (6.18: 3 of 20,000
 * tries by a program that does only that). Its orphans go by such a spawner. */
void ep_daemon_adopt(void);

/* Runs to the end on descriptors 0, 1 and 2. The spawner was opened first
 * thing in main, behind ep_daemon_adopt, and is closed here. `boot` is the
 * start-up text up to `go`, taken over and wiped: the daemon then calls its
 * parent, whose connection takes the place of descriptors 0 and 1; NULL: the
 * text comes on 0. Returns the program's exit code. */
int ep_daemon_run(struct ep_spawner *spawner, struct text_buf *boot);

#endif
