/* The figures of runs as JSON. */
#ifndef COMMANDS_SIM_JSON_H
#define COMMANDS_SIM_JSON_H

#include <stdint.h>

#include "sim/summary.h"

/* Writes all runs to a file, "-" being standard output, or to `fd`, where that
 * is one, and which is closed: an object with the version and a list `runs`.
 * Times are nanoseconds, rates bytes a second; what did not happen is null.
 * Equal runs give equal bytes. Returns 0, OV_ENOMEM, or OV_ESYS with errno. */
int sim_json_write(const char *path, int fd, const struct sim_summary *runs,
                   uint32_t count);

#endif
