/* Stepping a node and carrying out its actions. */
#include "sim/host.h"

#include <stdlib.h>

#include "sim/check.h"
#include "sim/launcher.h"
#include "sim/measure.h"
#include "sim/net.h"
#include "sim/process.h"
#include "sim/tally.h"
#include "sim/world_impl.h"

enum { STEPS_MAX = 100000 }; /* that one event may lead to, at one moment */

void sim_host_owe(struct sim_world *w, struct ov_event ev)
{
    struct sim_owed *owed = w->owed;

    OV_ASSERT(owed->len < SIM_OWED_MAX);
    owed->ev[(owed->at + owed->len++) % SIM_OWED_MAX] = ev;
}

/* --- buffers */

static void release(struct sim_world *w, struct ov_buf *buf)
{
    struct sim_view *view = sim_view_of(buf);

    sim_check_released(w, view);
    sim_view_free(&w->store, view);
}

void sim_host_put(struct sim_world *w, struct ov_buf *buf)
{
    if (buf != NULL && ov_buf_unref(buf))
        release(w, buf);
}

void sim_host_take_back(struct sim_world *w)
{
    while (w->out.freed != NULL) {
        struct ov_buf *buf = w->out.freed;

        w->out.freed = buf->next;
        release(w, buf);
    }
}

/* A record needs a cell; more are lent when they run out. */
static void lend(struct sim_world *w)
{
    struct sim_kept_slab *slab;

    if (w->pool.free != NULL)
        return;
    slab = malloc(sizeof(*slab));
    OV_ASSERT(slab != NULL);
    slab->next = w->kept;
    w->kept = slab;
    ov_kept_lend(&w->pool, slab->cells, SIM_KEPT_CELLS);
}

/* --- actions */

static void on_lost(struct sim_world *w, uint32_t peer)
{
    sim_check_lost(w, peer);
    sim_launcher_lost(w, peer);
}

static void on_read(struct sim_world *w, uint32_t n, const struct ov_act *act)
{
    struct ov_event ev = {.kind = OV_EV_READ, .input = act->input};

    lend(w);
    if (act->input == 0)
        sim_process_say(w, n, &ev.read);
    else
        sim_process_read(w, n, act->max_bytes, &ev.read);
    sim_check_record(w, n, &ev.read);
    sim_host_owe(w, ev);
}

static void act_on(struct sim_world *w, uint32_t n, const struct ov_act *act)
{
    const struct ov_slice *slice = &w->out.slice[act->slice_first];

    switch (act->kind) {
    case OV_ACT_DIAL:
        sim_net_dial(w, n, act->node);
        break;
    case OV_ACT_CLOSE:
        sim_net_close(w, n, act->link);
        break;
    case OV_ACT_SEND:
        sim_net_send(w, n, act);
        break;
    case OV_ACT_JOINED:
        sim_launcher_joined(w);
        break;
    case OV_ACT_LOST:
        on_lost(w, act->node);
        break;
    case OV_ACT_STALL:
        sim_launcher_stalled(w, act);
        break;
    case OV_ACT_LEAVE:
        sim_host_end(w, n, SIM_HOST_LEFT);
        break;
    case OV_ACT_RECORD:
        sim_launcher_record(w, act, slice);
        break;
    case OV_ACT_READ:
        on_read(w, n, act);
        break;
    case OV_ACT_CONSUME:
        sim_process_consume(w, n, act, slice);
        sim_host_put(w, slice->buf);
        break;
    case OV_ACT_PROBE:
        sim_check_probe(w, n, act->node);
        sim_net_probe(w, n, act);
        break;
    case OV_ACT_END:
        sim_host_end(w, n, SIM_HOST_ENDED);
        break;
    case OV_ACT_ADDRESS:
        sim_check_address(w, n, act->node);
        sim_host_put(w, slice->buf);
        break;
    case OV_ACT_ORPHAN:
        sim_check_orphan(w, n);
        break;
    case OV_ACT_ADOPTED:
    case OV_ACT_KINDS:
        break;
    }
}

/* The driver of an ended node carries nothing out any more. */
static void drop_act(struct sim_world *w, const struct ov_act *act)
{
    for (unsigned i = 0; i < act->slices; i++)
        sim_host_put(w, w->out.slice[act->slice_first + i].buf);
}

/* --- steps */

static void step(struct sim_world *w, uint32_t n, struct ov_event *ev)
{
    struct sim_host *host = &w->hosts[n];

    do {
        ev->now_ns = w->now_ns;
        ov_node_step(sim_node(w, n), ev, &w->out);
        w->steps++;
        for (uint32_t i = 0; i < w->out.acts_count; i++) {
            if (w->on_act != NULL)
                w->on_act(w, n, &w->out.acts[i]);
            if (sim_host_runs(w, n)) {
                sim_tally_act(w, n, &w->out.acts[i]);
                act_on(w, n, &w->out.acts[i]);
            } else {
                drop_act(w, &w->out.acts[i]);
            }
        }
        sim_host_take_back(w);
        *ev = (struct ov_event){.kind = OV_EV_TIMER};
    } while (w->out.more);
    host->wake_ns = w->out.wake_ns;
}

static void drop_event(struct sim_world *w, struct ov_event *ev)
{
    sim_host_put(w, ev->buf);
    if (ev->kind == OV_EV_READ)
        sim_host_put(w, ev->read.buf);
}

/* One timer is live: the earliest asked for. Later wishes wait until it goes
 * off. */
static void arm(struct sim_world *w, uint32_t n)
{
    struct sim_host *host = &w->hosts[n];

    if (host->wake_ns >= host->timer_ns || !sim_host_runs(w, n))
        return;
    host->timer_ns = host->wake_ns > w->now_ns ? host->wake_ns : w->now_ns;
    sim_push(w, host->timer_ns, SIM_ITEM_TIMER, n, (struct sim_item){0});
}

void sim_host_step(struct sim_world *w, uint32_t n, struct ov_event ev)
{
    struct sim_host *host = &w->hosts[n];
    struct sim_owed *owed = w->owed;
    unsigned steps = 0;

    w->now_ns = w->queue.now_ns > host->cpu_ns ? w->queue.now_ns : host->cpu_ns;
    owed->at = 0;
    step(w, n, &ev);
    while (owed->len > 0) {
        ev = owed->ev[owed->at];
        owed->at = (owed->at + 1) % SIM_OWED_MAX;
        owed->len--;
        if (++steps > STEPS_MAX)
            sim_world_fail(w, "node %u goes on without end", n);
        if (sim_host_runs(w, n) && steps <= STEPS_MAX)
            step(w, n, &ev);
        else
            drop_event(w, &ev);
    }
    host->cpu_ns = w->now_ns;
    arm(w, n);
    sim_check_step(w, n);
}

void sim_host_gone(struct sim_world *w, uint32_t n)
{
    w->leaving += !w->hosts[n].is_gone;
    w->hosts[n].is_gone = true;
}

void sim_host_end(struct sim_world *w, uint32_t n, enum sim_host_state state)
{
    struct sim_host *host = &w->hosts[n];

    if (!sim_host_runs(w, n))
        return;
    sim_host_gone(w, n);
    host->state = (uint8_t)state;
    for (uint16_t link = 0; link < ov_node_links(sim_node(w, n)); link++) {
        if (sim_wire(w, n, link)->is_up)
            sim_net_close(w, n, link);
    }
}
