/* Keeps events in a ring. */
#include "sim/owed.h"

#include <stdlib.h>

#include "overlay/base/panic.h"

enum { OWED_MAX = 512 };

struct sim_owed {
    struct ov_event ev[OWED_MAX];
    unsigned at, len;
};

struct sim_owed *sim_owed_new(void)
{
    return calloc(1, sizeof(struct sim_owed));
}

void sim_owed_free(struct sim_owed *owed)
{
    free(owed);
}

void sim_owed_push(struct sim_owed *owed, const struct ov_event *ev)
{
    OV_ASSERT(owed->len < OWED_MAX);
    owed->ev[(owed->at + owed->len++) % OWED_MAX] = *ev;
}

bool sim_owed_pop(struct sim_owed *owed, struct ov_event *ev)
{
    if (owed->len == 0) {
        owed->at = 0; /* start again at the beginning, whose memory is in the
                         cache */
        return false;
    }
    *ev = owed->ev[owed->at];
    owed->at = (owed->at + 1) % OWED_MAX;
    owed->len--;
    return true;
}
