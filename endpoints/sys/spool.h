/* A bounded store of bytes that have no other place: memory first, then an
 * unlinked temporary file.
 *
 * Bytes are put at the end of a block and read back by reference, in any order,
 * until they are forgotten. The first mem_blocks - 2 and kept_blocks of the
 * full blocks stay in memory, and each other one goes to its own place in the
 * file. Places are used again, so the file is never larger than the most that
 * was held at once. A thread, which all spools of the writer share, makes,
 * writes, reads and closes the file: the event loop copies memory and waits for
 * nothing. What leaves again soon never touches the disk.
 *
 * So a file system that hangs in the file of one spool delays all spools of the
 * process, which usually lie on it, too: they go on with their memory, and
 * return OV_EAGAIN when that is used up. A file that fails (ENOSPC, EIO)
 * affects only its own spool. What was put and is not in the file then stays in
 * memory.
 *
 * Bounds: mem_blocks + kept_blocks + EP_SPOOL_READS blocks of memory,
 * limit_bytes of file, and about 50 bytes of memory per block of limit. An
 * empty spool takes only the latter.
 */
#ifndef ENDPOINTS_SYS_SPOOL_H
#define ENDPOINTS_SYS_SPOOL_H

#include <stdbool.h>
#include <stdint.h>

struct ep_spool;
struct ep_writer;

enum {
    /* Four of the largest usual pieces, 64 KiB, and their heads. */
    EP_SPOOL_BLOCK_BYTES = 4 * 65 * 1024,
    EP_SPOOL_MEM_BLOCKS = 4,
    EP_SPOOL_READS = 3,
};

/* A stretch of one block. The last one may grow by the next one put, if that
 * came to lie behind it, even after it was read: its memory goes on then. */
struct ep_spool_ref {
    uint32_t block;
    uint32_t off_bytes;
    uint32_t len_bytes;
    int32_t slot; /* for the spool itself */
};

struct ep_spool_cfg {
    uint64_t limit_bytes; /* of the file; at least one block is allowed */
    uint32_t block_bytes; /* 0: EP_SPOOL_BLOCK_BYTES */
    uint32_t mem_blocks;  /* at most EP_SPOOL_MEM_BLOCKS, which 0 stands for */
    uint32_t kept_blocks; /* in addition to these */
    /* NULL: $TMPDIR, then /var/tmp, but neither if it lies in memory. */
    const char *dir;        /* copied */
    bool may_lie_in_memory; /* it is small enough for that */
    /* A call that returned OV_EAGAIN may succeed now. Called from the loop. */
    void (*on_change)(void *arg);
    void *arg;
};

/* Opens a spool; takes only memory. Returns 0, OV_ENOMEM or OV_ESYS. */
int ep_spool_open(struct ep_writer *w, const struct ep_spool_cfg *cfg,
                  struct ep_spool **out);

/* Drops all that is held. The thread removes the file when it has time. The
 * memory is free at once, except what the thread is working in. NULL is fine.
 * O(blocks), does not wait. */
void ep_spool_close(struct ep_spool *sp);

/* Copies head and body, one behind the other. Returns 0 (the bytes are safe);
 * OV_EAGAIN (blocks are on their way to the file; on_change follows); OV_EFULL
 * (the limit is reached or the file cannot be written: it may last until all
 * that is held has been released); or OV_EINVAL when it is larger than a
 * block. */
int ep_spool_put(struct ep_spool *sp, const void *head, uint32_t head_bytes,
                 const void *body, uint32_t body_bytes,
                 struct ep_spool_ref *out);

/* Copies as many of the bytes as fit into the block that is being filled, at
 * least one; *out says how many. Returns what ep_spool_put returns. */
int ep_spool_put_some(struct ep_spool *sp, const void *mem, uint32_t len_bytes,
                      struct ep_spool_ref *out);

/* Says whether puts of this many bytes in all, a block at most, would return 0
 * now. Returns what the failing one would return. O(1). */
int ep_spool_room(const struct ep_spool *sp, uint32_t len_bytes);

/* True when no further block stays in memory: what is put goes to the file when
 * its block is full. O(1). */
bool ep_spool_is_saving(const struct ep_spool *sp);

/* Why the file cannot be used, an errno; 0 while it can. ENOTSUP: the
 * directories lie in memory. */
int ep_spool_errno(const struct ep_spool *sp);

/* Gets the bytes of a stretch. Returns 0 with *mem, which is valid until
 * ep_spool_release; OV_EAGAIN (they are being read; on_change follows); or
 * OV_ESYS, with errno, when the file gives an error: the bytes are lost, and
 * have to be released all the same. */
int ep_spool_get(struct ep_spool *sp, struct ep_spool_ref *ref,
                 const uint8_t **mem);

/* Lets the memory of a stretch go that was read or lost, or withdraws a request
 * after an OV_EAGAIN. The stretch can be read again. */
void ep_spool_let_go(struct ep_spool *sp, const struct ep_spool_ref *ref);

/* Frees the place of a stretch that will not be read again. */
void ep_spool_forget(struct ep_spool *sp, const struct ep_spool_ref *ref);

/* Calls ep_spool_let_go() and ep_spool_forget(). */
void ep_spool_release(struct ep_spool *sp, const struct ep_spool_ref *ref);

#endif
