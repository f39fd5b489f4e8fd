/* The addresses at which nodes listen: an address book by node number.
 *
 * It holds the planned ancestors of the nodes hosted here, which the start-up
 * text names, the children, which have sent their own addresses, and the
 * children of these children. A node has one entry: a later one replaces it.
 */
#ifndef ENDPOINTS_HUB_BOOK_H
#define ENDPOINTS_HUB_BOOK_H

#include <stdint.h>

#include "endpoints/boot/boot.h"

/* An all-zero book is empty. At most one entry for each node of the tree. */
struct ep_book {
    struct ep_boot_peer *at; /* owned; ascending by node */
    uint32_t count, cap;
};

void ep_book_fini(struct ep_book *book);

/* Copies the entry into the book. O(entries after it). Returns 0 or OV_ENOMEM;
 * nothing changes on error. */
int ep_book_put(struct ep_book *book, const struct ep_boot_peer *peer);

/* Returns the entry of a node, valid until the next ep_book_put(); NULL when
 * there is none. O(log entries). */
const struct ep_boot_peer *ep_book_find(const struct ep_book *book,
                                        uint32_t node);

/* Encodes an entry as a node sends it to its parent: the nonce, then the
 * address. Returns the number of bytes written to mem, OV_ADDRESS_MAX at
 * most. */
uint32_t ep_book_encode(const struct ep_boot_peer *peer, uint8_t *mem);
/* Decodes all members except `node`. Returns 0, or OV_EPROTO when the bytes are
 * too few or too many or have a NUL in the address; *peer is then unchanged. */
int ep_book_decode(const uint8_t *mem, uint32_t len_bytes,
                   struct ep_boot_peer *peer);

#endif
