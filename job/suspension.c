/* The state transitions of a suspension, as a table. */
#include "job/suspension.h"

#include <stddef.h>

/* After this time the launcher stops even if messages are not on their way. */
#define TELL_NS UINT64_C(1000000000)

// clang-format off
static const struct {
    enum job_suspension_state state;
    enum job_suspension_event event;
    enum job_suspension_state next;
    enum job_suspension_act act;
} moves[] = {
#define MOVE(state, event, next, act)                               \
    {JOB_SUSPENSION_##state, JOB_SUSPENSION_##event,                \
     JOB_SUSPENSION_##next, JOB_SUSPENSION_##act}
    MOVE(NONE,    EARLY,     DUE,     NOTHING),
    MOVE(NONE,    HEARD,     TELLING, TELL),
    MOVE(DUE,     BEGUN,     TELLING, TELL),
    MOVE(DUE,     CONTINUED, NONE,    NOTHING),
    /* All messages are on their way, but there is a second look before the
     * launcher stops: a SIGTSTP that a process caught just before the signal
     * was blocked is handled at the latest in the loop's turn of the first
     * look. */
    MOVE(TELLING, WAITS,     LOOKED,  LOOK),
    MOVE(TELLING, TOLD,      LOOKED,  LOOK),
    MOVE(TELLING, OVER,      NONE,    RESUME),
    MOVE(TELLING, CONTINUED, NONE,    RESUME),
    MOVE(LOOKED,  WAITS,     LOOKED,  LOOK),
    MOVE(LOOKED,  TOLD,      STOPPED, STOP),
    MOVE(LOOKED,  OVER,      NONE,    RESUME),
    MOVE(LOOKED,  CONTINUED, NONE,    RESUME),
    MOVE(STOPPED, CONTINUED, NONE,    RESUME),
#undef MOVE
};
// clang-format on

enum job_suspension_act job_suspension_step(struct job_suspension *suspension,
                                            enum job_suspension_event event,
                                            uint64_t now_ns)
{
    if (event == JOB_SUSPENSION_WAITS &&
        now_ns >= suspension->told_ns + TELL_NS)
        event = JOB_SUSPENSION_TOLD;
    for (size_t i = 0; i < sizeof(moves) / sizeof(moves[0]); i++) {
        if (moves[i].state != suspension->state || moves[i].event != event)
            continue;
        suspension->state = moves[i].next;
        if (moves[i].act == JOB_SUSPENSION_TELL)
            suspension->told_ns = now_ns;
        if (moves[i].act == JOB_SUSPENSION_RESUME)
            suspension->resumed_ns = now_ns;
        return moves[i].act;
    }
    return JOB_SUSPENSION_NOTHING;
}
