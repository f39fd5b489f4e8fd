/* Steps the nodes: takes one event after another from the queue. */
#include "endpoints/hub/impl.h"
#include "endpoints/sys/clock.h"

enum { NEAR_NS = 20000000, TICK_NS = 4000000 };

/* True when the timer need not be set again. A timer that fires too early is
 * harmless and is then set to the later time. One that fires soon is left as it
 * is, because a busy node's times change with every step. Any other one would
 * wake an idle process for nothing. */
static bool is_armed_well(const struct hub_node *node, uint64_t wake_ns,
                          uint64_t now_ns)
{
    return wake_ns >= node->armed_ns &&
           (node->armed_ns < now_ns + NEAR_NS || wake_ns == OV_NEVER ||
            wake_ns < node->armed_ns + NEAR_NS);
}

/* Returns a wait as libevent should get it. libevent counts time in the
 * kernel's ticks and wakes a second time when a wait ends between two of them.
 * So a long wait is made whole ticks, and one more, because a tick may have
 * passed since the loop read the clock. */
static uint64_t wait_for(uint64_t wait_ns)
{
    return wait_ns < NEAR_NS ? wait_ns + 1000
                             : (wait_ns / TICK_NS + 2) * TICK_NS;
}

static void arm(struct hub_node *node, uint64_t wake_ns, uint64_t now_ns)
{
    uint64_t wait_ns;
    struct timeval wait;

    if (is_armed_well(node, wake_ns, now_ns))
        return;
    node->armed_ns = wake_ns;
    wait_ns = wait_for(wake_ns > now_ns ? wake_ns - now_ns : 0);
    wait.tv_sec = (time_t)(wait_ns / 1000000000);
    wait.tv_usec = (suseconds_t)(wait_ns % 1000000000 / 1000);
    evtimer_add(node->timer, &wait);
}

/* True when the next event in the queue is for the same node. */
static bool is_followed(const struct ep_hub *hub, uint32_t index)
{
    return hub->queue_len > 0 && hub->queue[hub->queue_at].index == index;
}

static void step(struct ep_hub *hub, struct hub_event *he)
{
    struct hub_node *node = &hub->nodes[he->index];
    struct ov_event ev = he->ev;

    if (node->is_over) { /* the node has left since the event was queued */
        ep_hub_event_drop(hub, &ev);
        return;
    }
    ev.follows = is_followed(hub, he->index);
    do {
        ev.now_ns = ep_clock_ns();
        ov_node_step(node->node, &ev, hub->out);
        ep_hub_act(node, hub->out);
        ep_hub_take_back(hub, hub->out);
        ev = (struct ov_event){.kind = OV_EV_TIMER};
    } while (hub->out->more);
    if (!node->is_over)
        arm(node, hub->out->wake_ns, ep_clock_ns());
}

void ep_hub_run(struct ep_hub *hub)
{
    if (hub->is_running || hub->queue_len == 0)
        return;
    hub->is_running = true;
    do {
        while (hub->queue_len > 0) {
            struct hub_event he = ep_hub_queue_take(hub);

            step(hub, &he);
        }
        if (hub->cfg.events->on_quiet != NULL)
            hub->cfg.events->on_quiet(hub->cfg.arg);
    } while (hub->queue_len > 0);
    hub->is_running = false;
}

void ep_hub_post(struct ep_hub *hub, uint32_t index, const struct ov_event *ev)
{
    ep_hub_queue_put(hub, index, ev);
    ep_hub_run(hub);
}

void ep_hub_post_later(struct ep_hub *hub, uint32_t index,
                       const struct ov_event *ev)
{
    ep_hub_queue_put(hub, index, ev);
    if (!hub->is_running)
        event_active(hub->later, EV_WRITE, 0);
}

void ep_hub_on_later(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    ep_hub_run(arg);
}

void ep_hub_on_timer(evutil_socket_t fd, short what, void *arg)
{
    struct hub_node *node = arg;

    (void)fd;
    (void)what;
    node->armed_ns = OV_NEVER;
    ep_hub_post(node->hub, node->index,
                &(struct ov_event){.kind = OV_EV_TIMER});
}
