/* Implements the radix queue. */
#include "sim/queue.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "overlay/base/panic.h"

enum { DIGIT_BITS = 8, WORD_BITS = 64 };

/* A chunk of the items in one list, oldest first. */
struct sim_chunk {
    struct sim_chunk *next;
    uint32_t from, count; /* the items from .. count - 1 are still in the
                             list */
    uint64_t spare[2];
    struct sim_item items[SIM_CHUNK_ITEMS];
};

void sim_queue_init(struct sim_queue *queue)
{
    memset(queue, 0, sizeof(*queue));
}

static void free_chunks(struct sim_chunk *chunk)
{
    while (chunk != NULL) {
        struct sim_chunk *next = chunk->next;

        free(chunk);
        chunk = next;
    }
}

void sim_queue_fini(struct sim_queue *queue)
{
    for (unsigned digit = 0; digit < SIM_DIGITS; digit++) {
        for (unsigned value = 0; value < SIM_DIGIT_VALUES; value++)
            free_chunks(queue->lists[digit][value].first);
    }
    free_chunks(queue->spare);
    sim_queue_init(queue);
}

static struct sim_chunk *take_chunk(struct sim_queue *queue)
{
    struct sim_chunk *chunk = queue->spare;

    if (chunk != NULL) {
        queue->spare = chunk->next;
    } else {
        chunk = malloc(sizeof(*chunk));
        OV_ASSERT(chunk != NULL);
    }
    chunk->next = NULL;
    chunk->from = 0;
    chunk->count = 0;
    return chunk;
}

/* The index of the highest byte in which the times differ; 0 when they are
 * equal. */
static unsigned digit_of(uint64_t at_ns, uint64_t now_ns)
{
    uint64_t differs = at_ns ^ now_ns;

    return (unsigned)(63 - __builtin_clzll(differs | 1)) / DIGIT_BITS;
}

static void append_item(struct sim_queue *queue, const struct sim_item *item)
{
    unsigned digit = digit_of(item->at_ns, queue->now_ns);
    unsigned value = (item->at_ns >> (digit * DIGIT_BITS)) & 0xff;
    struct sim_chunk *chunk = queue->lists[digit][value].last;

    if (chunk == NULL || chunk->count == SIM_CHUNK_ITEMS) {
        struct sim_chunk *more = take_chunk(queue);

        if (chunk == NULL) {
            queue->lists[digit][value].first = more;
            queue->used[digit][value / WORD_BITS] |= UINT64_C(1)
                                                     << (value % WORD_BITS);
        } else {
            chunk->next = more;
        }
        queue->lists[digit][value].last = more;
        chunk = more;
    }
    chunk->items[chunk->count++] = *item;
}

void sim_queue_push(struct sim_queue *queue, const struct sim_item *item)
{
    OV_ASSERT(item->at_ns >= queue->now_ns);
    append_item(queue, item);
    queue->count++;
    if (queue->count > queue->peak)
        queue->peak = queue->count;
}

/* The lowest value of a digit whose list is not empty, or SIM_DIGIT_VALUES. */
static unsigned first_value(const struct sim_queue *queue, unsigned digit)
{
    for (unsigned word = 0; word < SIM_DIGIT_VALUES / WORD_BITS; word++) {
        uint64_t bits = queue->used[digit][word];

        if (bits != 0)
            return word * WORD_BITS + (unsigned)__builtin_ctzll(bits);
    }
    return SIM_DIGIT_VALUES;
}

/* Removes a list and returns it. */
static struct sim_chunk *take_list(struct sim_queue *queue, unsigned digit,
                                   unsigned value)
{
    struct sim_chunk *first = queue->lists[digit][value].first;

    queue->lists[digit][value].first = NULL;
    queue->lists[digit][value].last = NULL;
    queue->used[digit][value / WORD_BITS] &=
        ~(UINT64_C(1) << (value % WORD_BITS));
    return first;
}

/* Advances now_ns to the first list of the lowest digit that has one, and sorts
 * that list's items by the digits below. */
static void advance(struct sim_queue *queue)
{
    unsigned digit = 1;
    unsigned value;
    struct sim_chunk *chunk;
    uint64_t unit;

    while ((value = first_value(queue, digit)) == SIM_DIGIT_VALUES)
        digit++;
    chunk = take_list(queue, digit, value);
    unit = UINT64_C(1) << (digit * DIGIT_BITS);
    queue->now_ns &= ~(unit * SIM_DIGIT_VALUES - 1);
    queue->now_ns |= value * unit;
    while (chunk != NULL) {
        struct sim_chunk *next = chunk->next;

        for (uint32_t i = chunk->from; i < chunk->count; i++)
            append_item(queue, &chunk->items[i]);
        chunk->next = queue->spare;
        queue->spare = chunk;
        chunk = next;
    }
}

bool sim_queue_pop(struct sim_queue *queue, struct sim_item *item)
{
    struct sim_chunk *chunk;
    unsigned value;

    if (queue->count == 0)
        return false;
    while ((value = first_value(queue, 0)) == SIM_DIGIT_VALUES)
        advance(queue);
    chunk = queue->lists[0][value].first;
    *item = chunk->items[chunk->from++];
    queue->now_ns = item->at_ns;
    queue->count--;
    if (chunk->from < chunk->count)
        return true;
    if (chunk->next == NULL)
        take_list(queue, 0, value);
    else
        queue->lists[0][value].first = chunk->next;
    chunk->next = queue->spare;
    queue->spare = chunk;
    return true;
}
