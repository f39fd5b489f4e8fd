/* All times of the protocol, each named for what it decides. docs/protocol.md
 * has the reasons.
 *
 * A session has one heartbeat time, from which most other times follow. Times
 * that a test or a simulation may want to change are fields; the others are
 * fractions of the fields. All are in nanoseconds.
 */
#ifndef OVERLAY_TIMES_H
#define OVERLAY_TIMES_H

#include <stdbool.h>
#include <stdint.h>

struct ov_times {
    uint64_t attempt_ns;   /* how long one attempt to reach a parent may take */
    uint64_t letgo_ns;     /* after this time without a parent a node ends the
                              links of its children */
    uint64_t heartbeat_ns; /* a link that is silent for this long is down */
    uint64_t refused_ns;   /* a holder asks about a member this long after the
                              member's address has refused dials */
    uint64_t adoption_ns;  /* a holder asks about all members of a hold this
                              long after the hold began */
    uint64_t giveup_ns;    /* after this time without a parent an orphan takes
                              the root for lost, and ends */
    uint64_t launch_ns;    /* as giveup_ns, but for a node that starts. The root
                              gives up nodes that have not joined launch_ns +
                              adoption_ns after its start */
    uint64_t ack_ns;       /* an acknowledgement waits for at most this time */
    uint64_t base_ns;      /* a base report waits for at most this time */
    uint64_t stall_ns;     /* a stream whose window is full for this long is
                              reported (OV_ACT_STALL) */
};

/* Sets heartbeat_ns, and those other fields that must be in the order which
 * ov_times_fault() checks. */
void ov_times_set(struct ov_times *times, uint64_t heartbeat_ns);

/* Checks that the times are in this order:
 *     attempt < let-go < heartbeat,
 *     adoption >= 3 * heartbeat + let-go, give-up > adoption.
 * Returns NULL, or a text that names the rule that is broken.
 */
const char *ov_times_fault(const struct ov_times *times);

/* --- beats */

/* The time after which each end of a link sends something when it has been
 * silent. Two beats are due before the other end judges the silence; a shorter
 * time would only cost more beats. */
static inline uint64_t ov_times_beat_ns(const struct ov_times *t)
{
    return t->heartbeat_ns / 100 * 47;
}

/* How much longer a node with a parent waits before it sends a beat, so that
 * the beat that comes down from the root reaches it first. */
static inline uint64_t ov_times_beat_wait_ns(const struct ov_times *t)
{
    return t->heartbeat_ns / 50;
}

/* When a node sends a beat on one link, it also sends one on each other link on
 * which it has been silent for this long. */
static inline uint64_t ov_times_beat_along_ns(const struct ov_times *t)
{
    return t->heartbeat_ns / 6;
}

/* A node whose own wake-up was this late takes nobody for lost: it starts the
 * clocks of all its links again. */
static inline uint64_t ov_times_own_delay_ns(const struct ov_times *t)
{
    return t->heartbeat_ns / 3;
}

/* --- the search for a parent */

/* The pause between two attempts, which is also the longest time that an orphan
 * waits before its first one. */
static inline uint64_t ov_times_retry_min_ns(const struct ov_times *t)
{
    return t->attempt_ns / 64;
}

/* The pause after a failed attempt. After a round of all ancestors it is
 * longer, and grows with the time of the search, up to the time of an
 * attempt. */
static inline uint64_t ov_times_retry_ns(const struct ov_times *t,
                                         bool is_round_over,
                                         uint64_t searched_ns)
{
    uint64_t pause_ns = ov_times_retry_min_ns(t);

    if (is_round_over)
        pause_ns += searched_ns / 4;
    return pause_ns < t->attempt_ns ? pause_ns : t->attempt_ns;
}

/* For this long a node that starts tries only its planned parent, before it
 * dials higher ancestors. A holder asks about the node well after that. */
static inline uint64_t ov_times_patience_ns(const struct ov_times *t)
{
    return t->adoption_ns / 2;
}

/* --- holds */

/* A holder asks its parent about a member again after this time, because the
 * question or the answer may be lost. */
static inline uint64_t ov_times_ask_again_ns(const struct ov_times *t)
{
    return 2 * t->refused_ns;
}

/* The root gives up the nodes that have not joined this long after the root
 * started. */
static inline uint64_t ov_times_absent_ns(const struct ov_times *t)
{
    return t->launch_ns + t->adoption_ns;
}

#endif
