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

#include "endpoints/run/impl.h"

/* The daemon with that index of the starter does not come, or one beneath it:
 * `text` then begins with the names of hosts, the last of which it is about.
 * `first`: why its parent could not start it, who had tried before; else NULL.
 * Only while launching. O(hosts named in it). */
void ep_run_missing(struct run *r, uint32_t index, const char *text,
                    const char *first);

/* The text behind the names of hosts that it begins with; *host becomes the
 * last of them by its place in the run's list, if there is any. */
const char *ep_run_missing_host(const struct run *r, const char *text,
                                uint32_t *host);

/* The daemon on this host does not come, as the resource manager says; what it
 * says later is better. */
void ep_run_missing_task(struct run *r, const char *host, enum ep_srun_end end,
                         const char *text);
/* Has that been said of any? */
bool ep_run_missing_is_told(const struct run *r);

/* The daemon with that index has come, and has ended. */
void ep_run_missing_ended(struct run *r, uint32_t index, const char *text);

void ep_run_missing_close(struct run *r);

#endif
