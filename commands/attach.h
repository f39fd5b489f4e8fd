/* `xylem attach`: becomes the program that holds libpmix. */
#ifndef COMMANDS_ATTACH_H
#define COMMANDS_ATTACH_H

/* argv[1] is `attach`. Returns only when there is no such program, with the
 * exit code, after saying what is missing. */
int attach_main(int argc, char **argv);

#endif
