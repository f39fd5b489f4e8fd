/* Somebody who comes late to the output of processes, and asks for what was
 * before (job/replay.h): which of their channels come to him only behind that.
 *
 *     open     nothing is waited for yet
 *     expect   each process, before anything else is heard of it
 *     ranges   whom to ask for
 *     heard    its node knows that somebody wants what it writes from now on
 *     turn     all from before of one channel has come: the rest may follow
 *
 * The last turn closes, and so does whoever wants nothing any more. After that
 * nothing is waited for, and words that still come change nothing. Where a turn
 * also says that the process is heard of, `heard` comes first, as a last turn
 * leaves nobody to hear of.
 */
#ifndef JOB_LATE_H
#define JOB_LATE_H

#include <stdbool.h>
#include <stdint.h>

#include "topo/tree.h"

enum { JOB_LATE_SPAN_MAX = 1 << 24 };

/* A byte for each process from the first to the last. All zero: nothing is
 * waited for. */
struct job_late {
    uint8_t *waits;        /* owned [count], by number from `first` on; NULL:
                              nothing is waited for */
    uint32_t first, count; /* processes */
    uint64_t left;         /* channels that are waited for */
    uint32_t unheard;      /* processes whose node is still to hear of it */
    uint16_t ticket;       /* of the order; the caller's, 0 when it opens */
};

/* For processes first to last; nothing is waited for yet. What *late was is
 * not looked at. O(last - first).
 *
 * Returns 0; OV_EINVAL when last < first or they are more than
 * JOB_LATE_SPAN_MAX; or OV_ENOMEM. *late is then as it was.
 */
int job_late_open(struct job_late *late, uint32_t first, uint32_t last);

/* Nothing is waited for any more; once more it is harmless. */
void job_late_close(struct job_late *late);

/* These channels of the process (bits, 1 << channel each, never bit 0) come
 * behind what was before. Each process counts once: a second call for it
 * changes nothing, nor does one without channels or outside the span. O(1). */
void job_late_expect(struct job_late *late, uint32_t number, uint8_t channels);

/* Those of which a channel is waited for, neighbours as one range: ascending,
 * apart, *count of them, for the caller to free. NULL: there are none, and
 * *count is 0, or there is no memory for them. O(count of *late). */
struct topo_range *job_late_ranges(const struct job_late *late,
                                   uint32_t *count);

/* Channels of the process that are waited for: bits, never bit 0; 0 when there
 * are none, and outside the span. O(1). */
uint8_t job_late_channels(const struct job_late *late, uint32_t number);

/* Whether this one is; no other than 1 to 7 ever is. O(1). */
bool job_late_waits(const struct job_late *late, uint32_t number,
                    uint8_t channel);

/* The nodes of so many processes from this number on have heard of it; those
 * outside the span, or that it has heard of before, do not matter. True: with
 * this all have, which is so once. O(count), within the span. */
bool job_late_heard(struct job_late *late, uint32_t number, uint32_t count);

/* The channel has what was before. False: it was not waited for, and nothing
 * has changed. When it was the last one all is closed. O(1). */
bool job_late_turn(struct job_late *late, uint32_t number, uint8_t channel);

#endif
