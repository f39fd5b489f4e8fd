/* What is left out of the output of a daemon's processes before it travels: a
 * chain between a channel and the tree.
 *
 *     channel -> the last state of progress bars (text/progress.h)
 *             -> lines (text/filter.h), some of which wait (held.h)
 *
 * All that is left out is counted once, by its reason. What the channel gave is
 * what the sieve gives, plus what it has left out.
 */
#ifndef ENDPOINTS_DAEMON_SIEVE_H
#define ENDPOINTS_DAEMON_SIEVE_H

#include <stdbool.h>
#include <stdint.h>

#include "endpoints/daemon/channel.h"
#include "endpoints/daemon/held.h"
#include "endpoints/daemon/last.h"
#include "text/left.h"

/* As many channels of a daemon may hold a state of a progress bar at a time, in
 * half a KiB each; output of others comes as it is. */
enum { EP_SIEVE_BARS_MAX = 8192 };

/* What all sieves of a daemon share; all zero at first. */
struct ep_sieve_pool {
    struct ep_held_pool held;
    uint32_t bars;    /* channels that may hold a state */
    uint8_t *scratch; /* owned */
};

struct ep_sieve_cfg {
    struct ep_sieve_pool *pool; /* borrowed, like all of these */
    /* NULL: no line is left out */
    const struct text_filter_rules *rules;
    bool keeps_last; /* of progress bars the last state alone is given */
    /* What the channel gave is added here; NULL: nowhere. */
    struct ep_last *last;
    uint32_t last_room;
};

struct ep_sieve; /* of one channel */

/* Returns NULL when memory is out, or when nothing is to be left out: then
 * *is_needed is false. */
struct ep_sieve *ep_sieve_open(const struct ep_sieve_cfg *cfg, bool *is_needed);
void ep_sieve_close(struct ep_sieve *sieve); /* NULL is fine */
void ep_sieve_pool_fini(struct ep_sieve_pool *pool);

/* As ep_channel_read(), through the sieve. EP_CHANNEL_END comes when what was
 * held back was given, too; the channel itself is read no further after its
 * own end. */
int ep_sieve_read(struct ep_sieve *sieve, struct ep_channel *channel,
                  uint64_t now_ns, uint8_t *dst, uint32_t room, uint32_t *got,
                  enum ep_channel_state *state);

/* How many bytes the channel gave so far. */
uint64_t ep_sieve_source(const struct ep_sieve *sieve);
/* Adds what was left out so far to left[TEXT_LEFT_REASONS], and to *limited the
 * lines that stayed because a limit was hit. */
void ep_sieve_left(const struct ep_sieve *sieve, struct text_left *left,
                   uint64_t *limited);

#endif
