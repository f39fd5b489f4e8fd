/* PMIx tools of `xylem run`, each with a helper of its own. */
#ifndef COMMANDS_RUN_PMIX_H
#define COMMANDS_RUN_PMIX_H

#include "endpoints/client/desk.h"

/* Without the helper (a build without PMIx) open gives NULL and says so with
 * --verbose only. */
const struct ep_desk_ops *run_pmix_desk(void);

/* --pmix-allow: whose tools may connect; the user's own and root's where it is
 * not called. Ends the program with words when the list names others. */
void run_pmix_allow(const char *users);

#endif
