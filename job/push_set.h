/* Whom pushes of one writer are for.
 *
 * A message says it when it changes (overlay/wire/push.h). As those of several
 * writers go into one stream, the set of one is said anew when a message of
 * another one has gone there since.
 */
#ifndef JOB_PUSH_SET_H
#define JOB_PUSH_SET_H

#include <stdbool.h>
#include <stdint.h>

#include "overlay/wire/push.h"

/* All zero: none was said. */
struct job_push_set {
    struct topo_range *ranges; /* owned */
    uint32_t count, room;
};

void job_push_set_close(struct job_push_set *set);

/* Notes the set of a message that goes on its way. O(ranges). */
void job_push_set_note(struct job_push_set *set, struct ov_push push);

/* Writes the next message that names the set, from range number `from` on, of
 * at most size_bytes. Returns how many ranges are in it. */
uint32_t job_push_set_say(const struct job_push_set *set, uint32_t from,
                          struct ov_wr *wr, uint32_t size_bytes);

/* Adds the set to the message of *len_bytes in mem, which does not begin one,
 * if both have room in size_bytes and it names no ranges where the set has
 * some. False: nothing has changed. */
bool job_push_set_say_with(const struct job_push_set *set, uint8_t *mem,
                           uint32_t *len_bytes, uint32_t size_bytes);

#endif
