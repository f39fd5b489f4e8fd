/* PMIx tools as a tap of `xylem run`. */
#ifndef COMMANDS_RUN_PMIX_H
#define COMMANDS_RUN_PMIX_H

#include "endpoints/client/taps.h"

/* Without the helper (a build without PMIx) open gives NULL and says so with
 * --verbose only. */
const struct ep_tap_ops *run_pmix_tap(void);

/* --pmix-allow: whose tools may connect; the user's own and root's where it is
 * not called. Ends the program with words when the list names others. */
void run_pmix_allow(const char *users);
/* The users who may connect: PX_ALLOW_ bits (pmix_api/host.h). */
uint8_t run_pmix_allowed(void);

#endif
