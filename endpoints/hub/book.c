/* The address book: an ascending array that doubles. */
#include "endpoints/hub/book.h"

#include <stdlib.h>
#include <string.h>

#include "overlay/base/err.h"

enum { CAP_FIRST = 4 };

void ep_book_fini(struct ep_book *book)
{
    free(book->at);
    *book = (struct ep_book){0};
}

/* The first entry at or above node. */
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

static int grow(struct ep_book *book)
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
        if (grow(book))
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
