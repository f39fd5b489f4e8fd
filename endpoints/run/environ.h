/* The environment of a program of a further job. */
#ifndef ENDPOINTS_RUN_ENVIRON_H
#define ENDPOINTS_RUN_ENVIRON_H

#include <stdbool.h>

#include "job/job.h"

/* Adds to the program the settings `own` (NAME=VALUE each) with the changes of
 * `from`. Returns 0 or OV_ENOMEM. O(settings * changes). */
int ep_run_environ(const struct job_strings *own, const struct job_wish *from,
                   struct job_app *app);

/* Tells whether a setting (NAME=VALUE) belongs to the launcher's shell, to
 * xylem, or to the task that the launcher is. Such settings are not passed
 * on. */
bool ep_run_env_is_private(const char *entry);

#endif
