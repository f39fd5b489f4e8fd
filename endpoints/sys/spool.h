/* A bounded store of bytes: in memory first, then in an unlinked temporary
 * file.
 *
 * Bytes are put at the end of a block and read back by reference, in any order,
 * until they are forgotten. The first mem_blocks - 2 + kept_blocks full blocks
 * stay in memory, and each further one is written to a place of its own in the
 * file. Places are used again, so the file is never larger than the most that
 * was held at once. A thread, which all spools of the writer share, makes,
 * writes, reads and closes the file: the event loop copies memory and waits for
 * nothing. Bytes that are forgotten soon never reach the disk.
 *
 * So when the file system of one spool's file hangs, all spools of the process
 * wait; usually they are on the same file system anyway. They go on with their
 * memory, and return OV_EAGAIN when that is used up. A file that fails (ENOSPC,
 * EIO) affects only its own spool. Bytes that were put and are not in the file
 * then stay in memory.
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
    /* Four of the largest usual records, 64 KiB, and their heads. */
    EP_SPOOL_BLOCK_BYTES = 4 * 65 * 1024,
    EP_SPOOL_MEM_BLOCKS = 4,
    EP_SPOOL_READS = 3,
};

/* Bytes within one block. The part put last may grow by the next put, if those
 * bytes follow it in memory, even after it was read. */
struct ep_spool_ref {
    uint32_t block;
    uint32_t off_bytes;
    uint32_t len_bytes;
    int32_t slot; /* used by the spool only */
};

struct ep_spool_cfg {
    /* most bytes of the file; one block is always allowed */
    uint64_t limit_bytes;
    uint32_t block_bytes; /* 0 means EP_SPOOL_BLOCK_BYTES */
    /* at most EP_SPOOL_MEM_BLOCKS; 0: EP_SPOOL_MEM_BLOCKS */
    uint32_t mem_blocks;
    uint32_t kept_blocks; /* further blocks kept in memory */
    /* Folder of the file. NULL: $TMPDIR, then /var/tmp, but neither if it lies
     * in memory. */
    const char *dir; /* copied */
    /* the folder may lie in memory, as the file is small */
    bool may_lie_in_memory;
    /* A call that returned OV_EAGAIN may succeed now. Called from the loop. */
    void (*on_change)(void *arg);
    void *arg;
};

/* Opens a spool; makes no file yet. Returns 0, OV_ENOMEM or OV_ESYS. */
int ep_spool_open(struct ep_writer *w, const struct ep_spool_cfg *cfg,
                  struct ep_spool **out);

/* Drops all bytes. The thread removes the file later. The memory is freed at
 * once, except blocks that the thread is writing or reading. NULL is fine.
 * O(blocks), does not wait. */
void ep_spool_close(struct ep_spool *sp);

/* Copies head and body, one after the other. Returns 0; OV_EAGAIN (blocks are
 * being written to the file; on_change follows); OV_EFULL (the limit is reached
 * or the file cannot be written: this may last until all parts have been
 * released); or OV_EINVAL when the bytes are more than a block. */
int ep_spool_put(struct ep_spool *sp, const void *head, uint32_t head_bytes,
                 const void *body, uint32_t body_bytes,
                 struct ep_spool_ref *out);

/* Copies as many of the bytes as fit into the block that is being filled, at
 * least one; out->len_bytes is their number. Returns what ep_spool_put
 * returns. */
int ep_spool_put_some(struct ep_spool *sp, const void *mem, uint32_t len_bytes,
                      struct ep_spool_ref *out);

/* Says whether puts of this many bytes in all, a block at most, would all
 * return 0 now. If not, returns the error of the first put that fails. O(1). */
int ep_spool_room(const struct ep_spool *sp, uint32_t len_bytes);

/* True when no further block stays in memory: bytes that are put now go to the
 * file when their block is full. O(1). */
bool ep_spool_is_saving(const struct ep_spool *sp);

/* Returns the errno for which the file cannot be used; 0 while it can. ENOTSUP:
 * the folders lie in memory. */
int ep_spool_errno(const struct ep_spool *sp);

/* Gets the bytes of a part. Returns 0 with *mem, which is valid until
 * ep_spool_release; OV_EAGAIN (the bytes are being read; on_change follows); or
 * OV_ESYS, with errno, when the file gives an error: the bytes are lost, and
 * must still be released. */
int ep_spool_get(struct ep_spool *sp, struct ep_spool_ref *ref,
                 const uint8_t **mem);

/* Ends the use of a part's memory after a successful or failed ep_spool_get, or
 * withdraws the request after OV_EAGAIN. The part can be read again. */
void ep_spool_let_go(struct ep_spool *sp, const struct ep_spool_ref *ref);

/* Frees the place of a part that will not be read again. */
void ep_spool_forget(struct ep_spool *sp, const struct ep_spool_ref *ref);

/* Calls ep_spool_let_go() and ep_spool_forget(). */
void ep_spool_release(struct ep_spool *sp, const struct ep_spool_ref *ref);

#endif
