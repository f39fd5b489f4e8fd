/* The processes for which the pushes of one writer to stdin are.
 *
 * A push names its set of processes only when the set differs from that of the
 * push before it (overlay/wire/push.h). As several writers share one stream, a
 * writer's set is named again when a push of another writer came in between.
 */
#ifndef JOB_PUSH_SET_H
#define JOB_PUSH_SET_H

#include <stdbool.h>
#include <stdint.h>

#include "overlay/wire/push.h"

/* When all members are zero the writer has named no set yet. */
struct job_push_set {
    struct topo_range *ranges; /* owned */
    uint32_t count, room;
};

void job_push_set_close(struct job_push_set *set);

/* Notes the ranges that a push of this writer names: they begin its set anew,
 * or continue it. O(ranges). */
void job_push_set_note(struct job_push_set *set, struct ov_push push);

/* Writes a push without bytes, of at most size_bytes, that names the set's
 * ranges from number `from` on. Returns how many ranges it names. */
uint32_t job_push_set_say(const struct job_push_set *set, uint32_t from,
                          struct ov_wr *wr, uint32_t size_bytes);

/* Adds the set to the push of *len_bytes in mem, which must not begin a set of
 * its own. Returns false, and changes nothing, when the result would be longer
 * than size_bytes, or the push names ranges already while the set has some,
 * too. */
bool job_push_set_say_with(const struct job_push_set *set, uint8_t *mem,
                           uint32_t *len_bytes, uint32_t size_bytes);

#endif
