/* Records which channels wait for their earlier output. */
#include "job/late.h"

#include <stdlib.h>

#include "overlay/base/err.h"
#include "overlay/base/panic.h"

enum {
    UNHEARD = 1, /* a flag in bit 0 of `waits`, which stands for no channel: the
                    node has not confirmed the order */
    CHANNELS = 8,
};

static uint8_t *find_waits(const struct job_late *late, uint32_t number)
{
    uint32_t i = number - late->first; /* for a number below `first` this wraps
                                          round to a number that is too large */

    return i < late->count ? &late->waits[i] : NULL;
}

int job_late_open(struct job_late *late, uint32_t first, uint32_t last)
{
    uint8_t *waits;

    if (last < first || last - first >= JOB_LATE_SPAN_MAX)
        return OV_EINVAL;
    waits = calloc((size_t)last - first + 1, sizeof(*waits));
    if (waits == NULL)
        return OV_ENOMEM;
    *late = (struct job_late){
        .waits = waits, .first = first, .count = last - first + 1};
    return 0;
}

void job_late_close(struct job_late *late)
{
    free(late->waits);
    *late = (struct job_late){.ticket = late->ticket};
}

void job_late_expect(struct job_late *late, uint32_t number, uint8_t channels)
{
    uint8_t *waits = find_waits(late, number);

    OV_ASSERT((channels & UNHEARD) == 0);
    if (waits == NULL || *waits != 0 || channels == 0)
        return;
    *waits = channels | UNHEARD;
    late->left += (unsigned)__builtin_popcount(channels);
    late->unheard++;
}

/* --- whom to ask */

static bool is_waiting(const struct job_late *late, uint32_t i)
{
    return (late->waits[i] & ~UNHEARD) != 0;
}

static bool is_first(const struct job_late *late, uint32_t i)
{
    return is_waiting(late, i) && (i == 0 || !is_waiting(late, i - 1));
}

static bool is_last(const struct job_late *late, uint32_t i)
{
    return is_waiting(late, i) &&
           (i + 1 == late->count || !is_waiting(late, i + 1));
}

struct topo_range *job_late_ranges(const struct job_late *late, uint32_t *count)
{
    struct topo_range *ranges, *at;

    *count = 0;
    for (uint32_t i = 0; i < late->count; i++)
        *count += is_first(late, i);
    at = ranges = *count > 0 ? calloc(*count, sizeof(*ranges)) : NULL;
    for (uint32_t i = 0; ranges != NULL && i < late->count; i++) {
        if (is_first(late, i))
            at->first = late->first + i;
        if (is_last(late, i))
            at++->last = late->first + i;
    }
    return ranges;
}

/* --- what has come */

uint8_t job_late_channels(const struct job_late *late, uint32_t number)
{
    const uint8_t *waits = find_waits(late, number);

    return waits != NULL ? *waits & (uint8_t)~UNHEARD : 0;
}

bool job_late_waits(const struct job_late *late, uint32_t number,
                    uint8_t channel)
{
    return channel < CHANNELS &&
           (job_late_channels(late, number) & 1u << channel) != 0;
}

bool job_late_heard(struct job_late *late, uint32_t number, uint32_t count)
{
    uint64_t from = number > late->first ? number - late->first : 0;
    uint64_t to = (uint64_t)number + count;
    uint32_t before = late->unheard;

    to = to > late->first ? to - late->first : 0;
    for (uint64_t i = from; i < to && i < late->count; i++) {
        late->unheard -= late->waits[i] & UNHEARD;
        late->waits[i] &= (uint8_t)~UNHEARD;
    }
    return before > 0 && late->unheard == 0;
}

bool job_late_turn(struct job_late *late, uint32_t number, uint8_t channel)
{
    uint8_t *waits = find_waits(late, number);

    if (!job_late_waits(late, number, channel))
        return false;
    *waits ^= (uint8_t)(1u << channel);
    if (--late->left == 0)
        job_late_close(late);
    return true;
}
