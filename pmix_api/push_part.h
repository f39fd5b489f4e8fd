/* A push of a tool may be for several jobs, whose pushes are kept apart: each
 * job has its part of a message (overlay/wire/push.h). */
#ifndef PMIX_API_PUSH_PART_H
#define PMIX_API_PUSH_PART_H

#include <stdbool.h>
#include <stdint.h>

#include "overlay/wire/push.h"

/* Writes the part of a message that is for these processes to `out`, which has
 * room for the message. Returns its length; 0: none of it is for them.
 * *has_set: whether some of them are in the set that holds now. O(ranges). */
uint32_t px_push_part(const uint8_t *mem, struct ov_push push,
                      struct topo_range processes, bool *has_set, uint8_t *out);

#endif
