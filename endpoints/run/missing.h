/* Daemons that do not come: which ones, why, and what follows from it.
 *
 * What fails on one host usually fails on others a moment later. So after the
 * first failure the launcher listens for more, for a second after each, and
 * then tells the user about them in groups with the same reason. A daemon of
 * which only its end is known is left out when others have reasons, as it has
 * ended because of these. When srun has killed all daemons because of one, the
 * same holds for whatever the others have said. With --min-nodes and enough
 * hosts left, the job is started anew without the hosts that failed; otherwise
 * it ends.
 */
#ifndef ENDPOINTS_RUN_MISSING_H
#define ENDPOINTS_RUN_MISSING_H

#include <stdbool.h>
#include <stdint.h>

#include "endpoints/boot/starter.h"

struct run_missing;
struct run_plan;

struct run_missing_events {
    /* ep_run_missing_settled() is to be called after this time and not before;
     * an earlier wish is void. */
    void (*settle)(void *arg, uint32_t after_ms);
    /* Memory is out and the launch ends. What is known was told. */
    void (*failed)(void *arg);
};

/* The plan is borrowed: messages go to its voice, and hosts to leave out go to
 * plan->relaunch. Returns 0 or OV_ENOMEM. */
int ep_run_missing_open(struct run_plan *plan,
                        const struct run_missing_events *events, void *arg,
                        struct run_missing **out);
/* NULL is fine. */
void ep_run_missing_close(struct run_missing *m);

/* The daemon with this index of the starter does not come, or a daemon beneath
 * it does not: `text` then begins with the names of hosts, and the last of
 * these is the one meant. `first`: why the daemon's parent, which had tried
 * before, could not start it; else NULL. O(hosts named in it and missing). */
void ep_run_missing_add(struct run_missing *m, uint32_t index, const char *text,
                        const char *first);

/* Returns the text behind the names of hosts that it begins with. *host becomes
 * the last of these, by its place in the plan's list, if there is any. */
const char *ep_run_missing_host(const struct run_plan *plan, const char *text,
                                uint32_t *host);

/* The resource manager says that the daemon on this host does not come; what it
 * says later replaces this. */
void ep_run_missing_task(struct run_missing *m, const char *host,
                         enum ep_srun_end end, const char *text);
/* Tells whether the resource manager has said so of any daemon. */
bool ep_run_missing_is_told(const struct run_missing *m);

/* The daemon with this index had come, and has ended. */
void ep_run_missing_ended(struct run_missing *m, uint32_t index,
                          const char *text);

bool ep_run_missing_are_some(const struct run_missing *m);

/* No daemon has failed for a while: tells the user which are missing and why,
 * and has the next launch leave them out where --min-nodes allows it. The
 * launch ends in any case. O(missing squared), and their hosts. */
void ep_run_missing_settled(struct run_missing *m);

#endif
