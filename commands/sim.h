/* `xylem sim`. */
#ifndef COMMANDS_SIM_H
#define COMMANDS_SIM_H

/* Returns the exit code: 0, 1 when a rule broke or a run did not end. */
int sim_main(int argc, char **argv);

#endif
