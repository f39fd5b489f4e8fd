/* The colour in which a terminal would write next: whether a process has left
 * one on (SGR, `ESC [ ... m'), in which nobody else's line should be. */
#ifndef ENDPOINTS_CONSOLE_COLOUR_H
#define ENDPOINTS_CONSOLE_COLOUR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What ends all colours. */
#define EP_COLOUR_END "\033[0m"

enum ep_colour_state {
    EP_COLOUR_TEXT,
    EP_COLOUR_ESCAPE,   /* after ESC */
    EP_COLOUR_SEQUENCE, /* after ESC [ */
};

/* All zero: no colour is on. */
struct ep_colour {
    uint32_t proc; /* the process that wrote last */
    enum ep_colour_state state;
    bool is_on;
    bool is_zero; /* in a sequence: its last number is 0, or there is none */
};

/* Notes what a process writes to the terminal. O(bytes). */
void ep_colour_take(struct ep_colour *colour, uint32_t proc, const uint8_t *mem,
                    size_t len_bytes);

/* True when another process than this one has left a colour on. */
static inline bool ep_colour_is_strange(const struct ep_colour *colour,
                                        uint32_t proc)
{
    return colour->is_on && colour->proc != proc;
}

#endif
