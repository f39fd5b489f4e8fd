/* The machines of nodes, asked for when a further job is placed by them. */
#include "endpoints/run/ask.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "endpoints/run/impl.h"
#include "endpoints/run/orders.h"
#include "endpoints/run/plan.h"
#include "endpoints/run/tap.h"
#include "job/order.h"
#include "overlay/base/err.h"

/* --- asking
 * */

static void order_all(struct run *r)
{
    struct job_order order = {.kind = JOB_CONTROL_MACHINE};

    for (uint32_t n = 1; n <= r->plan.nodes_count; n++) {
        if (r->nodes[n].asked != RUN_ASK_DUE)
            continue;
        r->nodes[n].asked = RUN_ASK_SENT;
        r->asked++;
        ep_run_orders_add(r->orders, &order, n);
    }
    ep_run_orders_rest(r->orders, &order);
}

int ep_run_ask(struct run *r, const uint32_t *nodes, uint32_t count, char *why)
{
    uint32_t unknown = 0;

    for (uint32_t i = 0; i < count; i++) {
        if (r->nodes[nodes[i]].blind == NULL)
            continue;
        snprintf(why, EP_TAP_WHY_MAX, "%.64s: %.180s",
                 ep_run_host(&r->plan, nodes[i]), r->nodes[nodes[i]].blind);
        return OV_ESYS;
    }
    for (uint32_t i = 0; i < count; i++) {
        struct run_node *of = &r->nodes[nodes[i]];

        if (of->machine.is_known)
            continue;
        unknown++;
        if (of->asked == RUN_ASK_NOT)
            of->asked = RUN_ASK_DUE;
    }
    if (unknown == 0)
        return 0;
    order_all(r);
    ep_voice_note(&r->voice,
                  "a job waits for what the machines of %u node%s are", unknown,
                  unknown == 1 ? "" : "s");
    return OV_EAGAIN;
}

/* --- answers
 * */

static void forget_blind(struct run *r)
{
    for (uint32_t n = 1; n <= r->plan.nodes_count; n++) {
        free(r->nodes[n].blind);
        r->nodes[n].blind = NULL;
    }
}

/* Why a node cannot tell is kept for those who have waited for it. */
static void settle(struct run *r, struct run_node *of)
{
    of->asked = RUN_ASK_NOT;
    if (--r->asked > 0)
        return;
    ep_run_tap_again(r);
    forget_blind(r);
}

bool ep_run_ask_word(struct run *r, uint32_t node, const struct job_word *state)
{
    struct run_node *of = &r->nodes[node];

    if (of->asked != RUN_ASK_SENT)
        return false;
    if (state->packages > 0)
        of->machine = (struct ep_machine){state->packages, state->cores, true};
    else
        of->blind = strdup(state->text);
    settle(r, of);
    return true;
}

void ep_run_ask_lost(struct run *r, uint32_t node)
{
    if (r->nodes[node].asked == RUN_ASK_SENT)
        settle(r, &r->nodes[node]);
}

void ep_run_ask_close(struct run *r)
{
    if (r->nodes != NULL)
        forget_blind(r);
}
