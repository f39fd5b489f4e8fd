/* Variables that describe one task of a resource manager's step, or that tell a
 * process how to find the other processes of an MPI job. They would mislead the
 * programs that xylem starts in turn. Variables that describe an allocation as
 * a whole do not count. */
#ifndef ENDPOINTS_BOOT_TASK_ENV_H
#define ENDPOINTS_BOOT_TASK_ENV_H

#include <stdbool.h>

/* True when an entry of an environment is such a variable. O(1). */
bool ep_task_env_has(const char *entry);

#endif
