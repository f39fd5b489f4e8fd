/* A queue of packets: in memory, and past that in a file that has no name.
 *
 * Both parts are rings of bytes. Once the file holds anything, what comes goes
 * there, so the order is that of the calls. The file is made when it is first
 * needed, and shrinks to nothing when it has been read to its end. It is read
 * ahead, 16 KiB at a time: what is short costs no call of its own.
 */
#ifndef PMIX_API_SPOOL_H
#define PMIX_API_SPOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct px_ring {
    uint64_t cap_bytes;
    uint64_t first; /* position of the first byte, below cap_bytes */
    uint64_t used_bytes;
};

struct px_spool {
    struct px_ring near, far;
    uint8_t *mem;   /* owned: near.cap_bytes */
    uint8_t *ahead; /* owned: what was read of the file; NULL: nothing yet */
    uint64_t ahead_at, ahead_bytes; /* of the file */
    const char *dir;                /* borrowed */
    int fd;                         /* -1: no file */
    bool is_broken; /* the file cannot be used: nothing goes there any more */
};

/* Memory of mem_bytes, touched as far as it is needed, a file of at most
 * file_bytes in `dir` when it must be. Returns 0 or OV_ENOMEM. */
int px_spool_open(struct px_spool *spool, uint64_t mem_bytes,
                  uint64_t file_bytes, const char *dir);
void px_spool_close(struct px_spool *spool);

/* Copies one packet, a head (NULL: none) and what follows it, to the end.
 * Returns 0; OV_EFULL when there is no room, also
 * for want of a file; nothing has changed then. May write to the file. */
int px_spool_put(struct px_spool *spool, const void *head, uint32_t head_bytes,
                 const void *mem, uint32_t len_bytes);

/* The first packet: takes it out into `out`, which has size_bytes. Returns its
 * length, 0 when the queue is empty, or OV_ESYS when the file cannot be read or
 * the packet is larger than size_bytes: the queue is empty then. */
int px_spool_get(struct px_spool *spool, void *out, uint32_t size_bytes);
/* Its first size_bytes, without taking it out. Returns its length as above,
 * also where that is more, and 0 where it has fewer bytes. */
int px_spool_peek(struct px_spool *spool, void *out, uint32_t size_bytes);
/* Takes it out unread; nothing where there is none. */
void px_spool_skip(struct px_spool *spool);

static inline bool px_spool_is_empty(const struct px_spool *spool)
{
    return spool->near.used_bytes + spool->far.used_bytes == 0;
}

/* The memory is half full, or the file in use. */
static inline bool px_spool_is_filling(const struct px_spool *spool)
{
    return spool->near.used_bytes > spool->near.cap_bytes / 2 ||
           spool->far.used_bytes > 0;
}

#endif
