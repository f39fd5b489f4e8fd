/* Draws the tree of call chains as text:
 *
 *     main (p.c:9)  ranks 0-999 (1000)
 *       solve (p.c:4) > step > MPI_Allreduce  ranks 0-998 (999)
 *       write_result > fsync  rank 999
 *
 * Functions each of which calls only the next one, with the same ranks, share
 * one line. */
#ifndef COMMANDS_STACK_DRAW_H
#define COMMANDS_STACK_DRAW_H

#include <stdint.h>
#include <stdio.h>

struct stack_tree;

/* Writes a sorted tree in lines of at most this many columns; a longer line is
 * continued in the next one; 0: no limit. When the tree has a single program
 * its name is left out. Errors stay in `out'. */
void stack_draw(const struct stack_tree *tree, uint32_t columns, FILE *out);

#endif
