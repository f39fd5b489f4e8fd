/* The commands of xylem. argv[1] is the name of the command; each returns the
 * exit code. */
#ifndef COMMANDS_COMMANDS_H
#define COMMANDS_COMMANDS_H

struct ep_run_options;

/* Shows the output of a running job and sends it input. */
int attach_main(int argc, char **argv);
/* Starts a tree of daemons in which jobs can be run. */
int dvm_main(int argc, char **argv);
/* Lists the sessions on this machine and their jobs. */
int ps_main(int argc, char **argv);
int stack_main(int argc, char **argv);
/* Runs a job in the tree of a dvm: `xylem run --dvm'. */
int run_dvm(const struct ep_run_options *options);
/* Simulates a tree with a job in virtual time. Returns 1 when a rule was broken
 * or a run did not end. */
int sim_main(int argc, char **argv);
/* Shows in which functions the processes of a running job are. */
int stack_main(int argc, char **argv);
/* Shows the tree that `xylem run' would build. */
int tree_main(int argc, char **argv);

#endif
