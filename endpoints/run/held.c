/* Records that somebody of the launcher holds. */
#include "endpoints/run/held.h"

#include <stdlib.h>

#include "endpoints/run/impl.h"
#include "endpoints/run/loss.h"
#include "overlay/base/err.h"

struct run_held {
    struct ov_buf *buf;
    uint32_t holders;
};

int ep_run_held_open(struct run *r)
{
    r->held = calloc(RUN_RECORDS_MAX, sizeof(*r->held));
    return r->held == NULL ? OV_ENOMEM : 0;
}

void ep_run_held_close(struct run *r)
{
    free(r->held);
    r->held = NULL;
}

void ep_run_hold(struct run *r, uint64_t cookie, struct ov_buf *buf)
{
    if (cookie == RUN_NO_RECORD)
        return;
    r->held[cookie].buf = buf;
    r->held[cookie].holders++;
}

void ep_run_let_go(struct run *r, uint64_t cookie)
{
    if (cookie == RUN_NO_RECORD || --r->held[cookie].holders > 0)
        return;
    ep_hub_put(r->hub, r->held[cookie].buf);
    ep_hub_taken(r->hub, (uint32_t)cookie);
}
