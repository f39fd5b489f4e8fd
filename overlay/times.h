/* All times of the protocol, each named for what it decides. docs/protocol.md
 * has the reasons.
 *
 * A session has one heartbeat time, and most others follow from it: those that
 * a test or a simulation may want to change are fields, the rest are fractions
 * of them. All are in nanoseconds.
 */
#ifndef OVERLAY_TIMES_H
#define OVERLAY_TIMES_H

#include <stdbool.h>
#include <stdint.h>

struct ov_times {
    uint64_t attempt_ns;   /* one attempt to reach a parent */
    uint64_t letgo_ns;     /* after this time without a parent, children are
                              let go */
    uint64_t heartbeat_ns; /* a link that is silent for this long is down */
    uint64_t refused_ns;   /* when to ask about a lost child whose address
                              refuses dials */
    uint64_t adoption_ns;  /* when to ask about all members of a hold */
    uint64_t giveup_ns;    /* after this time without a parent the root is
                              lost */
    uint64_t launch_ns;    /* as giveup_ns, for a node that starts; the root
                              gives up nodes that have not joined an adoption
                              time later */
    uint64_t ack_ns;       /* an acknowledgement waits this long at most */
    uint64_t base_ns;      /* a base report waits this long at most */
    uint64_t stall_ns;     /* a stream that is held up for this long is
                              reported */
};

/* Sets heartbeat_ns and the times whose order depends on it. */
void ov_times_set(struct ov_times *times, uint64_t heartbeat_ns);

/* Checks that the times are in this order:
 *     attempt < let-go < heartbeat,
 *     adoption >= 3 * heartbeat + let-go, give-up > adoption.
 * Returns NULL, or the rule that is broken. */
const char *ov_times_fault(const struct ov_times *times);

/* --- beats */

/* How often each end of a link sends something. Two beats are due before
 * silence is judged, and there are as few of them as that allows. */
static inline uint64_t ov_times_beat_ns(const struct ov_times *t)
{
    return t->heartbeat_ns / 100 * 47;
}

/* How much longer a node with a parent waits: it must not begin before the
 * root's beat has come down. */
static inline uint64_t ov_times_beat_wait_ns(const struct ov_times *t)
{
    return t->heartbeat_ns / 50;
}

/* A beat is sent along with that of another link when the last one is this
 * old. */
static inline uint64_t ov_times_beat_along_ns(const struct ov_times *t)
{
    return t->heartbeat_ns / 6;
}

/* A node that was itself late by this much judges nobody: all clocks start
 * again. */
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

/* For this long a node that starts tries only its planned parent before it goes
 * higher: well before a holder asks about it. */
static inline uint64_t ov_times_patience_ns(const struct ov_times *t)
{
    return t->adoption_ns / 2;
}

/* --- holds */

/* A question about a member of a hold may get lost, so it is asked again after
 * this time. */
static inline uint64_t ov_times_ask_again_ns(const struct ov_times *t)
{
    return 2 * t->refused_ns;
}

/* The root gives up nodes that have not joined this long after its start. */
static inline uint64_t ov_times_absent_ns(const struct ov_times *t)
{
    return t->launch_ns + t->adoption_ns;
}

#endif
