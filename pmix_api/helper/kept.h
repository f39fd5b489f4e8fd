/* Events that the library keeps for tools that come late.
 *
 * It has room for so many (its pmix_max_events), and where there are more the
 * oldest go: those of a job that runs for long. So that it need not, those of
 * jobs that nobody knows any more are taken out. */
#ifndef PMIX_API_HELPER_KEPT_H
#define PMIX_API_HELPER_KEPT_H

#include <stdbool.h>

/* Of jobs there are three for each of 128 that run, of 64 that have ended and
 * of the run's own, and those of channels that broke off. What is left is for
 * events of tools. A room takes 200 bytes, an event 2 to 5 KiB. */
#define KEPT_EVENTS_MAX "4096"
enum { KEPT_BROKEN_MAX = 2048 };

/* One more of a channel that broke off may be kept. */
bool px_kept_add_broken(void);

/* The library keeps no event of that job any more. From any thread; a job of
 * that name has no further ones. */
void px_kept_forget(const char *nspace);

#endif
