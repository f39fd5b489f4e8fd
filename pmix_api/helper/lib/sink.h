/* Messages of output that are kept from the tool: what its library would show
 * although it is for a pull, and what a pull would get although it is not for
 * it.
 *
 * When a spawn forwards output, libpmix sends each delivery of that job also to
 * the tool's library, which writes it to its own stdout and stderr, whether or
 * not it is for a pull. Such a message is recognised by its beginning: the
 * process, the channel, and 0 in place of a pull's number. All other messages
 * of a delivery are for pulls.
 *
 * Not thread-safe. O(deliveries that are not written).
 */
#ifndef PMIX_API_HELPER_LIB_SINK_H
#define PMIX_API_HELPER_LIB_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <pmix_server.h>

enum px_sink_of {
    PX_SINK_SHOWN = 1, /* the message that is shown */
    PX_SINK_PULLS = 2, /* the messages for pulls */
};

/* Has these messages (enum px_sink_of) of a delivery left out. Nothing of the
 * delivery may be written yet; it has this many infos. Without memory they are
 * not left out. */
void px_sink_add(uint64_t number, unsigned which, const pmix_proc_t *source,
                 pmix_iof_channel_t channel, size_t infos);

/* True when this message is left out. `mem` is its body. In libpmix's thread,
 * with ascending numbers. */
bool px_sink_has(uint64_t number, const void *mem, size_t len_bytes);

#endif
