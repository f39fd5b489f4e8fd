/* All times of the protocol, each named for what it decides. docs/protocol.md
 * has the reasons.
 *
 * A session has one heartbeat time, and most others follow from it: those that
 * a test or a simulation may want otherwise are fields, the rest are fractions
 * of them. Nanoseconds all.
 */
#ifndef OVERLAY_TIMES_H
#define OVERLAY_TIMES_H

#include <stdbool.h>
#include <stdint.h>

struct ov_times {
    uint64_t attempt_ns;   /* one try to reach a parent */
    uint64_t letgo_ns;     /* without a parent: children are let go */
    uint64_t heartbeat_ns; /* a link silent for so long is down */
    uint64_t refused_ns;   /* a lost child that nobody answers for at its
                              address is asked about */
    uint64_t adoption_ns;  /* everybody in a hold is */
    uint64_t giveup_ns;    /* no parent found: the root is lost */
    uint64_t launch_ns;    /* the same for one that starts; and the root gives
                              up who has not joined, an adoption time later */
    uint64_t ack_ns;       /* an acknowledgement waits so long at most */
    uint64_t base_ns;      /* a base report waits so long at most */
    uint64_t stall_ns;     /* a stream held up for so long is told */
};

/* Sets heartbeat_ns and the times whose order depends on it. */
void ov_times_set(struct ov_times *times, uint64_t heartbeat_ns);

/* Checks the order of the times:
 *     attempt < let-go < heartbeat,
 *     adoption >= 3 * heartbeat + let-go, give-up > adoption.
 * Returns NULL, or the rule that is broken. */
const char *ov_times_fault(const struct ov_times *times);

/* --- beats */

/* Each end of a link speaks so often: two beats are due before silence is
 * judged, and as few as then will do. */
static inline uint64_t ov_times_beat_ns(const struct ov_times *t)
{
    return t->heartbeat_ns / 100 * 47;
}

/* A node that has a parent waits so much longer: it must not begin before the
 * root's beat has come down. */
static inline uint64_t ov_times_beat_wait_ns(const struct ov_times *t)
{
    return t->heartbeat_ns / 50;
}

/* A beat is sent along with another link's when its own last one is so old. */
static inline uint64_t ov_times_beat_along_ns(const struct ov_times *t)
{
    return t->heartbeat_ns / 6;
}

/* A node whose own loop was so late judges nobody: all clocks start anew. */
static inline uint64_t ov_times_own_delay_ns(const struct ov_times *t)
{
    return t->heartbeat_ns / 3;
}

/* --- the search for a parent */

/* The pause between two attempts, and up to how much an orphan waits before its
 * first one. */
static inline uint64_t ov_times_retry_min_ns(const struct ov_times *t)
{
    return t->attempt_ns / 64;
}

/* The pause after a failed attempt. When all ancestors have been tried it is
 * longer, the more the longer the search takes, up to an attempt. */
static inline uint64_t ov_times_retry_ns(const struct ov_times *t,
                                         bool is_round_over,
                                         uint64_t searched_ns)
{
    uint64_t pause_ns = ov_times_retry_min_ns(t);

    if (is_round_over)
        pause_ns += searched_ns / 4;
    return pause_ns < t->attempt_ns ? pause_ns : t->attempt_ns;
}

/* One that starts tries its planned parent alone for so long before it goes
 * higher, in good time before a holder asks about it. */
static inline uint64_t ov_times_patience_ns(const struct ov_times *t)
{
    return t->adoption_ns / 2;
}

/* --- holds */

/* A question about a member of a hold may be lost: it is asked again. */
static inline uint64_t ov_times_ask_again_ns(const struct ov_times *t)
{
    return 2 * t->refused_ns;
}

/* The root gives up who has not joined so long after its start. */
static inline uint64_t ov_times_absent_ns(const struct ov_times *t)
{
    return t->launch_ns + t->adoption_ns;
}

#endif
