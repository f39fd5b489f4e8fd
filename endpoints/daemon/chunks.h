/* A block of memory divided into small chunks, and chains of chunks that hold
 * bytes.
 *
 * A chunk that was freed last is used again first, so that little use touches
 * little memory. Chunks are never moved or split, so the size of the block is
 * the bound. A chain takes at most two chunks more than its bytes fill.
 */
#ifndef ENDPOINTS_DAEMON_CHUNKS_H
#define ENDPOINTS_DAEMON_CHUNKS_H

#include <stdbool.h>
#include <stdint.h>

/* bytes that a chunk holds beside the number of the next one */
enum { EP_CHUNK_BYTES = 508 };

struct ep_chunk {
    uint32_t next;
    uint8_t mem[EP_CHUNK_BYTES];
};

struct ep_chunks {
    struct ep_chunk *at; /* owned [max] */
    uint32_t max;
    uint32_t made; /* chunks from this number on were never used */
    uint32_t used;
    uint32_t first_free;
};

/* An all-zero chain is empty. */
struct ep_chain {
    uint32_t first, last; /* valid when len_bytes > 0 */
    uint32_t skip_bytes;  /* bytes of the first chunk that were taken already */
    uint32_t len_bytes;
};

/* Reserves memory for max chunks; pages are touched only when chunks are used.
 * Returns 0 or OV_ENOMEM. */
int ep_chunks_open(struct ep_chunks *chunks, uint32_t max);
void ep_chunks_close(struct ep_chunks *chunks);

static inline uint32_t ep_chunks_free(const struct ep_chunks *chunks)
{
    return chunks->max - chunks->used;
}

/* Adds bytes to the end of a chain. Returns false when they do not fit; nothing
 * is changed then. */
bool ep_chain_add(struct ep_chunks *chunks, struct ep_chain *chain,
                  const uint8_t *src, uint32_t len_bytes);

/* Copies all bytes of the chain to dst. May be called from any thread, as long
 * as the chain does not change. */
void ep_chain_copy(const struct ep_chunks *chunks, const struct ep_chain *chain,
                   uint8_t *dst);

/* Moves the first len_bytes of the chain to dst. */
void ep_chain_take(struct ep_chunks *chunks, struct ep_chain *chain,
                   uint8_t *dst, uint32_t len_bytes);

/* Frees the whole chain. */
void ep_chain_drop(struct ep_chunks *chunks, struct ep_chain *chain);

#endif
