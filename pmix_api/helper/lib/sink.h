/* Messages of output that the tool is not to have: what its library would show
 * by itself though a pull has it, and what a pull would get that is not its
 * own.
 *
 * With a spawn that forwards output libpmix sends each delivery of that job to
 * the tool's library, too, which writes it to its own stdout and stderr;
 * whether or not a pull has it. These messages are known by how they begin: who
 * has written it, where, and the number 0 in the place of that of a pull; all
 * others of a delivery are of pulls.
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
    PX_SINK_SHOWN = 1, /* that which is shown */
    PX_SINK_PULLS = 2, /* those of pulls */
};

/* Has these messages (enum px_sink_of) of the delivery with this number left
 * out, of which nothing is written yet; it has so many infos. Where memory is
 * out they are not. */
void px_sink_add(uint64_t number, unsigned which, const pmix_proc_t *source,
                 pmix_iof_channel_t channel, size_t infos);

/* Is it such a message? `mem` is its body; in libpmix's thread, with numbers in
 * their order. */
bool px_sink_has(uint64_t number, const void *mem, size_t len_bytes);

#endif
