/* Everything that runs below this process, found through /proc. */
#ifndef ENDPOINTS_SPAWN_DESCENDANTS_H
#define ENDPOINTS_SPAWN_DESCENDANTS_H

struct ep_descendants {
    unsigned alive;  /* not yet zombies, ours to kill: SIGKILL was sent */
    unsigned denied; /* not yet zombies, but of another user (setuid) */
};

/* Sends SIGKILL to every living descendant of the calling process: children,
 * their children and so on by parent number, whatever their process group or
 * session. Complete only where the caller is a subreaper, since an orphan's
 * parent is otherwise somebody else. One pass: what was born meanwhile is
 * for the next call.
 * Cost: one small file of /proc per process of the machine.
 * Returns 0, OV_ESYS (/proc unreadable or another PID namespace's) or
 * OV_ENOMEM; `out` is then zero.
 */
int ep_descendants_kill(struct ep_descendants *out);

#endif
