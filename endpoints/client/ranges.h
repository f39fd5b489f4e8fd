/* Ranges of process numbers that a client names, in one message or in several.
 */
#ifndef ENDPOINTS_CLIENT_RANGES_H
#define ENDPOINTS_CLIENT_RANGES_H

#include <stdbool.h>
#include <stdint.h>

#include "overlay/base/wire.h"
#include "topo/ranges.h"

/* Adds the ranges that a message lists, each as two u32, to a set. The set is
 * all zero at first, and owns its items afterwards. Returns false when a range
 * is empty, is not inside `within` or does not lie behind all ranges before it,
 * when there would be more than `max` ranges, or when memory is out; the set
 * then has the ranges before that one. O(ranges). */
bool ep_ranges_read(struct topo_ranges *set, struct ov_rd rest,
                    struct topo_range within, uint32_t max);

/* Frees the items and makes the set empty. */
void ep_ranges_clear(struct topo_ranges *set);

#endif
