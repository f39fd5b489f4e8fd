/* Drawing a tree on a terminal. */
#ifndef COMMANDS_TREE_DRAW_H
#define COMMANDS_TREE_DRAW_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "endpoints/run/layout.h"

struct tree_look {
    uint32_t width; /* columns; 0: as many as it takes */
    bool is_utf8;   /* lines are drawn; else in ASCII */
    bool is_whole;  /* all levels; else as many as fit some 70 lines */
};

/* Does the link of node > 0 to its parent go from one switch to another? */
bool tree_crosses(const struct ep_layout *layout, uint32_t node);

/* Draws the tree, in one line for subtrees that look alike. Returns 0, or -1
 * when memory is out. */
int tree_draw(const struct ep_layout *layout, const struct tree_look *look,
              FILE *out);

#endif
