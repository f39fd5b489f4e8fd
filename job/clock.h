/* When something happened on another host, by the clock here.
 *
 * A message that was sent at s by the clock there, and is received at r by the
 * clock here, shows that the clock here is ahead of the one there by r - s at
 * most, as no message is received before it was sent. The smallest of these
 * limits is kept. It grows with time, as clocks differ in speed. With a limit
 * of each of two clocks on the other's lead, the difference between them is
 * known but for the time that the two fastest messages took: half a round trip
 * each, as in NTP (RFC 5905) and in Cristian's algorithm (1989), without the
 * assumption that both ways take the same time.
 */
#ifndef JOB_CLOCK_H
#define JOB_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

/* By how much the speeds of two clocks differ at most. Quartz is within 100
 * millionths, and the clock that is read is corrected by NTP where it runs. */
enum { JOB_CLOCK_DRIFT_PPM = 200 };

/* When all members are zero nothing is known about the other clock. */
struct job_clock {
    int64_t lead_ns; /* the clock here is ahead of the other by this at most,
                        at the time heard_ns of the clock here */
    uint64_t heard_ns;
    bool is_known;
};

/* A moment that is not known exactly: not before the first of these times, and
 * not after the second one. */
struct job_span {
    uint64_t earliest_ns, latest_ns;
};

/* Notes a message that was sent at sent_ns by the other clock and received at
 * now_ns by the clock here. O(1). */
void job_clock_hear(struct job_clock *clock, uint64_t sent_ns, uint64_t now_ns);

/* Returns the latest possible time, by the clock here, of an event that was at
 * at_ns by the other one, at most now_ns; now_ns when nothing is known.
 * O(1). */
uint64_t job_clock_latest(const struct job_clock *clock, uint64_t at_ns,
                          uint64_t now_ns);

/* Returns the earliest possible time, by the *other* clock, of an event that
 * was at at_ns by the clock here; 0 when nothing is known. O(1). */
uint64_t job_clock_earliest_there(const struct job_clock *clock,
                                  uint64_t at_ns);

#endif
