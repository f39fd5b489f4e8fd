/* Finds sequences of colour in what goes to a terminal. */
#include "config.h"

#include "endpoints/console/colour.h"

#include <string.h>

enum { ESC = 0x1b };

static void take_in_sequence(struct ep_colour *colour, uint8_t byte)
{
    if (byte == ';' || byte == ':') {
        colour->is_zero = true;
    } else if (byte >= '0' && byte <= '9') {
        colour->is_zero = colour->is_zero && byte == '0';
    } else {
        if (byte == 'm')
            colour->is_on = !colour->is_zero;
        colour->state = byte == ESC ? EP_COLOUR_ESCAPE : EP_COLOUR_TEXT;
    }
}

void ep_colour_take(struct ep_colour *colour, uint32_t proc, const uint8_t *mem,
                    size_t len_bytes)
{
    const uint8_t *end = mem + len_bytes;

    if (len_bytes == 0)
        return;
    if (colour->proc != proc)
        *colour = (struct ep_colour){.proc = proc};
    for (const uint8_t *at = mem; at < end; at++) {
        switch (colour->state) {
        case EP_COLOUR_TEXT:
            at = memchr(at, ESC, (size_t)(end - at));
            if (at == NULL)
                return;
            colour->state = EP_COLOUR_ESCAPE;
            break;
        case EP_COLOUR_ESCAPE:
            colour->state = *at == '['   ? EP_COLOUR_SEQUENCE
                            : *at == ESC ? EP_COLOUR_ESCAPE
                                         : EP_COLOUR_TEXT;
            colour->is_zero = true;
            break;
        case EP_COLOUR_SEQUENCE:
            take_in_sequence(colour, *at);
            break;
        }
    }
}
