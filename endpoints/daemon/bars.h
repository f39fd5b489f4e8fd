/* Progress bars in the output of a daemon's processes, of which the last state
 * of each line alone is kept (text/progress.h). */
#ifndef ENDPOINTS_DAEMON_BARS_H
#define ENDPOINTS_DAEMON_BARS_H

#include <stdbool.h>
#include <stdint.h>

/* As many channels of a daemon may hold a state at a time, in half a KiB each;
 * output of others comes as it is. */
enum { EP_BARS_MAX = 8192 };

/* All bars of a daemon; all zero at first. */
struct ep_bars {
    uint32_t count; /* channels that may hold one */
    /* what was left out */
    uint64_t left_states, left_bytes;
};

struct ep_bar; /* of one channel */

/* `bars` is borrowed. Returns NULL when there are EP_BARS_MAX, or memory is
 * out. */
struct ep_bar *ep_bar_open(struct ep_bars *bars);
void ep_bar_close(struct ep_bar *bar); /* NULL is fine */

/* As the functions of text/progress.h; what is left out is counted. The first
 * one moves at most `room` bytes. */
uint32_t ep_bar_begin(struct ep_bar *bar, uint8_t *dst, uint32_t room);
uint32_t ep_bar_keep(struct ep_bar *bar, uint8_t *mem, uint32_t len_bytes,
                     bool is_last);

#endif
