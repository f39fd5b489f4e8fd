/* Daemons that do not connect: which ones, why, and what follows from it.
 *
 * What fails on one host usually fails on others a moment later. So after each
 * failure the launcher waits a second for further ones, and then reports all of
 * them to the user, in groups with the same reason. When some daemons have
 * given reasons, daemons that ended without one are not reported, as the failed
 * daemons have made them end. When srun has killed all daemons because of one,
 * only that daemon is reported, whatever the others have said. With --min-nodes
 * and enough hosts left, the job is started again without the hosts that
 * failed; otherwise it ends.
 */
#ifndef ENDPOINTS_RUN_MISSING_H
#define ENDPOINTS_RUN_MISSING_H

#include <stdbool.h>
#include <stdint.h>

#include "endpoints/boot/starter.h"

struct run_missing;
struct run_plan;

struct run_missing_events {
    /* The callee calls ep_run_missing_settled() after this time. A later call
     * of settle replaces an earlier one. */
    void (*settle)(void *arg, uint32_t after_ms);
    /* Memory is out and the launch ends. The user has been told what is
     * known. */
    void (*failed)(void *arg);
};

/* Makes an empty list of missing daemons. The plan is borrowed: messages are
 * written by its voice, and hosts that the next launch leaves out are noted in
 * plan->relaunch. Returns 0 or OV_ENOMEM. */
int ep_run_missing_open(struct run_plan *plan,
                        const struct run_missing_events *events, void *arg,
                        struct run_missing **out);
/* NULL is fine. */
void ep_run_missing_close(struct run_missing *m);

/* Notes that the daemon with this index of the starter does not connect, and
 * why. When the failed daemon is one that this daemon was to start, `text`
 * begins with the names of hosts, and the last name is the host of the failed
 * daemon. `first`: the error of the daemon's parent, which had tried to start
 * it before; NULL when it had not. O(hosts named in `text` + missing
 * daemons). */
void ep_run_missing_add(struct run_missing *m, uint32_t index, const char *text,
                        const char *first);

/* Skips the names of hosts at the beginning of `text` and returns the rest.
 * When there is such a name, *host becomes the place of the last one in the
 * plan's list. */
const char *ep_run_missing_host(const struct run_plan *plan, const char *text,
                                uint32_t *host);

/* Notes that the resource manager reports the end of the daemon on this host. A
 * later report replaces an earlier one. */
void ep_run_missing_task(struct run_missing *m, const char *host,
                         enum ep_srun_end end, const char *text);
/* Tells whether the resource manager has reported the end of any daemon. */
bool ep_run_missing_is_told(const struct run_missing *m);

/* Notes that the daemon with this index had connected, and has ended. */
void ep_run_missing_ended(struct run_missing *m, uint32_t index,
                          const char *text);

bool ep_run_missing_are_some(const struct run_missing *m);
/* Tells whether the daemon of this node is known to be missing. O(missing
 * daemons). */
bool ep_run_missing_has(const struct run_missing *m, uint32_t node);

/* Tells the user which daemons are missing and why. To be called when no daemon
 * has failed for a while. The launch then ends; when --min-nodes allows another
 * one, that leaves out the hosts of these daemons. O(square of the missing
 * daemons + their hosts). */
void ep_run_missing_settled(struct run_missing *m);

#endif
