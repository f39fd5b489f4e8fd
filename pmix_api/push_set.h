/* Whom pushes are for, of the processes of one job.
 *
 * A message says it when it changes (overlay/wire/push.h). As those to several
 * jobs are kept apart, each job has its part of a message; and as they go into
 * one stream, the set of a job is said anew when one of another job has gone
 * there since.
 */
#ifndef PMIX_API_PUSH_SET_H
#define PMIX_API_PUSH_SET_H

#include <stdbool.h>
#include <stdint.h>

#include "overlay/wire/push.h"

/* All zero: none was said. */
struct px_push_set {
    struct topo_range *ranges; /* owned */
    uint32_t count, room;
};

void px_push_set_close(struct px_push_set *set);

/* Notes the set of a message that goes on its way. O(ranges). */
void px_push_set_note(struct px_push_set *set, struct ov_push push);

/* Writes the next message that names the set, from range number `from` on, of
 * at most size_bytes. Returns how many ranges are in it. */
uint32_t px_push_set_say(const struct px_push_set *set, uint32_t from,
                         struct ov_wr *wr, uint32_t size_bytes);

/* Adds the set to the message of *len_bytes in mem, which names no ranges, if
 * both have room in size_bytes. False: nothing has changed. */
bool px_push_set_say_with(const struct px_push_set *set, uint8_t *mem,
                          uint32_t *len_bytes, uint32_t size_bytes);

/* Writes the part of a message that is for these processes to `out`, which has
 * room for the message. Returns its length; 0: none of it is for them.
 * *has_set: whether some of them are in the set that holds now. O(ranges). */
uint32_t px_push_part(const uint8_t *mem, struct ov_push push,
                      struct topo_range processes, bool *has_set, uint8_t *out);

#endif
