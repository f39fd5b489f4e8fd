/* The call chains of all processes, merged into a tree: each node is a
 * function, and has the ranks that are in it.
 *
 * The memory is taken from a struct stack_room.
 */
#ifndef COMMANDS_STACK_TREE_H
#define COMMANDS_STACK_TREE_H

#include <stdint.h>

#include "commands/stack/frames.h"
#include "commands/stack/ranks.h"

enum {
    STACK_CHILDREN_MAX = 1000, /* the most functions called by one function;
                                * further ones are merged into one, "..." */
    STACK_FILE_MAX = 256       /* the most bytes of a path; of a longer one the
                                * end is kept */
};

struct stack_node {
    char *name;    /* owned; without characters that a terminal would obey, like
                    * `file` */
    char *file;    /* owned: the end of the path in struct stack_frame, when all
                    * chains of the node have the same path; else NULL */
    uint32_t line; /* 0: unknown, or not the same for all chains */
    uint32_t children;
    struct topo_ranges ranks;
    uint64_t threads;                /* how many chains contain the node */
    struct stack_node *first, *next; /* owned: the first child, and the next
                                      * sibling */
};

/* The tree is a node without a name, whose children are the programs. */
struct stack_tree {
    struct stack_node root;
};

/* Adds a chain of a process: the name of its program, then the functions, the
 * outermost first. Returns 0; or OV_ENOMEM when there is no room or no memory:
 * the tree then has only the outer part of the chain. O(frames * children). */
int stack_tree_add(struct stack_tree *tree, struct stack_room *room,
                   uint32_t rank, const char *program,
                   const struct stack_frame *frames, uint32_t count);
/* Sorts the children of each node: those with more ranks come first; of equal
 * ones, the one with the lowest rank. Returns 0 or OV_ENOMEM. */
int stack_tree_sort(struct stack_tree *tree);
void stack_tree_free(struct stack_tree *tree);

#endif
