/* Values of the options of `xylem run`: each is read or ends the program. */
#ifndef COMMANDS_RUN_VALUES_H
#define COMMANDS_RUN_VALUES_H

#include <stdint.h>

#include "endpoints/run/run.h"

/* The command that the user is referred to; `run' at the start. */
extern const char *run_usage_command;

/* Wrong usage: says so on stderr, and exits with 2. */
_Noreturn void run_usage(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

/* A number, or a time in seconds of at most 10^6, within these bounds. */
uint32_t run_number(const char *option, const char *text, uint32_t min,
                    uint32_t max);
double run_seconds(const char *option, const char *text, double min);

/* --port-range, --stdin-slow, --pmix-cache and --ppn. */
void run_port_range(const char *text, struct ep_run_options *o);
void run_stdin_slow(const char *text, struct ep_run_options *o);
void run_pmix_cache(const char *text, struct ep_run_options *o);
void run_ppn(const char *text, struct job_wish *app);

#endif
