/* A daemon: it hosts nodes, starts the daemons beneath it, and runs processes.
 *
 * Its life: it reads its configuration from its starter (on stdin, or in the
 * environment, and then it calls its parent), starts the daemons of its
 * children or waits for them, listens, says so (on stdout), joins the tree,
 * does what stream 0 says, and leaves at the goodbye. When it loses the tree,
 * or its starter before it has joined, it kills its processes and goes.
 */
#ifndef ENDPOINTS_DAEMON_DAEMON_H
#define ENDPOINTS_DAEMON_DAEMON_H

struct ep_spawner;
struct text_buf;

/* Makes orphans below this process its children, unless a spawner has them. For
 * main, before it opens the spawner. The reason: Linux notes this in all
 * processes that are already below (since 2017: "prctl: propagate
 * has_child_subreaper flag to every descendant"), in the same word in which a
 * spawner may just then note that it is one itself, and one of the two notes
 * can be lost (6.18: 3 of 20,000 tries by a program that does only that). The
 * orphans of such a spawner would not reach it. */
void ep_daemon_adopt(void);

/* Runs to the end on descriptors 0, 1 and 2. The spawner must have been opened
 * first in main, after ep_daemon_adopt, and is closed here. `boot` is the
 * start-up text up to `go`, taken over and wiped: the daemon then calls its
 * parent, and that connection takes the place of descriptors 0 and 1. NULL: the
 * text comes on 0. Returns the program's exit code. */
int ep_daemon_run(struct ep_spawner *spawner, struct text_buf *boot);

#endif
