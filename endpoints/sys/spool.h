/* A bounded store of bytes that have no other place: memory first, then an
 * unlinked temporary file.
 *
 * Bytes are put at the end of a block and read back by reference, in any
 * order, until they are forgotten. Of full blocks the first mem_blocks - 2 and
 * kept_blocks stay in memory, and each other one goes to its own place in the
 * file; places are used again, so the file is never larger than the most that
 * was held at once. The file is made, written, read and closed by a thread,
 * which all spools of the writer share: the event loop copies memory and waits
 * for nothing. What soon leaves again never touches the disk.
 *
 * A file system that hangs in one spool's file so holds up all of the process,
 * which are as a rule on it, too: they go on with their memory, and say
 * OV_EAGAIN where that does not do. A file that fails (ENOSPC, EIO) is a matter
 * of its own spool. What was put and is not in the file then stays in memory.
 *
 * Bounds: mem_blocks + kept_blocks + EP_SPOOL_READS blocks of memory,
 * limit_bytes of file, some 50 bytes of memory per block of limit. Nothing held
 * is nothing but the latter.
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
 * came to lie behind it, also after it was got: its memory goes on then. */
struct ep_spool_ref {
    uint32_t block;
    uint32_t off_bytes;
    uint32_t len_bytes;
    int32_t slot; /* the spool's own */
};

struct ep_spool_cfg {
    uint64_t limit_bytes; /* at least one block is allowed */
    uint32_t block_bytes; /* 0: EP_SPOOL_BLOCK_BYTES */
    uint32_t mem_blocks;  /* EP_SPOOL_MEM_BLOCKS at most; 0: so many */
    uint32_t kept_blocks; /* beside these, before anything goes to the file */
    /* NULL: $TMPDIR, then /var/tmp, but neither where it lies in memory. */
    const char *dir;        /* copied */
    bool may_lie_in_memory; /* it is so little */
    /* An answer of OV_EAGAIN may have changed. Borrowed; from the loop. */
    void (*on_change)(void *arg);
    void *arg;
};

/* Nothing is made but memory. Returns 0, OV_ENOMEM or OV_ESYS. */
int ep_spool_open(struct ep_writer *w, const struct ep_spool_cfg *cfg,
                  struct ep_spool **out);

/* Drops all that is held. The thread removes the file, when it has time; its
 * memory is free at once, but where the thread is at work in it. NULL is fine.
 * O(blocks), does not wait. */
void ep_spool_close(struct ep_spool *sp);

/* Copies head and body, one behind the other.
 * Returns 0 (the bytes are safe), OV_EAGAIN (blocks are on their way to the
 * file; on_change follows), OV_EFULL (the limit is reached or the file cannot
 * be written: until all that is held has been released), OV_EINVAL when it is
 * larger than a block.
 */
int ep_spool_put(struct ep_spool *sp, const void *head, uint32_t head_bytes,
                 const void *body, uint32_t body_bytes,
                 struct ep_spool_ref *out);

/* Copies as many of the bytes as go to the block that is being filled, at least
 * one; *out says how many. Returns as ep_spool_put. */
int ep_spool_put_some(struct ep_spool *sp, const void *mem, uint32_t len_bytes,
                      struct ep_spool_ref *out);

/* Would puts of so many bytes in all, a block at most, return 0 now? Returns
 * what the one that fails would return. O(1). */
int ep_spool_room(const struct ep_spool *sp, uint32_t len_bytes);

/* No more is kept in memory for long: what is put goes to the file when its
 * block is full. O(1). */
bool ep_spool_is_saving(const struct ep_spool *sp);

/* Why the file cannot be used, an errno; 0 while it can. ENOTSUP: the
 * directories lie in memory. */
int ep_spool_errno(const struct ep_spool *sp);

/* The bytes of a stretch. Returns 0 with *mem, which is valid until
 * ep_spool_release; OV_EAGAIN (they are being read; on_change follows); or
 * OV_ESYS, with errno, when the file gives an error: they are lost, and are
 * released all the same.
 */
int ep_spool_get(struct ep_spool *sp, struct ep_spool_ref *ref,
                 const uint8_t **mem);

/* The stretch was got, or lost, and its memory is done with; or nobody waits
 * for it any more after an OV_EAGAIN. It can be got again. */
void ep_spool_let_go(struct ep_spool *sp, const struct ep_spool_ref *ref);

/* Nobody gets the stretch any more: its place is free. */
void ep_spool_forget(struct ep_spool *sp, const struct ep_spool_ref *ref);

/* Both, in that order. */
void ep_spool_release(struct ep_spool *sp, const struct ep_spool_ref *ref);

#endif
