/* Finds messages of output that must be kept from the tool: those that its
 * library would show although the output is for a pull, and those that a pull
 * would get although the output is to be shown.
 *
 * When a spawn forwards output, libpmix sends each delivery of that job also to
 * the tool's library, which writes it to its own stdout and stderr, whether or
 * not it is for a pull. That message to the tool's library is recognised by its
 * beginning: the process, the channel, and 0 in place of a pull's number. All
 * other messages of a delivery are for pulls.
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
    PX_SINK_SHOWN = 1, /* the message that the tool's library shows */
    PX_SINK_PULLS = 2, /* the messages for pulls */
};

/* Notes that messages of a delivery are to be left out: `which` is bits of enum
 * px_sink_of. No part of the delivery may have been written yet; `infos` is the
 * number of its infos. When memory is out, nothing is left out. */
void px_sink_add(uint64_t number, unsigned which, const pmix_proc_t *source,
                 pmix_iof_channel_t channel, size_t infos);

/* True when a message of delivery `number`, with the body `mem`, is to be left
 * out. To be called in libpmix's thread, with ascending numbers. */
bool px_sink_has(uint64_t number, const void *mem, size_t len_bytes);

#endif
