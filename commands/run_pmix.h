/* The desk of `xylem run` for PMIx tools, each of which is served by a helper
 * process of its own. */
#ifndef COMMANDS_RUN_PMIX_H
#define COMMANDS_RUN_PMIX_H

#include "endpoints/client/desk.h"

/* Returns the desk's functions. Opening the desk gives NULL when the helper is
 * not installed (a build without PMIx), which is reported with --verbose
 * only. */
const struct ep_desk_ops *run_pmix_desk(void);

/* Sets the users whose tools may connect (--pmix-allow). When this is not
 * called, tools of the user and of root may. Ends the program with a sentence
 * when the list names other users. */
void run_pmix_allow(const char *users);

#endif
