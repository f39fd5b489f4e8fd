/* What is to happen, in the order of time; ties in the order of pushing.
 *
 * A radix queue (Ahuja, Mehlhorn, Orlin, Tarjan, "Faster algorithms for the
 * shortest path problem", 1990) with digits of one byte: time only goes on, so
 * an item is sorted by the highest byte in which its time differs from now,
 * and again by a lower one when that byte is reached. Items lie in chunks and
 * are copied in their order: nothing is compared, no pointer is followed, and
 * equal times never change places.
 *
 * Cost: push O(1); pop O(1) amortised, at most 8 copies over an item's life,
 * two or three for the next milliseconds. No allocation once the largest
 * number of items was there.
 */
#ifndef SIM_QUEUE_H
#define SIM_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/item.h"

enum { SIM_CHUNK_ITEMS = 31, SIM_DIGITS = 8, SIM_DIGIT_VALUES = 256 };

struct sim_chunk;

struct sim_queue {
    struct {
        struct sim_chunk *first, *last;
    } lists[SIM_DIGITS][SIM_DIGIT_VALUES];
    uint64_t used[SIM_DIGITS][SIM_DIGIT_VALUES / 64]; /* bit: not empty */
    uint64_t now_ns;
    uint64_t count;
    uint64_t peak;
    struct sim_chunk *spare;
};

void sim_queue_init(struct sim_queue *queue);
/* Frees the memory; references in items are the caller's to drop before. */
void sim_queue_fini(struct sim_queue *queue);

/* at_ns is not before the item popped last. Ends the program when memory is
 * out. */
void sim_queue_push(struct sim_queue *queue, const struct sim_item *item);

/* Takes the first item; false when there is none. */
bool sim_queue_pop(struct sim_queue *queue, struct sim_item *item);

#endif
