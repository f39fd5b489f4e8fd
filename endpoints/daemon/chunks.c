/* The list of free chunks uses memory of the chunks themselves. */
#include "endpoints/daemon/chunks.h"

#include <string.h>
#include <sys/mman.h>

#include "overlay/base/err.h"
#include "overlay/base/panic.h"

enum { NONE = UINT32_MAX };

int ep_chunks_open(struct ep_chunks *chunks, uint32_t max)
{
    void *mem;

    *chunks = (struct ep_chunks){.max = max, .first_free = NONE};
    /* malloc() would touch a page of memory that most daemons never use. */
    mem = mmap(NULL, max * sizeof(*chunks->at), PROT_READ | PROT_WRITE,
               MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mem == MAP_FAILED)
        return OV_ENOMEM;
    chunks->at = mem;
    return 0;
}

void ep_chunks_close(struct ep_chunks *chunks)
{
    if (chunks->at != NULL)
        munmap(chunks->at, chunks->max * sizeof(*chunks->at));
    *chunks = (struct ep_chunks){.first_free = NONE};
}

static uint32_t chunk_take(struct ep_chunks *chunks)
{
    uint32_t index = chunks->first_free;

    if (index != NONE)
        chunks->first_free = chunks->at[index].next;
    else
        index = chunks->made++;
    chunks->used++;
    return index;
}

/* Frees the first chunk of a chain that has more than one. */
static void chunk_give(struct ep_chunks *chunks, uint32_t index)
{
    chunks->at[index].next = chunks->first_free;
    chunks->first_free = index;
    chunks->used--;
}

/* Appends a new chunk to the chain. */
static void chunk_add(struct ep_chunks *chunks, struct ep_chain *chain)
{
    uint32_t index = chunk_take(chunks);

    if (chain->len_bytes > 0)
        chunks->at[chain->last].next = index;
    else
        chain->first = index;
    chain->last = index;
}

/* Adds the first bytes of a chain when one chunk is enough, as for most
 * lines. */
static bool add_first(struct ep_chunks *chunks, struct ep_chain *chain,
                      const uint8_t *src, uint32_t len_bytes)
{
    if (ep_chunks_free(chunks) == 0)
        return false;
    chunk_add(chunks, chain);
    memcpy(chunks->at[chain->last].mem, src, len_bytes);
    chain->len_bytes = len_bytes;
    return true;
}

bool ep_chain_add(struct ep_chunks *chunks, struct ep_chain *chain,
                  const uint8_t *src, uint32_t len_bytes)
{
    uint32_t used = (chain->skip_bytes + chain->len_bytes) % EP_CHUNK_BYTES;
    /* Room left in the last chunk of the chain. */
    uint32_t left = used > 0 ? EP_CHUNK_BYTES - used : 0;
    uint32_t fresh = len_bytes > left ? len_bytes - left : 0;

    if (len_bytes == 0)
        return true;
    if (chain->len_bytes == 0 && len_bytes <= EP_CHUNK_BYTES)
        return add_first(chunks, chain, src, len_bytes);
    if ((fresh + EP_CHUNK_BYTES - 1) / EP_CHUNK_BYTES > ep_chunks_free(chunks))
        return false;
    while (len_bytes > 0) {
        uint32_t count;

        if (left == 0) {
            chunk_add(chunks, chain);
            left = EP_CHUNK_BYTES;
        }
        count = len_bytes < left ? len_bytes : left;
        memcpy(chunks->at[chain->last].mem + EP_CHUNK_BYTES - left, src, count);
        src += count;
        len_bytes -= count;
        left -= count;
        chain->len_bytes += count;
    }
    return true;
}

void ep_chain_copy(const struct ep_chunks *chunks, const struct ep_chain *chain,
                   uint8_t *dst)
{
    uint32_t index = chain->first, skip_bytes = chain->skip_bytes;
    uint32_t left = chain->len_bytes;

    while (left > 0) {
        uint32_t count = EP_CHUNK_BYTES - skip_bytes;

        if (count > left)
            count = left;
        memcpy(dst, chunks->at[index].mem + skip_bytes, count);
        dst += count;
        left -= count;
        skip_bytes = 0;
        if (left > 0)
            index = chunks->at[index].next;
    }
}

void ep_chain_take(struct ep_chunks *chunks, struct ep_chain *chain,
                   uint8_t *dst, uint32_t len_bytes)
{
    OV_ASSERT(len_bytes <= chain->len_bytes);
    while (len_bytes > 0) {
        uint32_t index = chain->first;
        uint32_t count = EP_CHUNK_BYTES - chain->skip_bytes;
        uint32_t next = index == chain->last ? NONE : chunks->at[index].next;

        if (count > len_bytes)
            count = len_bytes;
        memcpy(dst, chunks->at[index].mem + chain->skip_bytes, count);
        dst += count;
        len_bytes -= count;
        chain->len_bytes -= count;
        chain->skip_bytes += count;
        if (chain->skip_bytes == EP_CHUNK_BYTES || chain->len_bytes == 0) {
            chunk_give(chunks, index);
            chain->first = next;
            chain->skip_bytes = 0;
        }
    }
}

void ep_chain_drop(struct ep_chunks *chunks, struct ep_chain *chain)
{
    uint32_t index = chain->first;

    while (chain->len_bytes > 0) {
        uint32_t next = index == chain->last ? NONE : chunks->at[index].next;

        chunk_give(chunks, index);
        if (next == NONE)
            break;
        index = next;
    }
    *chain = (struct ep_chain){0};
}
