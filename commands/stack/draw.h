/* Draws the tree of call chains as text:
 *
 *     main (p.c:9)  ranks 0-999 (1000)
 *       solve (p.c:4) > step > MPI_Allreduce  ranks 0-998 (999)
 *       write_result > fsync  rank 999
 *
 * Functions of which each calls only the next one, with the same ranks in both,
 * are one line. */
#ifndef COMMANDS_STACK_DRAW_H
#define COMMANDS_STACK_DRAW_H

#include <stdint.h>
#include <stdio.h>

struct stack_tree;

/* Writes a sorted tree in lines of this many columns, the longest going on in
 * the next line; 0: no limit. A tree with one program does not name it.
 * Errors stay in `out'. */
void stack_draw(const struct stack_tree *tree, uint32_t columns, FILE *out);

#endif
