/* Output that the library of the tool is not to show by itself.
 *
 * With a spawn that forwards output libpmix sends each delivery of that job to
 * the tool's library, too, which writes it to its own stdout and stderr;
 * whether or not a pull has it. These messages are known by how they begin: who
 * has written it, where, and the number 0 in the place of that of a pull.
 *
 * Not thread-safe. O(deliveries that are not written).
 */
#ifndef PMIX_API_HELPER_LIB_SINK_H
#define PMIX_API_HELPER_LIB_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <pmix_server.h>

/* That of this number, of which nothing is written, is not to be shown; once;
 * it has so many infos. Where memory is out it is shown all the same. */
void px_sink_add(uint64_t number, const pmix_proc_t *source,
                 pmix_iof_channel_t channel, size_t infos);

/* Is it such a message? `mem` is its body; in libpmix's thread, with numbers in
 * their order. */
bool px_sink_has(uint64_t number, const void *mem, size_t len_bytes);

#endif
