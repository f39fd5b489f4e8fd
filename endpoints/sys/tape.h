/* The bytes of a stream between two positions, for slow readers, each at a
 * position of its own: in memory first, then in a file without a name.
 *
 * Bytes are copied to the end, read anywhere between, and forgotten from the
 * front. They lie in a spool (sys/spool.h), whose blocks they fill without
 * gaps, so that a position says where a byte is. The file is never larger than
 * the most that was held at once, however much goes through it. The event loop
 * copies memory and waits for nothing.
 *
 * Bounds: the memory of a spool with one read, limit_bytes of file, and 4 bytes
 * for each block of the file.
 */
#ifndef ENDPOINTS_SYS_TAPE_H
#define ENDPOINTS_SYS_TAPE_H

#include <stdint.h>

#include "endpoints/sys/spool.h"

struct ep_tape;

/* Opens a tape; makes no file yet. cfg->block_bytes must be given. Returns 0,
 * OV_ENOMEM or OV_ESYS. */
int ep_tape_open(struct ep_writer *w, const struct ep_spool_cfg *cfg,
                 struct ep_tape **out);

/* Drops all bytes, and the file as ep_spool_close does. NULL is fine. */
void ep_tape_close(struct ep_tape *tape);

/* Forgets everything: the next byte that is put has the position `pos`. */
void ep_tape_start(struct ep_tape *tape, uint64_t pos);

/* Returns the position after the last byte that was put. */
uint64_t ep_tape_end(const struct ep_tape *tape);

/* Copies bytes to the end. Returns 0 when all of them were copied. Otherwise
 * ep_tape_end says how many were, and the caller puts the rest again: after
 * OV_EAGAIN when on_change was called, after OV_EFULL when something was
 * forgotten (everything, if ep_tape_errno is not 0). */
int ep_tape_put(struct ep_tape *tape, const uint8_t *mem, uint32_t len_bytes);

/* Returns the errno for which the file cannot be used; 0 while it can. ENOTSUP:
 * the folders lie in memory. */
int ep_tape_errno(const struct ep_tape *tape);

/* Gets the bytes from `pos` on, which must have been put and not forgotten: at
 * most *len_bytes of them, and at least one. Returns 0 with *mem, which is
 * valid until ep_tape_let_go; OV_EAGAIN: the bytes are being read, ask again
 * after on_change; or OV_ESYS, with errno, when the file gives an error. No
 * other bytes may be asked for before ep_tape_let_go. */
int ep_tape_get(struct ep_tape *tape, uint64_t pos, uint32_t *len_bytes,
                const uint8_t **mem);

/* Ends the last ep_tape_get, or withdraws it. Fine when there was none. */
void ep_tape_let_go(struct ep_tape *tape);

/* Forgets the bytes before `pos`, which nobody needs. O(blocks that become
 * free). */
void ep_tape_forget(struct ep_tape *tape, uint64_t pos);

#endif
