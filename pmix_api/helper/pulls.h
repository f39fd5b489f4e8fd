/* The pulls of all tools: what each wants, and what waits for it.
 *
 * A pull begins in the library's thread, which asks for it; it gets output from
 * the time on at which the launcher says so. It ends with the last of its
 * channels, when the library has been given the end of that; or when the
 * library does not know its request any more: the tool has deregistered, left
 * or died. Whether that is so is asked of the library by a delivery that is for
 * nobody: for each request that it knows the function of helper/hooks.h is
 * called.
 *
 * Thread-safe; a lock is held for as long as a batch takes to copy.
 */
#ifndef PMIX_API_HELPER_PULLS_H
#define PMIX_API_HELPER_PULLS_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>

#include <pmix_server.h>

#include "pmix_api/helper/sockets.h"
#include "pmix_api/helper/target.h"
#include "pmix_api/wire.h"

enum {
    PULLS_MAX = 128,
    PULLS_MESSAGE_BYTES = 16 * 1024, /* what an output counts beside its own */
};

/* Who gets an output: names of the library's. */
struct px_receiver {
    const void *request;   /* NULL: all that want it */
    const void *tool;      /* NULL: it does not say */
    struct px_socket sock; /* the tool's; fd -1: not seen yet */
};

/* Once, when the job is known and before the library is started, from when on
 * tools may come; `dir` is borrowed. */
void px_pulls_open(const char *dir);

/* Once, when the library has started: does it come by our hooks? Blocks. */
void px_pulls_try(void);

/* Requests can be told from one another: several are served at a time. */
bool px_pulls_are_many(void);

/* A tool asks, in the library's thread: PMIX_SUCCESS, or why not. One target at
 * least. */
pmix_status_t px_pulls_add(const struct px_targets *targets,
                           const pmix_info_t info[], size_t infos,
                           pmix_iof_channel_t channels);

/* A tool has deregistered something, or gone: which pulls are over? */
void px_pulls_probe(void);

/* --- The main thread. */

/* Output for all that want it, or for the pull that is named. Its bytes stay
 * until px_deliver_borrows() nothing any more, or are copied. */
void px_pulls_put(const struct px_output *output, uint64_t now_ms, bool stays);

/* What is to be delivered next: takes outputs of about `bytes` from pulls
 * whose tools take something, and hands each to `give`. An output's bytes are
 * in what `room` has said just before (PX_QUEUE_PACKET_MAX), or elsewhere until
 * `give` is back. Fills in the sockets of those that take nothing and for which
 * something waits (TOOLS_MAX), and returns how many. */
struct px_pulls_taker {
    uint8_t *(*room)(void);
    void (*give)(const struct px_output *output, const struct px_receiver *to);
};
unsigned px_pulls_take(uint64_t now_ms, uint32_t bytes,
                       const struct px_pulls_taker *taker,
                       struct pollfd *stuck);

/* No more output is to be taken in for now: the library is behind, or a tool
 * for a moment. Not for long, where it stands still. */
bool px_pulls_hold(uint64_t now_ms);

/* Forgets the pulls that are over and tells the launcher; last: also what the
 * others have not taken. */
void px_pulls_reap(bool last);

/* Bytes of payload that wait; when time makes some of them go (0: never). */
uint64_t px_pulls_left_bytes(void);
uint64_t px_pulls_due_ms(void);
/* From now on nothing is held back to be put together. */
void px_pulls_flush(void);

#endif
