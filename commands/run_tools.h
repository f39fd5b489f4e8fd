/* PMIx tools of `xylem run`, each with a helper of its own. */
#ifndef COMMANDS_RUN_TOOLS_H
#define COMMANDS_RUN_TOOLS_H

#include "endpoints/client/taps.h"

/* In the place of the tap of run_pmix.h, with XYLEM_PMIX_EACH in the
 * environment: until all that tools are promised holds with it. */
extern const struct ep_tap_ops run_tools_tap;

#endif
