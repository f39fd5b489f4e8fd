/* A memory of small chunks, and bytes that lie in chains of them.
 *
 * A chunk that was freed is used again first, so that little use touches little
 * memory. Nothing moves and nothing is split, so the memory is the bound. A
 * chain takes at most two chunks more than its bytes fill.
 */
#ifndef ENDPOINTS_DAEMON_CHUNKS_H
#define ENDPOINTS_DAEMON_CHUNKS_H

#include <stdbool.h>
#include <stdint.h>

enum { EP_CHUNK_BYTES = 508 }; /* held by a chunk, besides a number */

struct ep_chunk {
    uint32_t next;
    uint8_t mem[EP_CHUNK_BYTES];
};

struct ep_chunks {
    struct ep_chunk *at; /* owned [max] */
    uint32_t max;
    uint32_t made; /* below it each chunk is used, or on the free list */
    uint32_t used;
    uint32_t first_free;
};

/* All zero is empty. */
struct ep_chain {
    uint32_t first, last; /* valid when len_bytes > 0 */
    uint32_t skip_bytes;  /* bytes of the first chunk that are gone */
    uint32_t len_bytes;
};

/* Takes room for max chunks; use alone touches it. Returns 0 or OV_ENOMEM. */
int ep_chunks_open(struct ep_chunks *chunks, uint32_t max);
void ep_chunks_close(struct ep_chunks *chunks);

static inline uint32_t ep_chunks_free(const struct ep_chunks *chunks)
{
    return chunks->max - chunks->used;
}

/* Adds to the end. Returns false when the bytes do not fit; nothing is changed
 * then. */
bool ep_chain_add(struct ep_chunks *chunks, struct ep_chain *chain,
                  const uint8_t *src, uint32_t len_bytes);

/* Copies all of it. Any thread, as long as the chain does not change. */
void ep_chain_copy(const struct ep_chunks *chunks, const struct ep_chain *chain,
                   uint8_t *dst);

/* Moves the first len_bytes to dst. */
void ep_chain_take(struct ep_chunks *chunks, struct ep_chain *chain,
                   uint8_t *dst, uint32_t len_bytes);

/* Frees the whole chain. */
void ep_chain_drop(struct ep_chunks *chunks, struct ep_chain *chain);

#endif
