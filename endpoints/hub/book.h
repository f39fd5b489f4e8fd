/* Where nodes listen: an address book by node number.
 *
 * It has the planned ancestors of the nodes hosted here, as the start-up text
 * tells them, the children that gave their own address, and the children of
 * those. A number has one place, so a later entry replaces an earlier one.
 */
#ifndef ENDPOINTS_HUB_BOOK_H
#define ENDPOINTS_HUB_BOOK_H

#include <stdint.h>

#include "endpoints/boot/boot.h"

/* All zero: empty. At most one entry for each node of the tree. */
struct ep_book {
    struct ep_boot_peer *at; /* owned; ascending by node */
    uint32_t count, cap;
};

void ep_book_fini(struct ep_book *book);

/* Copies the entry. O(entries above it). Returns 0 or OV_ENOMEM; nothing
 * changes on error. */
int ep_book_put(struct ep_book *book, const struct ep_boot_peer *peer);

/* The entry, valid until the next ep_book_put(); NULL: there is none. O(log
 * entries). */
const struct ep_boot_peer *ep_book_find(const struct ep_book *book,
                                        uint32_t node);

/* Writes an entry as a node tells it to its parent: the nonce, then the
 * address. Returns how many bytes of mem it takes, OV_ADDRESS_MAX at most. */
uint32_t ep_book_encode(const struct ep_boot_peer *peer, uint8_t *mem);
/* Reads all but the node. Returns 0, or OV_EPROTO when it is too short or too
 * long or has a NUL in its address; *peer is then unchanged. */
int ep_book_decode(const uint8_t *mem, uint32_t len_bytes,
                   struct ep_boot_peer *peer);

#endif
