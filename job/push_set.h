/* The set of processes that the pushes of one writer are for.
 *
 * A message names its set only when the set changes (overlay/wire/push.h). As
 * messages of several writers go into one stream, the set of a writer is named
 * again when a message of another writer was sent since.
 */
#ifndef JOB_PUSH_SET_H
#define JOB_PUSH_SET_H

#include <stdbool.h>
#include <stdint.h>

#include "overlay/wire/push.h"

/* All zero: no set was named. */
struct job_push_set {
    struct topo_range *ranges; /* owned */
    uint32_t count, room;
};

void job_push_set_close(struct job_push_set *set);

/* Notes the set of a message that is sent. O(ranges). */
void job_push_set_note(struct job_push_set *set, struct ov_push push);

/* Writes a message, of at most size_bytes, that names the set from range number
 * `from` on. Returns how many ranges it names. */
uint32_t job_push_set_say(const struct job_push_set *set, uint32_t from,
                          struct ov_wr *wr, uint32_t size_bytes);

/* Adds the set to the message of *len_bytes in mem, which must not begin a set
 * of its own. This needs room in size_bytes, and a message that names no ranges
 * where the set has some. False: it was not possible, and nothing has
 * changed. */
bool job_push_set_say_with(const struct job_push_set *set, uint8_t *mem,
                           uint32_t *len_bytes, uint32_t size_bytes);

#endif
