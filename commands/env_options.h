/* Options about the environment of processes. */
#ifndef COMMANDS_ENV_OPTIONS_H
#define COMMANDS_ENV_OPTIONS_H

/* Read the values of --env, which is for the program whose options are being
 * read, and of --export; `into` is a struct ep_run_options. */
void env_options_env(const char *text, void *into);
void env_options_export(const char *text, void *into);

#endif
