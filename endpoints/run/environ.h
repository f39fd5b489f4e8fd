/* The environment of programs. */
#ifndef ENDPOINTS_RUN_ENVIRON_H
#define ENDPOINTS_RUN_ENVIRON_H

#include <stdbool.h>

#include "job/job.h"

/* Gives a program its environment: the settings in `own` (NAME=VALUE each),
 * with the changes that `from` asks for. Returns 0 or OV_ENOMEM. O(settings *
 * changes). */
int ep_run_environ(const struct job_strings *own, const struct job_wish *from,
                   struct job_app *app);

/* Finds the setting (NAME=VALUE) of that name in the environment of this
 * process; NULL: there is none. */
const char *ep_run_env_find(const char *name);

/* Tells whether a setting (NAME=VALUE) concerns only the launcher: its shell,
 * xylem itself, or the task of a resource manager as which the launcher runs.
 * Programs do not get such settings. */
bool ep_run_env_is_private(const char *entry);

#endif
