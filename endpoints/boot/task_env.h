/* Variables that are about one task of a resource manager's step, or about how
 * a process finds the others of an MPI job. They would mislead programs that
 * xylem starts in turn. Variables that describe an allocation as a whole are
 * not among them.
 */
#ifndef ENDPOINTS_BOOT_TASK_ENV_H
#define ENDPOINTS_BOOT_TASK_ENV_H

#include <stdbool.h>

/* True for such an entry of an environment. O(1). */
bool ep_task_env_has(const char *entry);

#endif
