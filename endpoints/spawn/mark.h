/* The mark of a daemon: a variable in the environment of all that it starts.
 *
 *     XYLEM_MARK=SESSION.NODE.PID.START.PLACE.CGROUP
 *
 * SESSION is the session's random number, and PLACE a hash of the machine's
 * boot and of the daemon's namespaces, both in hexadecimal; NODE is the
 * daemon's first node; PID is its process number; START is the time at which
 * the daemon began, in ticks since the machine's start. CGROUP names the
 * cgroups in which it was then, as /proc/self/cgroup does: CONTROLLERS:PATH of
 * each hierarchy, separated by ";", without the hierarchies in which it was at
 * the top.
 *
 * So a process that was left behind shows which daemon has started it, whether
 * that daemon still runs, and in which cgroup the process has to be. The
 * process may have passed the mark on to processes that are no part of the job,
 * as `sbatch --export=ALL` does: see ep_mark_is_on.
 */
#ifndef ENDPOINTS_SPAWN_MARK_H
#define ENDPOINTS_SPAWN_MARK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define EP_MARK_NAME "XYLEM_MARK"

enum {
    EP_MARK_CGROUP_MAX = 2048,
    EP_MARK_BYTES_MAX = EP_MARK_CGROUP_MAX + 128 /* with its name and a NUL */
};

struct ep_mark {
    uint64_t session;
    uint64_t start;
    uint64_t place;
    uint32_t node;
    pid_t pid;
    char cgroup[EP_MARK_CGROUP_MAX];
};

/* Writes the end of the mark, PLACE.CGROUP, for this process: all marks made on
 * this machine by what it starts have this end. Cost: some files of /proc.
 * Returns 0, or OV_ESYS: /proc is not there, or the cgroup's name is too
 * long. */
int ep_mark_home(char text[EP_MARK_BYTES_MAX]);

/* Makes the mark of this process, which is a daemon. `home` is a text of
 * ep_mark_home; NULL: it is read from /proc. Returns 0; OV_ESYS as
 * ep_mark_home, and then there is no mark; or OV_EPROTO: `home` is not
 * well-formed. */
int ep_mark_make(uint64_t session, uint32_t node, const char *home,
                 struct ep_mark *out);

/* Returns PLACE for this process; 0: it cannot be found. */
uint64_t ep_mark_place(void);

/* Writes the mark as NAME=VALUE. */
void ep_mark_print(const struct ep_mark *mark, char text[EP_MARK_BYTES_MAX]);

/* Reads the VALUE of a mark. Returns 0 or OV_EPROTO. */
int ep_mark_parse(const char *value, struct ep_mark *out);

/* Reads the mark of a process. Returns 0, or OV_ENOENT: the process has no
 * mark, or we may not read its environment. Cost: reading its environment. */
int ep_mark_find(pid_t pid, struct ep_mark *out);

/* True when a process with this mark, which began at `start`, can be one of the
 * daemon's: it belongs to this user, began after the daemon, in the same boot
 * and in the same namespaces as the daemon and the caller, and is in the
 * daemon's cgroup or below it. */
bool ep_mark_is_on(const struct ep_mark *mark, pid_t pid, uint64_t start);

/* True when `cgroup`, a text of /proc/PID/cgroup, is the mark's cgroup or below
 * it. */
bool ep_mark_has_cgroup(const struct ep_mark *mark, const char *cgroup);

#endif
