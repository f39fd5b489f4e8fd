/* Progress bars: of a line that is written over itself, by carriage returns,
 * keeps the last state alone.
 *
 * A state ends with a carriage return that more text of its line follows. One
 * before a newline, or at the end of what was written so far, belongs to the
 * last state. Pure.
 */
#ifndef TEXT_PROGRESS_H
#define TEXT_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

enum { TEXT_PROGRESS_MAX = 512 }; /* the longest state that is held */

/* All zero at first. */
struct text_progress {
    uint64_t left_states; /* states that were left out, and their bytes with */
    uint64_t left_bytes;  /* their carriage returns */
    uint32_t held_bytes;
    bool is_bar; /* the line of what is held has had a carriage return */
    uint8_t held[TEXT_PROGRESS_MAX]; /* the state of a line that is not over */
};

/* Moves what is held to dst, as far as there is room for it, and returns how
 * many bytes it was. New bytes follow them. */
uint32_t text_progress_begin(struct text_progress *progress, uint8_t *dst,
                             uint32_t room);

/* Leaves out of `len_bytes` bytes at mem, which begin with what was held, all
 * states but the last of each line, and holds the state of a line that is not
 * over, unless it is longer than TEXT_PROGRESS_MAX, or no bar, or nothing
 * follows (is_last). Returns how many bytes at mem are left. O(len_bytes). */
uint32_t text_progress_keep(struct text_progress *progress, uint8_t *mem,
                            uint32_t len_bytes, bool is_last);

#endif
