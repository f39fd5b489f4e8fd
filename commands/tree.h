/* `xylem tree`: the tree that `xylem run` would build. */
#ifndef COMMANDS_TREE_H
#define COMMANDS_TREE_H

/* argv[1] is the word `tree`. Returns the exit code. */
int tree_main(int argc, char **argv);

#endif
