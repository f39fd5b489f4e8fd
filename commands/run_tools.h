/* PMIx tools of `xylem run`, each with a helper of its own. */
#ifndef COMMANDS_RUN_TOOLS_H
#define COMMANDS_RUN_TOOLS_H

#include "endpoints/client/desk.h"

/* Without the helper (a build without PMIx) open gives NULL and says so with
 * --verbose only. */
const struct ep_desk_ops *run_tools_desk(void);

#endif
