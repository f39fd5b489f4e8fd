/* Daemons that do not come: who, for what reasons, and what becomes of it.
 *
 * What fails on one host fails on others, too, as a rule within a moment. So
 * after the first failure the launcher listens for more, for a second after
 * each, and then tells them in groups of the same reason. Of those of which no
 * more is known than that they have ended nothing is said when others have
 * reasons: they have ended for these. Where srun has killed all because of one
 * the same holds for whatever they have said. With --min-nodes and
 * enough hosts left the job is started anew without those that failed; else it
 * ends.
 */
#ifndef ENDPOINTS_RUN_MISSING_H
#define ENDPOINTS_RUN_MISSING_H

#include <stdbool.h>
#include <stdint.h>

#include "endpoints/boot/starter.h"

struct run_missing;
struct run_plan;

struct run_missing_events {
    /* ep_run_missing_settled() is to be called after so long, and not before:
     * what was wanted earlier is void. */
    void (*settle)(void *arg, uint32_t after_ms);
    /* Memory is out: the launch ends. What is known was said. */
    void (*failed)(void *arg);
};

/* The plan is borrowed: its voice is spoken with, and what is left out of a
 * next launch is told to plan->again. Returns 0 or OV_ENOMEM. */
int ep_run_missing_open(struct run_plan *plan,
                        const struct run_missing_events *events, void *arg,
                        struct run_missing **out);
/* NULL is fine. */
void ep_run_missing_close(struct run_missing *m);

/* The daemon with that index of the starter does not come, or one beneath it:
 * `text` then begins with the names of hosts, the last of which it is about.
 * `first`: why its parent could not start it, who had tried before; else NULL.
 * O(hosts named in it and missing). */
void ep_run_missing_add(struct run_missing *m, uint32_t index, const char *text,
                        const char *first);

/* The text behind the names of hosts that it begins with; *host becomes the
 * last of them by its place in the plan's list, if there is any. */
const char *ep_run_missing_host(const struct run_plan *plan, const char *text,
                                uint32_t *host);

/* The daemon on this host does not come, as the resource manager says; what it
 * says later is better. */
void ep_run_missing_task(struct run_missing *m, const char *host,
                         enum ep_srun_end end, const char *text);
/* Has that been said of any? */
bool ep_run_missing_is_told(const struct run_missing *m);

/* The daemon with that index has come, and has ended. */
void ep_run_missing_ended(struct run_missing *m, uint32_t index,
                          const char *text);

bool ep_run_missing_are_some(const struct run_missing *m);

/* No more have failed for a while: tells who is missing and why, and has the
 * next launch go without them where --min-nodes allows it. The launch ends
 * then in any case. O(missing squared), and their hosts. */
void ep_run_missing_settled(struct run_missing *m);

#endif
