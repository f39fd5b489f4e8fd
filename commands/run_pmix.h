/* PMIx tools of `xylem run`. Each has a helper of its own. */
#ifndef COMMANDS_RUN_PMIX_H
#define COMMANDS_RUN_PMIX_H

#include "endpoints/client/desk.h"

/* Without the helper (a build without PMIx) opening it gives NULL, which is
 * reported with --verbose only. */
const struct ep_desk_ops *run_pmix_desk(void);

/* --pmix-allow: the users whose tools may connect; without a call only the
 * user's own and root's. Ends the program with a sentence when the list names
 * others. */
void run_pmix_allow(const char *users);

#endif
