/* Keeps the set of processes that one writer pushes to. */
#include "job/push_set.h"

#include <stdlib.h>
#include <string.h>

#include "overlay/base/panic.h"

void job_push_set_close(struct job_push_set *set)
{
    free(set->ranges);
    *set = (struct job_push_set){.ranges = NULL};
}

/* Ends the program when memory is out: without the set no push can be sent, and
 * it never needs more than a job has processes. */
static void add_range(struct job_push_set *set, struct topo_range range)
{
    if (set->count == set->room) {
        set->room = set->room > 0 ? set->room * 2 : 4;
        set->ranges =
            reallocarray(set->ranges, set->room, sizeof(set->ranges[0]));
        OV_ASSERT(set->ranges != NULL);
    }
    set->ranges[set->count++] = range;
}

void job_push_set_note(struct job_push_set *set, struct ov_push push)
{
    if ((push.flags & OV_PUSH_NEW) != 0)
        set->count = 0;
    for (unsigned i = 0; i < push.ranges; i++)
        add_range(set, ov_push_range(&push));
}

uint32_t job_push_set_say(const struct job_push_set *set, uint32_t from,
                          struct ov_wr *wr, uint32_t size_bytes)
{
    uint32_t room = (size_bytes - OV_PUSH_HEAD_BYTES) / OV_PUSH_RANGE_BYTES;
    uint32_t left = set->count - from;
    uint32_t count = left < room ? left : room;
    uint16_t flags = OV_PUSH_MORE | (from == 0 ? OV_PUSH_NEW : 0);

    ov_push_encode(wr, flags, set->ranges + from, (uint16_t)count);
    return count;
}

bool job_push_set_say_with(const struct job_push_set *set, uint8_t *mem,
                           uint32_t *len_bytes, uint32_t size_bytes)
{
    uint64_t set_bytes = (uint64_t)set->count * OV_PUSH_RANGE_BYTES;
    struct ov_push push;
    struct ov_wr wr;

    OV_ASSERT(ov_push_decode(mem, *len_bytes, &push) == 0);
    if (set->count == 0) { /* the ranges that the push itself names are the
                              whole set */
        wr = ov_wr_init(mem, sizeof(push.flags));
        ov_wr_u16(&wr, push.flags | OV_PUSH_NEW);
        return true;
    }
    if (push.ranges > 0 || *len_bytes + set_bytes > size_bytes)
        return false;
    memmove(mem + OV_PUSH_HEAD_BYTES + set_bytes, mem + push.off_bytes,
            push.len_bytes);
    wr = ov_wr_init(mem, OV_PUSH_HEAD_BYTES + (size_t)set_bytes);
    ov_push_encode(&wr, push.flags | OV_PUSH_NEW, set->ranges,
                   (uint16_t)set->count);
    *len_bytes += (uint32_t)set_bytes;
    return true;
}
