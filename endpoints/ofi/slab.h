/* Registered buffers.
 *
 * Memory is allocated in slabs of several buffers. A slab is mapped and
 * registered once, and its pages become resident only when buffers are used.
 * The free list is last in, first out, so that a quiet process uses few pages.
 * Slabs are freed at close: the protocol's windows bound how many there are.
 *
 * Buffers of which only the first page was touched (clean ones) have a free
 * list of their own. They are for receives of surplus links, of which there may
 * be many and which usually get short messages of neighbours: such a link then
 * takes one page for each receive, not the size of a frame. Where the provider
 * pins registered memory this makes no difference.
 */
#ifndef ENDPOINTS_OFI_SLAB_H
#define ENDPOINTS_OFI_SLAB_H

#include "endpoints/ofi/ofi.h"

/* Returns a buffer with one reference and len_bytes 0; NULL when memory is
 * out. */
struct ov_buf *ep_slab_get(struct ep_transport *t);

/* Returns such a buffer of which at most one page is resident. Costs a system
 * call when only touched buffers are free. */
struct ov_buf *ep_slab_get_clean(struct ep_transport *t);

/* Takes back a buffer whose last reference was dropped. */
void ep_slab_put(struct ep_transport *t, struct ov_buf *buf);

/* Drops one reference and takes the buffer back when it was the last. */
void ep_slab_unref(struct ep_transport *t, struct ov_buf *buf);

/* Returns the descriptor that libfabric needs with every operation on the
 * buffer. */
void *ep_slab_desc(const struct ov_buf *buf);

void ep_slab_close(struct ep_transport *t);

#endif
