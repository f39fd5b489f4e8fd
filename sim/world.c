/* The run: items to where they belong; building and taking down. */
#include "sim/world.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "overlay/base/err.h"
#include "sim/check.h"
#include "sim/fault.h"
#include "sim/host.h"
#include "sim/launcher.h"
#include "sim/measure.h"
#include "sim/net.h"
#include "sim/process.h"
#include "sim/tally.h"
#include "sim/world_impl.h"

enum { INPUTS = 2 };

/* As xylem run: the launcher does not wait longer for the nodes. */
#define LAUNCH_NS UINT64_C(120000000000)

void sim_world_fail(struct sim_world *w, const char *format, ...)
{
    va_list args;

    if (w->why[0] != '\0')
        return;
    va_start(args, format);
    vsnprintf(w->why, sizeof(w->why), format, args);
    va_end(args);
}

/* --- running */

static void note(struct sim_world *w, const struct sim_item *item)
{
    uint64_t word = item->at_ns ^ (uint64_t)item->node << 32 ^
                    (uint64_t)item->kind << 24 ^ (uint64_t)item->link << 8 ^
                    (uint64_t)item->arg << 16;

    w->digest = sim_random_mix(w->digest ^ word);
    w->items++;
    if (w->on_item != NULL)
        w->on_item(w, item);
}

static bool has_load(const struct sim_item *item)
{
    return item->kind == SIM_ITEM_ARRIVE || item->kind == SIM_ITEM_DELIVER;
}

static void drop(struct sim_world *w, const struct sim_item *item)
{
    if (has_load(item))
        sim_load_put(&w->store, item->what.load);
    else if (item->kind == SIM_ITEM_TAKEN)
        sim_host_put(w, &item->what.view->buf);
}

static void on_timer(struct sim_world *w, const struct sim_item *item)
{
    struct sim_host *host = &w->hosts[item->node];

    if (item->at_ns != host->timer_ns)
        return; /* an earlier one took its place */
    host->timer_ns = SIM_NEVER;
    if (host->wake_ns > item->at_ns) {
        host->timer_ns = host->wake_ns;
        if (host->wake_ns != SIM_NEVER)
            sim_push(w, host->wake_ns, SIM_ITEM_TIMER, item->node,
                     (struct sim_item){0});
        return;
    }
    sim_host_step(w, item->node, (struct ov_event){.kind = OV_EV_TIMER});
}

static void on_launch_limit(struct sim_world *w)
{
    w->now_ns = w->queue.now_ns;
    if (!w->launcher->is_joined)
        sim_host_end(w, 0, SIM_HOST_ENDED);
}

/* What happens within a host: not while it stands still. */
static void happen(struct sim_world *w, const struct sim_item *item)
{
    switch ((enum sim_item_kind)item->kind) {
    case SIM_ITEM_START:
        sim_host_step(w, item->node,
                      (struct ov_event){.kind = OV_EV_START,
                                        .buf = ov_buf_ref(&w->address)});
        break;
    case SIM_ITEM_DELIVER:
        sim_net_deliver(w, item);
        break;
    case SIM_ITEM_SENT:
        sim_net_sent(w, item);
        break;
    case SIM_ITEM_DOWN:
        sim_net_down(w, item);
        break;
    case SIM_ITEM_CONNECT:
        sim_net_connect(w, item);
        break;
    case SIM_ITEM_DIAL_FAILED:
        sim_host_step(
            w, item->node,
            (struct ov_event){.kind = OV_EV_DIAL_FAILED, .node = item->arg});
        break;
    case SIM_ITEM_PROBED:
        sim_net_probed(w, item);
        break;
    case SIM_ITEM_TIMER:
        on_timer(w, item);
        break;
    case SIM_ITEM_WRITE:
        sim_process_on_write(w, item);
        break;
    case SIM_ITEM_READ:
        sim_process_on_read(w, item);
        break;
    case SIM_ITEM_CLOSE:
        sim_process_on_close(w, item->node);
        break;
    case SIM_ITEM_TAKEN:
        sim_launcher_taken(w, item);
        break;
    case SIM_ITEM_FEED:
        break; /* the pump does it */
    case SIM_ITEM_LAUNCH_LIMIT:
        on_launch_limit(w);
        break;
    case SIM_ITEM_ARRIVE:
    case SIM_ITEM_FAULT:
    case SIM_ITEM_HEAL:
    case SIM_ITEM_KINDS:
        break;
    }
    if (item->node == 0 || item->kind == SIM_ITEM_CONNECT)
        sim_launcher_pump(w);
}

static void take(struct sim_world *w, const struct sim_item *item)
{
    if (item->kind == SIM_ITEM_ARRIVE)
        sim_net_arrive(w, item);
    else if (item->kind == SIM_ITEM_FAULT)
        sim_fault_begin(w, item);
    else if (item->kind == SIM_ITEM_HEAL)
        sim_fault_heal(w, item);
    else if (!sim_host_runs(w, item->node))
        drop(w, item);
    else if (!sim_fault_freezes(w, item))
        happen(w, item);
}

bool sim_world_run(struct sim_world *w, uint64_t items)
{
    struct sim_item item;

    for (; items > 0; items--) {
        w->is_over = w->leaving == sim_nodes(w);
        if (w->is_over || w->why[0] != '\0' || !sim_queue_pop(&w->queue, &item))
            return false;
        if (item.at_ns > w->cfg.limit_ns) {
            drop(w, &item);
            w->is_late = true;
            return false;
        }
        note(w, &item);
        take(w, &item);
    }
    return true;
}

/* --- building */

static uint8_t depth_of(const struct sim_world *w, uint32_t n)
{
    uint32_t parent = topo_tree_parent(&w->cfg.overlay.plan, n);
    unsigned depth = n == 0 ? 0 : w->hosts[parent].level + 1u;

    return (uint8_t)(depth < SIM_LEVELS_MAX ? depth : SIM_LEVELS_MAX - 1);
}

static size_t node_room(const struct sim_world *w, uint32_t n)
{
    size_t bytes = ov_node_size(&w->cfg.overlay, n, INPUTS);

    return (bytes + SIM_ALIGN - 1) / SIM_ALIGN * SIM_ALIGN;
}

static void open_node(struct sim_world *w, uint32_t n, uint8_t *mem)
{
    struct sim_host *host = &w->hosts[n];

    struct ov_node *node =
        ov_node_init(mem, &w->cfg.overlay, &w->pool, n, INPUTS,
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
        w->node_bytes += node_room(w, n);
    }
    w->node_mem = mem = malloc(w->node_bytes);
    if (mem == NULL)
        return OV_ENOMEM;
    for (uint32_t n = 0; n < sim_nodes(w); n++) {
        open_node(w, n, mem);
        mem += node_room(w, n);
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

static void open_job(struct sim_world *w)
{
    const struct sim_job *job = &w->cfg.job;
    struct topo_range all = {1, sim_nodes(w) - 1};
    const struct topo_range *targets =
        job->targets_count > 0 ? job->targets : &all;

    for (uint32_t i = 0; job->has_stdin && (i == 0 || i < job->targets_count);
         i++) {
        for (uint32_t n = targets[i].first; n <= targets[i].last; n++)
            w->processes[n].is_target = true;
    }
    for (uint32_t i = 0; i < job->readers_count; i++) {
        const struct sim_reader *reader = &job->readers[i];

        w->hosts[reader->node].has_reader = true;
        if (reader->kind == SIM_READER_CLOSE)
            sim_push(w, reader->at_ns, SIM_ITEM_CLOSE, reader->node,
                     (struct sim_item){0});
    }
    w->launcher->lost_ns = SIM_NEVER;
    w->launcher->stall_ns = SIM_NEVER;
    sim_push(w, LAUNCH_NS, SIM_ITEM_LAUNCH_LIMIT, 0, (struct sim_item){0});
}

int sim_world_open(struct sim_world *w, const struct sim_cfg *cfg)
{
    uint32_t nodes = cfg->overlay.plan.nodes;

    memset(w, 0, sizeof(*w));
    w->cfg = *cfg;
    w->random.state = cfg->seed;
    sim_queue_init(&w->queue);
    sim_store_init(&w->store);
    w->address = (struct ov_buf){.mem = w->address_mem,
                                 .cap_bytes = sizeof(w->address_mem),
                                 .len_bytes = sizeof(w->address_mem),
                                 .refs = 1}; /* ours: it stays */
    w->hosts = calloc(nodes, sizeof(*w->hosts));
    w->processes = calloc(nodes, sizeof(*w->processes));
    w->launcher = calloc(1, sizeof(*w->launcher));
    w->check = calloc(1, sizeof(*w->check));
    w->measure = calloc(1, sizeof(*w->measure));
    w->tally = calloc(1, sizeof(*w->tally));
    w->seen = cfg->tallies ? calloc(nodes, sizeof(*w->seen)) : NULL;
    w->owed = calloc(1, sizeof(*w->owed));
    if (w->check != NULL)
        w->check->books = calloc(nodes, sizeof(*w->check->books));
    if (w->hosts == NULL || w->processes == NULL || w->launcher == NULL ||
        w->check == NULL || w->check->books == NULL || w->measure == NULL ||
        w->tally == NULL || (cfg->tallies && w->seen == NULL) ||
        w->owed == NULL || open_nodes(w)) {
        sim_world_close(w);
        return OV_ENOMEM;
    }
    sim_measure_init(w);
    open_job(w);
    if (sim_fault_init(w)) {
        sim_world_close(w);
        return OV_ENOMEM;
    }
    return 0;
}

void sim_world_finish(struct sim_world *w)
{
    struct sim_item item;

    w->end_ns =
        w->queue.now_ns < w->cfg.limit_ns ? w->queue.now_ns : w->cfg.limit_ns;
    sim_check_end(w);
    while (sim_queue_pop(&w->queue, &item))
        drop(w, &item);
    sim_fault_fini(w);
    for (uint32_t n = 0; n < sim_nodes(w); n++) {
        ov_node_fini(sim_node(w, n), &w->out);
        sim_host_take_back(w);
    }
    sim_check_buffers(w);
}

void sim_world_close(struct sim_world *w)
{
    while (w->kept != NULL) {
        struct sim_kept_slab *slab = w->kept;

        w->kept = slab->next;
        free(slab);
    }
    sim_queue_fini(&w->queue);
    sim_store_fini(&w->store);
    if (w->check != NULL) {
        free(w->check->books);
        free(w->check->left);
        free(w->check->told);
    }
    free(w->check);
    free(w->measure);
    free(w->tally);
    free(w->seen);
    free(w->struck);
    free(w->launcher);
    free(w->owed);
    free(w->hosts);
    free(w->processes);
    free(w->wires);
    free(w->children);
    free(w->node_mem);
}

uint64_t sim_world_leaf_bytes(const struct sim_world *w)
{
    uint32_t leaf = sim_nodes(w) - 1;

    return node_room(w, leaf) + sizeof(struct sim_host) +
           sizeof(struct sim_process) + sizeof(struct sim_books) +
           sizeof(struct sim_wire);
}
