/* Builds nodes, steps them and carries out their actions. */
#include "sim/host.h"

#include <stdlib.h>

#include "overlay/base/err.h"
#include "overlay/cut.h"
#include "overlay/fold.h"
#include "sim/buffer.h"
#include "sim/check.h"
#include "sim/launcher.h"
#include "sim/net.h"
#include "sim/owed.h"
#include "sim/process.h"
#include "sim/tally.h"

enum {
    INPUTS = 2,
    STEPS_MAX = 100000, /* how many steps one event may cause at the same
                           time */
    SLAB_CELLS = 4096,
};

struct slab {
    struct slab *next;
    struct ov_kept cells[SLAB_CELLS];
};

/* Cells for kept records, which all nodes share. */
struct sim_cells {
    struct ov_kept_pool pool;
    struct slab *slabs;
};

/* --- building */

static uint8_t depth_of(const struct sim_world *w, uint32_t n)
{
    uint32_t parent = topo_tree_parent(&w->cfg.overlay.plan, n);
    unsigned depth = n == 0 ? 0 : w->hosts[parent].level + 1u;

    return (uint8_t)(depth < SIM_LEVELS_MAX ? depth : SIM_LEVELS_MAX - 1);
}

uint64_t sim_host_node_bytes(const struct sim_world *w, uint32_t n)
{
    size_t bytes = ov_node_size(&w->cfg.overlay, n, INPUTS);

    return (bytes + SIM_ALIGN - 1) / SIM_ALIGN * SIM_ALIGN;
}

static void open_node(struct sim_world *w, uint32_t n, uint8_t *mem)
{
    struct sim_host *host = &w->hosts[n];

    struct ov_node *node =
        ov_node_init(mem, &w->cfg.overlay, &w->cells->pool, n, INPUTS,
                     (uint32_t)sim_random_next(&w->random));

    OV_ASSERT((uint8_t *)node == mem);
    host->node_at = (uint32_t)((size_t)(mem - w->node_mem) / SIM_ALIGN);
    host->wake_ns = SIM_NEVER;
    host->timer_ns = SIM_NEVER;
    host->slow = 1;
    sim_push(w, 0, SIM_ITEM_START, n, (struct sim_item){0});
}

static int open_nodes(struct sim_world *w)
{
    uint32_t wires = 0, children = 0;
    uint8_t *mem;

    for (uint32_t n = 0; n < sim_nodes(w); n++) {
        w->hosts[n].level = depth_of(w, n);
        w->node_bytes += sim_host_node_bytes(w, n);
    }
    w->node_mem = mem = malloc(w->node_bytes);
    if (mem == NULL)
        return OV_ENOMEM;
    for (uint32_t n = 0; n < sim_nodes(w); n++) {
        open_node(w, n, mem);
        mem += sim_host_node_bytes(w, n);
        w->hosts[n].wires = wires;
        w->hosts[n].children = children;
        wires += ov_node_links(sim_node(w, n));
        if (sim_has_children(w, n))
            children += ov_node_links(sim_node(w, n));
    }
    w->wires = calloc(wires, sizeof(*w->wires));
    w->children = calloc(children, sizeof(*w->children));
    return w->wires == NULL || w->children == NULL ? OV_ENOMEM : 0;
}

int sim_host_open(struct sim_world *w)
{
    w->address.buf = (struct ov_buf){.mem = w->address.mem,
                                     .cap_bytes = sizeof(w->address.mem),
                                     .len_bytes = sizeof(w->address.mem),
                                     .refs = 1}; /* this reference is never
                                                    dropped, so the buffer is
                                                    never freed */
    w->hosts = calloc(sim_nodes(w), sizeof(*w->hosts));
    w->step.owed = sim_owed_new();
    w->cells = calloc(1, sizeof(*w->cells));
    if (w->cfg.overlay.folds)
        w->step.out.fold = calloc(1, sizeof(*w->step.out.fold));
    if (w->hosts == NULL || w->step.owed == NULL || w->cells == NULL ||
        (w->cfg.overlay.folds && w->step.out.fold == NULL))
        return OV_ENOMEM;
    return open_nodes(w);
}

void sim_host_finish(struct sim_world *w)
{
    for (uint32_t n = 0; n < sim_nodes(w); n++) {
        ov_node_fini(sim_node(w, n), &w->step.out);
        sim_buffer_take_back(w);
    }
}

void sim_host_close(struct sim_world *w)
{
    while (w->cells != NULL && w->cells->slabs != NULL) {
        struct slab *slab = w->cells->slabs;

        w->cells->slabs = slab->next;
        free(slab);
    }
    free(w->cells);
    free(w->step.out.fold);
    sim_owed_free(w->step.owed);
    free(w->hosts);
    free(w->wires);
    free(w->children);
    free(w->node_mem);
}

/* --- actions */

/* Adds cells to the pool when it has none left, because each record needs one:
 * a read may become many, and a slab has enough for kept_max of them. */
static void lend(struct sim_cells *cells, uint32_t records)
{
    const struct ov_kept *cell = cells->pool.free;
    struct slab *slab;

    for (; cell != NULL && records > 0; records--)
        cell = cell->next;
    if (records == 0)
        return;
    slab = malloc(sizeof(*slab));
    OV_ASSERT(slab != NULL);
    slab->next = cells->slabs;
    cells->slabs = slab;
    ov_kept_lend(&cells->pool, slab->cells, SLAB_CELLS);
}

static void on_lost(struct sim_world *w, uint32_t peer)
{
    sim_check_lost(w, peer);
    sim_launcher_lost(w, peer);
}

static void on_read(struct sim_world *w, uint32_t n, const struct ov_act *act)
{
    struct ov_event ev = {.kind = OV_EV_READ, .input = act->input};

    if (act->input == 0)
        sim_process_say(w, n, act->max_bytes, &ev.read);
    else
        sim_process_read(w, n, act->max_bytes, &ev.read);
    ev.read.records_max = act->records_max;
    sim_check_record(w, n, &ev.read);
    lend(w->cells, ov_cut_records(&ev.read));
    sim_owed_push(w->step.owed, &ev);
}

static void act_on(struct sim_world *w, uint32_t n, const struct ov_act *act)
{
    const struct ov_slice *slice = &w->step.out.slice[act->slice_first];

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
        if (n == 0)
            sim_launcher_gone(w);
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
        sim_buffer_put(w, slice->buf);
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
        sim_buffer_put(w, slice->buf);
        break;
    case OV_ACT_ORPHAN:
        sim_check_orphan(w, n);
        break;
    case OV_ACT_ADOPTED:
    case OV_ACT_KINDS:
        break;
    }
}

/* Drops an action of a node that has ended, with its buffers. */
static void drop_act(struct sim_world *w, const struct ov_act *act)
{
    for (unsigned i = 0; i < act->slices; i++)
        sim_buffer_put(w, w->step.out.slice[act->slice_first + i].buf);
}

/* --- steps */

static void step(struct sim_world *w, uint32_t n, struct ov_event *ev)
{
    struct sim_host *host = &w->hosts[n];

    do {
        ev->now_ns = w->step.now_ns;
        ov_node_step(sim_node(w, n), ev, &w->step.out);
        w->counts.steps++;
        for (uint32_t i = 0; i < w->step.out.acts_count; i++) {
            if (w->onlooker.on_act != NULL)
                w->onlooker.on_act(w, n, &w->step.out.acts[i]);
            if (sim_host_runs(w, n)) {
                sim_tally_act(w, n, &w->step.out.acts[i]);
                act_on(w, n, &w->step.out.acts[i]);
            } else {
                drop_act(w, &w->step.out.acts[i]);
            }
        }
        sim_buffer_take_back(w);
        *ev = (struct ov_event){.kind = OV_EV_TIMER};
    } while (w->step.out.more);
    host->wake_ns = w->step.out.wake_ns;
}

static void drop_event(struct sim_world *w, struct ov_event *ev)
{
    sim_buffer_put(w, ev->buf);
    if (ev->kind == OV_EV_READ)
        sim_buffer_put(w, ev->read.buf);
}

/* Queues a timer item for the time at which the node asked to be woken, if that
 * is earlier than its valid timer item. That one is then no longer valid, and
 * is ignored when its time comes. */
static void arm_timer(struct sim_world *w, uint32_t n)
{
    struct sim_host *host = &w->hosts[n];

    if (host->wake_ns >= host->timer_ns || !sim_host_runs(w, n))
        return;
    host->timer_ns =
        host->wake_ns > w->step.now_ns ? host->wake_ns : w->step.now_ns;
    sim_push(w, host->timer_ns, SIM_ITEM_TIMER, n, (struct sim_item){0});
}

void sim_host_step(struct sim_world *w, uint32_t n, struct ov_event *ev)
{
    struct sim_host *host = &w->hosts[n];
    unsigned steps = 0;

    w->step.now_ns =
        w->queue.now_ns > host->cpu_ns ? w->queue.now_ns : host->cpu_ns;
    step(w, n, ev);
    while (sim_owed_pop(w->step.owed, ev)) {
        if (++steps > STEPS_MAX)
            sim_world_fail(w, "node %u goes on without end", n);
        if (sim_host_runs(w, n) && steps <= STEPS_MAX)
            step(w, n, ev);
        else
            drop_event(w, ev);
    }
    host->cpu_ns = w->step.now_ns;
    arm_timer(w, n);
    sim_check_step(w, n);
}

/* --- items */

bool sim_host_on_start(struct sim_world *w, const struct sim_item *item,
                       struct ov_event *ev)
{
    (void)item;
    *ev = (struct ov_event){.kind = OV_EV_START,
                            .buf = ov_buf_ref(&w->address.buf)};
    return true;
}

bool sim_host_on_timer(struct sim_world *w, const struct sim_item *item,
                       struct ov_event *ev)
{
    struct sim_host *host = &w->hosts[item->node];

    if (item->at_ns != host->timer_ns)
        return false; /* a timer item for an earlier time has replaced this
                         one */
    host->timer_ns = SIM_NEVER;
    if (host->wake_ns > item->at_ns) {
        host->timer_ns = host->wake_ns;
        if (host->wake_ns != SIM_NEVER)
            sim_push(w, host->wake_ns, SIM_ITEM_TIMER, item->node,
                     (struct sim_item){0});
        return false;
    }
    *ev = (struct ov_event){.kind = OV_EV_TIMER};
    return true;
}

/* --- how nodes end */

void sim_host_gone(struct sim_world *w, uint32_t n)
{
    w->counts.leaving += !w->hosts[n].is_gone;
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
