/* How far the library is behind with what it was given for one pull.
 *
 * It answers when it has queued a message, not when it has written it, and its
 * queue has no bound; a socket with room says nothing of it. So messages are
 * counted against the library's attempts to write to that tool, one message
 * each. An attempt may be for something else, or for a part: then a little more
 * is given. A message may be for nobody: so a count that stands still while the
 * socket has room is forgotten.
 */
#ifndef PMIX_API_HELPER_LAG_H
#define PMIX_API_HELPER_LAG_H

#include <stdbool.h>
#include <stdint.h>

enum { LAG_MESSAGES_MAX = 24, LAG_FORGET_MS = 50 };

struct px_lag {
    uint32_t unsent;
    uint64_t since_ms; /* it was looked at in vain; 0: it was not */
};

static inline void px_lag_given(struct px_lag *lag)
{
    lag->unsent++;
}

/* An attempt to write. True when somebody who waits should look again. */
static inline bool px_lag_sent(struct px_lag *lag)
{
    bool was_seen = lag->since_ms != 0;

    if (lag->unsent > 0)
        lag->unsent--;
    if (lag->unsent > LAG_MESSAGES_MAX / 2)
        return false;
    lag->since_ms = 0;
    return was_seen;
}

/* Is it to be given nothing for now? Its socket has room. */
static inline bool px_lag_holds(struct px_lag *lag, uint64_t now_ms)
{
    if (lag->since_ms == 0 && lag->unsent < LAG_MESSAGES_MAX)
        return false;
    if (lag->since_ms == 0)
        lag->since_ms = now_ms;
    if (now_ms - lag->since_ms < LAG_FORGET_MS)
        return true;
    *lag = (struct px_lag){0};
    return false;
}

/* When to look again at the latest; 0: it holds nobody. */
static inline uint64_t px_lag_due_ms(const struct px_lag *lag)
{
    return lag->since_ms == 0 ? 0 : lag->since_ms + LAG_FORGET_MS;
}

#endif
