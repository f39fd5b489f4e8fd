/* The commands of xylem. argv[1] is the word of the command; each returns the
 * exit code. */
#ifndef COMMANDS_COMMANDS_H
#define COMMANDS_COMMANDS_H

struct ep_run_options;

/* Shows the output of a running job, sends it input. */
int attach_main(int argc, char **argv);
/* A tree of daemons that jobs are started in. */
int dvm_main(int argc, char **argv);
/* A job in such a tree: `xylem run --dvm'. */
int run_dvm(const struct ep_run_options *options);
/* A tree and a job on it in virtual time: 1 when a rule broke or a run did not
 * end. */
int sim_main(int argc, char **argv);
/* The tree that `xylem run' would build. */
int tree_main(int argc, char **argv);

#endif
