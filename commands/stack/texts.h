/* Texts, each once, with the ranks that it is of.
 *
 * Memory: what the room allows. */
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
    uint32_t number;         /* of texts that came before it */
    struct stack_text *next; /* with the same hash */
};

struct stack_texts {
    struct stack_text *buckets[STACK_TEXT_BUCKETS]; /* owned */
    uint32_t count;
};

/* Adds a text of a rank. Returns 0; or OV_ENOMEM when there is no room or no
 * memory: the rank is then missing. O(bytes) on average. */
int stack_texts_add(struct stack_texts *texts, struct stack_room *room,
                    uint32_t rank, const char *mem, size_t len_bytes);
/* Returns all texts as an array of `count', which the caller frees, by their
 * lowest rank, equal ones as they came; NULL: memory is out. */
struct stack_text **stack_texts_list(const struct stack_texts *texts);
void stack_texts_free(struct stack_texts *texts);

#endif
