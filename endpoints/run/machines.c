/* What the machines of nodes are: asked for, and heard. */
#include "endpoints/run/machines.h"

#include "endpoints/run/impl.h"
#include "endpoints/run/nodes.h"
#include "endpoints/run/orders.h"
#include "endpoints/run/tap.h"
#include "job/order.h"

void ep_run_machines_ask(struct run *r)
{
    struct job_order order = {.kind = JOB_CONTROL_MACHINE};
    uint32_t node;

    while ((node = ep_run_nodes_due(r->nodes)) != 0)
        ep_run_orders_add(r->orders, &order, node);
    ep_run_orders_rest(r->orders, &order);
}

/* Why a node cannot tell is kept for those who have waited for it. */
bool ep_run_machines_word(struct run *r, uint32_t node,
                          const struct job_word *word)
{
    bool is_news;

    if (ep_run_nodes_said(r->nodes, node, word, &is_news) &&
        ep_run_nodes_asked(r->nodes) == 0) {
        ep_run_tap_again(r);
        ep_run_nodes_forgive(r->nodes);
    }
    return is_news;
}

void ep_run_machines_lost(struct run *r, uint32_t node)
{
    (void)ep_run_machines_word(r, node, NULL);
}
