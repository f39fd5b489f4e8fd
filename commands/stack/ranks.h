/* Sets of ranks that grow, and the memory that a command may use for what it
 * gathers. */
#ifndef COMMANDS_STACK_RANKS_H
#define COMMANDS_STACK_RANKS_H

#include <stddef.h>
#include <stdint.h>

#include "topo/ranges.h"

enum { STACK_RANKS_BYTES = 96 }; /* the size of a set as a text for people */

/* The number of bytes that may still be allocated. */
struct stack_room {
    uint64_t left_bytes;
};

/* Enlarges a block of memory, like realloc(), and subtracts the additional
 * bytes from the room. `mem` has had_bytes so far (0: it is NULL). Returns NULL
 * when there is no room or no memory; nothing has changed then. */
void *stack_room_grow(struct stack_room *room, void *mem, size_t had_bytes,
                      size_t bytes);

/* Adds a rank to a set, which is zeroed at first and owns its items. Returns 0,
 * or OV_ENOMEM when there is no room or no memory. */
int stack_ranks_add(struct topo_ranges *set, uint32_t rank,
                    struct stack_room *room);
void stack_ranks_free(struct topo_ranges *set);

/* Returns the whole set as text, for example "0-3,7", which the caller frees;
 * NULL: memory is out. */
char *stack_ranks_whole(const struct topo_ranges *set);
/* Writes "rank 3" or "ranks 0-3,7 (5)"; a set with many ranges is cut off. */
void stack_ranks_text(const struct topo_ranges *set,
                      char text[STACK_RANKS_BYTES]);

#endif
