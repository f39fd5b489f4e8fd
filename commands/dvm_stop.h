/* `xylem dvm --stop`: ends a running dvm. */
#ifndef COMMANDS_DVM_STOP_H
#define COMMANDS_DVM_STOP_H

#include <stdbool.h>

/* Do the words say it? --help goes before. */
bool dvm_stop_is_meant(int argc, char **argv);

/* Finds the dvm, tells it to end, and waits until it is gone. Returns the exit
 * code, after saying what is wrong. */
int dvm_stop(int argc, char **argv);

#endif
