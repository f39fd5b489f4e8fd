/* The tree of a run for programs. */
#ifndef COMMANDS_TREE_JSON_H
#define COMMANDS_TREE_JSON_H

#include <stdio.h>

#include "endpoints/run/layout.h"

/* Writes it as one object. Returns 0, or -1 when it cannot be written. */
int tree_json(const struct ep_layout *layout, FILE *out);

#endif
