/* All who are to know of a pull know of it: its tool gets what is written from
 * now on.
 *
 * The library wants the answer to a pull at once, and with that the tool may
 * let processes go on whose output it is to have. So the answer waits: for the
 * launcher, some tenths of a millisecond, and where output from before is asked
 * for until the nodes have heard of it, as long as a word takes down the tree
 * and another one up. What is written before that is from before, and of this
 * only so much is kept.
 */
#ifndef PMIX_API_HELPER_LIVE_H
#define PMIX_API_HELPER_LIVE_H

#include <stdbool.h>
#include <stdint.h>

/* The launcher's word, in the main thread: a pull gets all that it wants from
 * here on. */
void px_pulls_live(uint32_t id);
/* Or: it gets each channel at its turn, and all nodes have heard of it. */
void px_live_heard(uint32_t id);

/* Waits for one of them in the library's thread, a second at most, so that
 * a launcher or a node that is stopped holds up nobody else for longer; and for
 * ten seconds after that no other pull waits, unless the word has come. The
 * tool then gets what comes when they go on. */
void px_live_await(uint32_t id);

/* Somebody does. Any thread. */
bool px_live_is_awaited(void);

#endif
