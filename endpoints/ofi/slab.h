/* Registered buffers.
 *
 * Memory comes in slabs of several buffers, mapped, registered once and
 * touched by use only. The free list is last in, first out, so that a quiet
 * process keeps few pages. Slabs are given back at close: the protocol's
 * windows bound how many there are.
 *
 * Buffers of which no more than the first page was touched are apart. They are
 * for receives of surplus links, of which there may be many and which get words
 * of neighbours as a rule: such a link then takes a page for each receive, and
 * not what a frame may have. Where the provider pins what is registered there
 * is no difference.
 */
#ifndef ENDPOINTS_OFI_SLAB_H
#define ENDPOINTS_OFI_SLAB_H

#include "endpoints/ofi/ofi.h"

/* A buffer with one reference and len_bytes 0, or NULL when memory is out. */
struct ov_buf *ep_slab_get(struct ep_transport *t);

/* The same, of which one page at most is resident; a system call when a touched
 * one has to do. */
struct ov_buf *ep_slab_get_clean(struct ep_transport *t);

/* Takes back a buffer whose last reference was dropped. */
void ep_slab_put(struct ep_transport *t, struct ov_buf *buf);

/* Drops one reference and takes the buffer back when it was the last. */
void ep_slab_unref(struct ep_transport *t, struct ov_buf *buf);

/* The descriptor to pass with every operation on the buffer. */
void *ep_slab_desc(const struct ov_buf *buf);

void ep_slab_close(struct ep_transport *t);

#endif
