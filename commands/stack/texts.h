/* Texts, each stored once, with the ranks that have it.
 *
 * The memory is taken from a struct stack_room.
 */
#ifndef COMMANDS_STACK_TEXTS_H
#define COMMANDS_STACK_TEXTS_H

#include <stddef.h>
#include <stdint.h>

#include "commands/stack/ranks.h"

enum { STACK_TEXT_BUCKETS = 4096 };

struct stack_text {
    char *mem; /* owned; any bytes */
    size_t len_bytes;
    struct topo_ranges ranks;
    uint32_t number;         /* how many texts came before this one */
    struct stack_text *next; /* the next text with the same hash */
};

struct stack_texts {
    struct stack_text *buckets[STACK_TEXT_BUCKETS]; /* owned */
    uint32_t count;
};

/* Adds a rank's text. Returns 0; or OV_ENOMEM when there is no room or no
 * memory: the rank is then missing. O(bytes) on average. */
int stack_texts_add(struct stack_texts *texts, struct stack_room *room,
                    uint32_t rank, const char *mem, size_t len_bytes);
/* Returns an array of all `count' texts, which the caller frees, sorted by
 * their lowest rank; texts with the same rank keep their order; NULL: memory is
 * out. */
struct stack_text **stack_texts_list(const struct stack_texts *texts);
void stack_texts_free(struct stack_texts *texts);

#endif
