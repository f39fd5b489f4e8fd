/* The launcher knows of a pull: its tool gets what comes from now on.
 *
 * The library wants the answer to a pull at once, and with that the tool may
 * let processes go on whose output it is to have. So the answer waits for the
 * launcher, which takes some tenths of a millisecond.
 */
#ifndef PMIX_API_HELPER_LIVE_H
#define PMIX_API_HELPER_LIVE_H

#include <stdint.h>

/* The launcher's word, in the main thread: a pull gets all that it wants from
 * here on. */
void px_pulls_live(uint32_t id);

/* Waits for it in the library's thread, a second at most: a launcher that is
 * stopped or stuck holds up nobody else for longer, and the tool gets what
 * comes when it goes on. */
void px_live_await(uint32_t id);

#endif
