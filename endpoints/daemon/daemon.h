/* A daemon: it hosts nodes, starts the daemons beneath it, and runs processes.
 *
 * A daemon reads its configuration from its starter: on stdin, or from the
 * environment, in which case it connects to its parent. It starts the daemons
 * of its children or waits for them, listens, reports (on stdout) that it
 * listens, joins the tree, follows the orders on stream 0, and leaves when the
 * launcher says goodbye. When it loses the tree, or loses its starter before it
 * has joined the tree, it kills its processes and exits.
 */
#ifndef ENDPOINTS_DAEMON_DAEMON_H
#define ENDPOINTS_DAEMON_DAEMON_H

struct ep_spawner;
struct text_buf;

/* Makes orphans below this process its children, unless a spawner adopts them.
 * Call it in main before the spawner is opened. Reason: Linux records the
 * adoption in every process that is already below this one (since 2017: "prctl:
 * propagate has_child_subreaper flag to every descendant"), in the same machine
 * word in which a spawner may be recording that it adopts orphans itself, and
 * one of the two writes can be lost (kernel 6.18: 3 of 20,000 tries by a
 * program that does only that). The spawner would then not get its orphans. */
void ep_daemon_adopt(void);

/* Runs the daemon to its end on descriptors 0, 1 and 2. The spawner must have
 * been opened first in main, after ep_daemon_adopt, and is closed here. `boot`
 * is the start-up text up to the line `go`; it is owned and wiped here. With it
 * the daemon connects to its parent, and that connection replaces descriptors 0
 * and 1. NULL: the daemon reads the text from descriptor 0. Returns the
 * program's exit code. */
int ep_daemon_run(struct ep_spawner *spawner, struct text_buf *boot);

#endif
