/* The command line of `xylem attach`. */
#ifndef COMMANDS_ATTACH_OPTIONS_H
#define COMMANDS_ATTACH_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "commands/attach/servers.h"
#include "endpoints/run/run.h"
#include "topo/ranges.h"

struct attach_options {
    struct server_name which;       /* of it at most one thing is given */
    struct topo_ranges ranks;       /* no member: all */
    bool feeds;                     /* stdin goes to: */
    struct topo_ranges stdin_ranks; /* no member: all */
    struct ep_run_options output;   /* of these, what says how it is shown */
    bool verbose;
};

/* Parses the words behind argv[0]; strings stay borrowed. On wrong usage,
 * --help and --version it prints and ends the program (2, 0). */
void attach_options_parse(int argc, char **argv, struct attach_options *out);

#endif
