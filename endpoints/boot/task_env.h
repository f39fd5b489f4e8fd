/* Variables that are about one task of a resource manager's step, or about how
 * a process finds the others of an MPI job: they mislead whoever is started by
 * xylem in turn. What describes an allocation as a whole is not among them.
 */
#ifndef ENDPOINTS_BOOT_TASK_ENV_H
#define ENDPOINTS_BOOT_TASK_ENV_H

#include <stdbool.h>

/* Is this entry of an environment one of them? O(1). */
bool ep_task_env_has(const char *entry);

#endif
