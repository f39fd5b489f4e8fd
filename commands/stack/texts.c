/* Texts, each stored once, with the ranks that have it. */
#include "commands/stack/texts.h"

#include <stdlib.h>
#include <string.h>

#include "overlay/base/err.h"

/* The hash FNV-1a. */
static uint32_t hash(const char *mem, size_t len_bytes)
{
    uint32_t value = 2166136261u;

    for (size_t i = 0; i < len_bytes; i++)
        value = (value ^ (uint8_t)mem[i]) * 16777619u;
    return value;
}

static struct stack_text *find_text(struct stack_text *first, const char *mem,
                                    size_t len_bytes)
{
    while (first != NULL && (first->len_bytes != len_bytes ||
                             memcmp(first->mem, mem, len_bytes) != 0))
        first = first->next;
    return first;
}

static struct stack_text *new_text(struct stack_room *room, const char *mem,
                                   size_t len_bytes)
{
    struct stack_text *text = stack_room_grow(room, NULL, 0, sizeof(*text));

    if (text == NULL)
        return NULL;
    *text = (struct stack_text){.len_bytes = len_bytes};
    text->mem = stack_room_grow(room, NULL, 0, len_bytes + 1);
    if (text->mem == NULL) {
        free(text);
        return NULL;
    }
    memcpy(text->mem, mem, len_bytes);
    text->mem[len_bytes] = '\0';
    return text;
}

int stack_texts_add(struct stack_texts *texts, struct stack_room *room,
                    uint32_t rank, const char *mem, size_t len_bytes)
{
    struct stack_text **bucket =
        &texts->buckets[hash(mem, len_bytes) % STACK_TEXT_BUCKETS];
    struct stack_text *text = find_text(*bucket, mem, len_bytes);

    if (text == NULL) {
        text = new_text(room, mem, len_bytes);
        if (text == NULL)
            return OV_ENOMEM;
        text->next = *bucket;
        text->number = texts->count++;
        *bucket = text;
    }
    return stack_ranks_add(&text->ranks, rank, room);
}

static int compare(const void *a, const void *b)
{
    const struct stack_text *const *left = a, *const *right = b;
    const uint32_t one = topo_ranges_nth(&(*left)->ranks, 0);
    const uint32_t two = topo_ranges_nth(&(*right)->ranks, 0);

    if (one != two)
        return one < two ? -1 : 1;
    return ((*left)->number > (*right)->number) -
           ((*left)->number < (*right)->number);
}

struct stack_text **stack_texts_list(const struct stack_texts *texts)
{
    struct stack_text **all = calloc(texts->count + 1u, sizeof(*all));
    uint32_t count = 0;

    for (unsigned i = 0; all != NULL && i < STACK_TEXT_BUCKETS; i++) {
        for (struct stack_text *at = texts->buckets[i]; at != NULL;
             at = at->next)
            all[count++] = at;
    }
    if (all != NULL)
        qsort(all, count, sizeof(struct stack_text *), compare);
    return all;
}

void stack_texts_free(struct stack_texts *texts)
{
    for (unsigned i = 0; i < STACK_TEXT_BUCKETS; i++) {
        struct stack_text *next;

        for (struct stack_text *at = texts->buckets[i]; at != NULL; at = next) {
            next = at->next;
            stack_ranks_free(&at->ranks);
            free(at->mem);
            free(at);
        }
    }
    *texts = (struct stack_texts){.count = 0};
}
