/* `xylem dvm`: a tree of daemons that jobs are started in. */
#ifndef COMMANDS_DVM_H
#define COMMANDS_DVM_H

/* argv[1] is the word `dvm`. Returns the exit code. */
int dvm_main(int argc, char **argv);

#endif
