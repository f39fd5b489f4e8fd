/* The environment of a program that is not the run's own. */
#ifndef ENDPOINTS_RUN_ENVIRON_H
#define ENDPOINTS_RUN_ENVIRON_H

#include <stdbool.h>

#include "job/job.h"

/* Adds to the program what the changes make of `own`, NAME=VALUE each. Returns
 * 0 or OV_ENOMEM. O(settings * changes). */
int ep_run_environ(const struct job_strings *own, const struct job_wish *from,
                   struct job_app *app);

/* Is a setting (NAME=VALUE) of the launcher's shell or xylem's own, or about
 * the task that the launcher is? Such are not passed on. */
bool ep_run_env_is_private(const char *entry);

#endif
