/* What bytes look like on a terminal, as a text that stays in one row of it.
 *
 * Characters and colours (`ESC [ ... m`) are kept, and what erases the row
 * (`ESC [ 2 K`) takes away what stood there. Backspaces and tabs do what they
 * do on a terminal. All else that moves the cursor, or is no character, is left
 * out. Pure.
 */
#ifndef TEXT_CELLS_H
#define TEXT_CELLS_H

#include <stdint.h>

enum {
    /* room for the end of a colour, which is kept free until the end */
    TEXT_CELLS_END_BYTES = 4,
    TEXT_CELLS_ANY = 1 << 20, /* as columns: as wide as there is room */
};

/* Writes at most `columns` columns of what these bytes look like, in at most
 * room_bytes bytes, which are TEXT_CELLS_END_BYTES or more. The first
 * head_bytes bytes are never erased. Colours end with the text. O(len_bytes +
 * columns). Returns the bytes written. */
uint32_t text_cells_put(const uint8_t *mem, uint32_t len_bytes,
                        uint32_t head_bytes, uint32_t columns, uint8_t *dst,
                        uint32_t room_bytes);

/* Returns how many columns a character takes, 0 to 2, by its number in Unicode.
 * O(ranges). */
uint32_t text_cells_width(uint32_t character);

#endif
