/* The command line of `xylem sim`. */
#ifndef COMMANDS_SIM_OPTIONS_H
#define COMMANDS_SIM_OPTIONS_H

#include "sim/model.h"

struct sim_options {
    struct sim_cfg cfg; /* its lists are those below */
    struct sim_reader *readers;
    struct sim_fault *faults;
    uint32_t runs;
};

/* Ends the program with exit code 2 and a sentence when an option is wrong,
 * with 0 after --help. The lists live as long as the program. */
void sim_options_parse(int argc, char **argv, struct sim_options *options);

#endif
