/* A queue of packets for an output that is slow: in memory first, then in a
 * file without a name.
 *
 * Packets are copied to the end and read from the front, each as it was put. A
 * packet that was read stays in the queue until it is forgotten; until then it
 * can be read again, from the first packet on. Packets lie in a spool
 * (sys/spool.h), one after the other. Those of one block make one stretch,
 * which is read and freed as a whole, so that packets cost no memory of their
 * own, however small they are. The event loop copies memory and waits for
 * nothing.
 *
 * Bounds: the memory of a spool with one read (EP_SPOOL_MEM_BLOCKS + 1 blocks,
 * kept_blocks, and about 50 bytes per block of the limit), limit_bytes of file,
 * and about 50 bytes per block that is in use. A packet takes four bytes more
 * than its length.
 */
#ifndef ENDPOINTS_SYS_HOARD_H
#define ENDPOINTS_SYS_HOARD_H

#include <stdbool.h>
#include <stdint.h>

struct ep_hoard;
struct ep_writer;

enum { EP_HOARD_HEAD_MAX = 128 };

struct ep_hoard_cfg {
    struct ep_writer *writer; /* borrowed, outlives the queue */
    /* most bytes of the file; one block is always allowed */
    uint64_t limit_bytes;
    uint32_t kept_blocks; /* has the same meaning as in ep_spool_cfg */
    const char *dir;      /* copied; NULL: chosen as in ep_spool_cfg */
    /* A call that returned OV_EAGAIN may succeed now. Called from the loop,
     * never from within a call; may call any function below, even
     * ep_hoard_close. */
    void (*on_change)(void *arg);
    void *arg;
};

/* Opens a queue; makes no file yet. Returns 0, OV_ENOMEM or OV_ESYS. */
int ep_hoard_open(const struct ep_hoard_cfg *cfg, struct ep_hoard **out);

/* Drops all packets, and the file as ep_spool_close does; no callback follows.
 * NULL is fine. O(blocks). */
void ep_hoard_close(struct ep_hoard *hoard);

/* Copies a packet of 1 byte or more to the end. O(bytes).
 *
 * Returns 0; OV_EAGAIN (blocks are being written to the file; on_change
 * follows); OV_EFULL (the limit is reached, the file cannot be written or
 * memory is out: try again later, at the latest when all packets are read);
 * OV_EINVAL when the packet is empty, or larger than EP_SPOOL_BLOCK_BYTES - 4.
 * The queue is unchanged after an error.
 */
int ep_hoard_put(struct ep_hoard *hoard, const void *mem, uint32_t len_bytes);

/* Puts a packet that lies in two parts: a head, of EP_HOARD_HEAD_MAX bytes at
 * most, and the bytes after it. Otherwise like ep_hoard_put(). */
int ep_hoard_put_parts(struct ep_hoard *hoard, const void *head,
                       uint32_t head_bytes, const void *mem,
                       uint32_t len_bytes);

/* Says whether puts of this many packets, with this many bytes in all, would
 * all return 0 now. If not, returns the error of the first put that fails;
 * OV_EFULL when they are more than a block. O(1). */
int ep_hoard_room(const struct ep_hoard *hoard, uint32_t packets,
                  uint64_t len_bytes);

/* Returns the errno for which the file cannot be used; 0 while it can. */
int ep_hoard_errno(const struct ep_hoard *hoard);

/* True when a packet that is put now goes to the file, unless packets are
 * forgotten soon. O(1). */
bool ep_hoard_is_saving(const struct ep_hoard *hoard);

/* Gets the next packet; the same one until ep_hoard_pass or ep_hoard_drop. *mem
 * is valid until then, whatever is put meanwhile. O(1); the thread has to read
 * a block of the file now and then.
 *
 * Returns 0; OV_ENOENT when there is no packet; OV_EAGAIN (the packet is being
 * read; on_change follows); or OV_ESYS, with errno, when the file gives an
 * error. After OV_ESYS a stretch of at most one block is lost, and *len_bytes
 * is the number of its packets' bytes; ep_hoard_pass then goes past the whole
 * stretch, and packets after it may be readable. Other errors leave the outputs
 * unchanged.
 */
int ep_hoard_get(struct ep_hoard *hoard, const uint8_t **mem,
                 uint32_t *len_bytes);

/* Goes past what the last ep_hoard_get gave, a packet or a lost stretch, which
 * stays in the queue until it is forgotten. Returns the number of packets
 * passed. Only after a get that returned 0 or OV_ESYS, once. O(1). */
uint32_t ep_hoard_pass(struct ep_hoard *hoard);

/* Says that packets before the one with this number are no longer needed. The
 * first packet ever put has the number 0. All of them must have been passed.
 * O(blocks that become free). */
void ep_hoard_forget(struct ep_hoard *hoard, uint64_t before);

/* Makes the first packet that is not forgotten the next one to get. O(1). */
void ep_hoard_rewind(struct ep_hoard *hoard);

/* Passes the packet and forgets all before the next one. For an owner that
 * reads each packet once. */
void ep_hoard_drop(struct ep_hoard *hoard);

/* Returns the number of packets passed so far, which is the number of the next
 * one. */
uint64_t ep_hoard_passed(const struct ep_hoard *hoard);

/* True when all packets are forgotten. */
bool ep_hoard_is_empty(const struct ep_hoard *hoard);

#endif
