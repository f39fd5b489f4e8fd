/* Leaves out states of progress bars. */
#include "config.h"

#include "text/progress.h"

#include <string.h>

uint32_t text_progress_begin(struct text_progress *progress, uint8_t *dst,
                             uint32_t room)
{
    const uint32_t len_bytes =
        progress->held_bytes < room ? progress->held_bytes : room;

    memcpy(dst, progress->held, len_bytes);
    progress->held_bytes -= len_bytes;
    memmove(progress->held, progress->held + len_bytes, progress->held_bytes);
    return len_bytes;
}

/* Returns the length of the states of this line that another one follows; the
 * newline is left out of the line. */
static uint32_t old_states(const uint8_t *line, uint32_t len_bytes)
{
    const uint8_t *last;

    while (len_bytes > 0 && line[len_bytes - 1] == '\r')
        len_bytes--;
    last = len_bytes > 0 ? memrchr(line, '\r', len_bytes) : NULL;
    return last != NULL ? (uint32_t)(last - line) + 1 : 0;
}

static void count(struct text_progress *progress, const uint8_t *states,
                  uint32_t len_bytes)
{
    progress->left_bytes += len_bytes;
    for (uint32_t i = 1; i < len_bytes; i++)
        progress->left_states += states[i] == '\r' && states[i - 1] != '\r';
}

/* Holds the state of a line that is not over, if it is one. */
static bool hold(struct text_progress *progress, const uint8_t *state,
                 uint32_t len_bytes, bool is_bar)
{
    if (len_bytes > TEXT_PROGRESS_MAX ||
        (!is_bar && memchr(state, '\r', len_bytes) == NULL))
        return false;
    memcpy(progress->held, state, len_bytes);
    progress->held_bytes = len_bytes;
    progress->is_bar = true;
    return true;
}

uint32_t text_progress_keep(struct text_progress *progress, uint8_t *mem,
                            uint32_t len_bytes, bool is_last)
{
    bool is_bar = progress->is_bar;
    uint32_t at = 0, out = 0;

    progress->is_bar = false;
    while (at < len_bytes) {
        const uint8_t *newline = memchr(mem + at, '\n', len_bytes - at);
        const uint32_t end =
            newline != NULL ? (uint32_t)(newline - mem) : len_bytes;
        const uint32_t old = old_states(mem + at, end - at);
        const uint32_t left = end - at - old + (newline != NULL);

        count(progress, mem + at, old);
        if (newline == NULL && !is_last &&
            hold(progress, mem + at + old, left, is_bar || old > 0))
            return out;
        memmove(mem + out, mem + at + old, left);
        out += left;
        at = end + (newline != NULL);
        is_bar = false;
    }
    return out;
}
