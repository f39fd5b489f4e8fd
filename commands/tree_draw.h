/* Drawing a tree on a terminal. */
#ifndef COMMANDS_TREE_DRAW_H
#define COMMANDS_TREE_DRAW_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "endpoints/run/layout.h"

struct tree_look {
    uint32_t width; /* columns; 0: no limit */
    bool is_utf8;   /* use line-drawing characters; else ASCII only */
    bool is_whole;  /* draw all levels; else only as many as fit in about 70
                       lines */
};

/* True when the link of node > 0 to its parent goes from one switch to
 * another. */
bool tree_crosses(const struct ep_layout *layout, uint32_t node);

/* Draws the tree, with one line for subtrees that look alike. Returns 0, or -1
 * when memory is out. */
int tree_draw(const struct ep_layout *layout, const struct tree_look *look,
              FILE *out);

#endif
