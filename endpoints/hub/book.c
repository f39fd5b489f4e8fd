/* The address book: a sorted array, which doubles when it is full. */
#include "endpoints/hub/book.h"

#include <stdlib.h>
#include <string.h>

#include "overlay/base/err.h"
#include "overlay/event.h"

enum { CAP_FIRST = 4 };

_Static_assert((int)EP_AUTH_NONCE_BYTES + (int)EP_ADDR_MAX <=
                   (int)OV_ADDRESS_MAX,
               "an entry is too long for the overlay");

void ep_book_fini(struct ep_book *book)
{
    free(book->at);
    *book = (struct ep_book){0};
}

/* Returns the index of the first entry whose node is `node` or above. */
static uint32_t lower_bound(const struct ep_book *book, uint32_t node)
{
    uint32_t low = 0, high = book->count;

    while (low < high) {
        uint32_t mid = low + (high - low) / 2;

        if (book->at[mid].node < node)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

static int grow_book(struct ep_book *book)
{
    uint32_t cap = book->cap == 0 ? CAP_FIRST : 2 * book->cap;
    struct ep_boot_peer *at;

    if (book->count < book->cap)
        return 0;
    at = reallocarray(book->at, cap, sizeof(*at));
    if (at == NULL)
        return OV_ENOMEM;
    book->at = at;
    book->cap = cap;
    return 0;
}

int ep_book_put(struct ep_book *book, const struct ep_boot_peer *peer)
{
    uint32_t place = lower_bound(book, peer->node);

    if (place == book->count || book->at[place].node != peer->node) {
        if (grow_book(book))
            return OV_ENOMEM;
        memmove(&book->at[place + 1], &book->at[place],
                (book->count - place) * sizeof(*book->at));
        book->count++;
    }
    book->at[place] = *peer;
    return 0;
}

const struct ep_boot_peer *ep_book_find(const struct ep_book *book,
                                        uint32_t node)
{
    uint32_t place = lower_bound(book, node);

    if (place == book->count || book->at[place].node != node)
        return NULL;
    return &book->at[place];
}

uint32_t ep_book_encode(const struct ep_boot_peer *peer, uint8_t *mem)
{
    size_t len_bytes = strlen(peer->address);

    memcpy(mem, peer->nonce, EP_AUTH_NONCE_BYTES);
    memcpy(mem + EP_AUTH_NONCE_BYTES, peer->address, len_bytes);
    return (uint32_t)(EP_AUTH_NONCE_BYTES + len_bytes);
}

int ep_book_decode(const uint8_t *mem, uint32_t len_bytes,
                   struct ep_boot_peer *peer)
{
    size_t text_bytes;

    if (len_bytes <= EP_AUTH_NONCE_BYTES ||
        len_bytes >= EP_AUTH_NONCE_BYTES + EP_ADDR_MAX)
        return OV_EPROTO;
    text_bytes = len_bytes - EP_AUTH_NONCE_BYTES;
    if (memchr(mem + EP_AUTH_NONCE_BYTES, '\0', text_bytes) != NULL)
        return OV_EPROTO;
    memcpy(peer->nonce, mem, EP_AUTH_NONCE_BYTES);
    memcpy(peer->address, mem + EP_AUTH_NONCE_BYTES, text_bytes);
    peer->address[text_bytes] = '\0';
    return 0;
}
