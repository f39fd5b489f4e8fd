/* A client that comes late to the output of processes asks for their earlier
 * output (job/replay.h). This module records for which channels new output must
 * wait, because the earlier output has to reach the client first.
 *
 *     open     nothing is waited for yet
 *     expect   for each process, before any other call about it
 *     ranges   returns the processes whose earlier output to ask for
 *     heard    a node has confirmed the order: it sends new output, too
 *     turn     all earlier output of a channel has come: new output may follow
 *
 * The last turn ends the waiting, as does job_late_close(), which the caller
 * calls when the client leaves. After that, messages that still come change
 * nothing. Where one answer means both `heard` and `turn`, heard() must be
 * called first, because the last turn() ends everything.
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
    uint8_t *waits;        /* owned [count], by process number from `first` on;
                            * NULL: nothing is waited for */
    uint32_t first, count; /* the first process, and how many there are */
    uint64_t left;         /* how many channels still wait */
    uint32_t unheard;      /* processes whose node has not yet confirmed the
                              order */
    uint16_t ticket;       /* number of the order; set by the caller, 0 after
                              opening */
};

/* Begins for the processes `first` to `last`; no channel waits yet. *late may
 * be uninitialised. O(last - first).
 *
 * Returns 0; OV_EINVAL when last < first or they are more than
 * JOB_LATE_SPAN_MAX; or OV_ENOMEM. *late is then as before.
 */
int job_late_open(struct job_late *late, uint32_t first, uint32_t last);

/* Ends all waiting and frees the memory. May be called again. */
void job_late_close(struct job_late *late);

/* Notes that these channels of the process (bits, 1 << channel each, never bit
 * 0) must wait for their earlier output. Each process counts once: a second
 * call for it changes nothing, nor does a call without channels or for a
 * process outside the span. O(1). */
void job_late_expect(struct job_late *late, uint32_t number, uint8_t channels);

/* The processes with a channel that waits, as ascending ranges that do not
 * touch; *count is their number. The caller frees them. NULL: no process has
 * one, and *count is 0; or memory is out. O(count of *late). */
struct topo_range *job_late_ranges(const struct job_late *late,
                                   uint32_t *count);

/* The channels of the process that wait: bits, never bit 0; 0 outside the span.
 * O(1). */
uint8_t job_late_channels(const struct job_late *late, uint32_t number);

/* True when this channel (1 to 7) waits. O(1). */
bool job_late_waits(const struct job_late *late, uint32_t number,
                    uint8_t channel);

/* Notes that the nodes of `count` processes, from this number on, have
 * confirmed the order. Processes outside the span, and repetitions, do not
 * matter. Returns true once: in the call after which the nodes of all processes
 * have confirmed it. O(count), within the span. */
bool job_late_heard(struct job_late *late, uint32_t number, uint32_t count);

/* Notes that the earlier output of the channel has come. False: the channel did
 * not wait, and nothing has changed. When no channel waits after this call, the
 * waiting ends. O(1). */
bool job_late_turn(struct job_late *late, uint32_t number, uint8_t channel);

#endif
