/* Progress bars: unfinished lines that are written over themselves by carriage
 * returns, of which the last state stands in a row beneath the output.
 *
 * A line becomes a bar with its first carriage return; without one it is a
 * prompt (endpoints/console/port.h). The bar is in the hands of this list until
 * its line ends. Then its last state is an ordinary line of output, as it looks
 * on a terminal. Nothing of a line is lost that is no earlier state of it: one
 * whose state becomes longer than EP_BAR_BYTES goes on as an ordinary
 * unfinished line. So does a new bar when there are EP_BARS_MAX.
 *
 * Memory: about 900 bytes for each bar at most.
 */
#ifndef ENDPOINTS_CONSOLE_BAR_SET_H
#define ENDPOINTS_CONSOLE_BAR_SET_H

#include <stdbool.h>
#include <stdint.h>

struct ep_bar_set;
struct ep_item;
struct ep_rows;

enum {
    EP_BAR_BYTES = 512, /* the longest state that is held */
    EP_BARS_MAX = 8192, /* bars at a time */
    /* The bound of all of them, as it counts for the launcher. */
    EP_BARS_BYTES = EP_BARS_MAX * 1024 + (1 << 18),
};

/* Opens an empty list, whose rows stand in `rows`, which is borrowed. NULL:
 * memory is out. */
struct ep_bar_set *ep_bar_set_open(struct ep_rows *rows);
/* Forgets all bars. NULL is fine. */
void ep_bar_set_close(struct ep_bar_set *bars);

/* Takes the bytes of an item in hand that belong to bars, and sets from_bytes,
 * to_bytes, text and is_bar of the item. `is_prompt` says that the line that it
 * continues is unfinished and no bar. `owner` stands for the descriptor to
 * which it goes. Returns true when the line that is unfinished after it is a
 * bar. O(its bytes). */
bool ep_bar_set_take(struct ep_bar_set *bars, const void *owner,
                     struct ep_item *item, bool is_prompt);

/* Ends one bar of this owner, whose channel has ended without a word, and makes
 * the item that shows its last state. Returns false when there is none.
 * O(bars).
 */
bool ep_bar_set_end(struct ep_bar_set *bars, const void *owner,
                    struct ep_item *item);

/* Forgets all bars of this owner. O(bars). */
void ep_bar_set_forget(struct ep_bar_set *bars, const void *owner);

/* Returns how many bars there are. */
uint32_t ep_bar_set_count(const struct ep_bar_set *bars);

#endif
