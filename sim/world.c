/* Runs a world: gives each item to the file that handles it; builds and frees
 * the world. */
#include "sim/world.h"

#include <string.h>

#include "overlay/base/err.h"
#include "sim/buffer.h"
#include "sim/check.h"
#include "sim/check_links.h"
#include "sim/fault.h"
#include "sim/host.h"
#include "sim/launcher.h"
#include "sim/measure.h"
#include "sim/net.h"
#include "sim/process.h"
#include "sim/pushes.h"
#include "sim/session.h"
#include "sim/tally.h"
#include "sim/task.h"
#include "sim/word.h"

/* --- running */

static void note_item(struct sim_world *w, const struct sim_item *item)
{
    uint64_t word = item->at_ns ^ (uint64_t)item->node << 32 ^
                    (uint64_t)item->kind << 24 ^ (uint64_t)item->link << 8 ^
                    (uint64_t)item->arg << 16;

    w->counts.digest = sim_random_mix(w->counts.digest ^ word);
    w->counts.items++;
}

static void drop_item(struct sim_world *w, const struct sim_item *item)
{
    if (sim_item_has_load(item))
        sim_load_put(&w->store, item->what.load);
    else if (item->kind == SIM_ITEM_TAKEN)
        sim_buffer_put(w, &item->what.view->buf);
}

/* Handles the result of a dial. The node that was dialled is stepped before the
 * one that dialled. */
static bool on_connect(struct sim_world *w, const struct sim_item *item,
                       struct ov_event *ev)
{
    struct ov_event dialled;

    if (!sim_net_connect(w, item, ev, &dialled))
        return false;
    if (ev->kind == OV_EV_LINK_UP)
        sim_host_step(w, item->arg, &dialled);
    return true;
}

static bool on_read(struct sim_world *w, const struct sim_item *item,
                    struct ov_event *ev)
{
    if (sim_process_on_read(w, item, ev))
        sim_host_step(w, item->node, ev);
    return sim_process_last_word(w, item->node, ev);
}

static bool on_close(struct sim_world *w, const struct sim_item *item,
                     struct ov_event *ev)
{
    if (sim_process_on_close(w, item, ev))
        sim_host_step(w, item->node, ev);
    return sim_process_last_word(w, item->node, ev);
}

/* The functions that handle items; the result of each is an event for the
 * item's node. An item without a function only makes pump() run. */
static bool (*const handlers[SIM_ITEM_KINDS])(struct sim_world *w,
                                              const struct sim_item *item,
                                              struct ov_event *ev) = {
    [SIM_ITEM_START] = sim_host_on_start,
    [SIM_ITEM_DELIVER] = sim_net_deliver,
    [SIM_ITEM_SENT] = sim_net_sent,
    [SIM_ITEM_DOWN] = sim_net_down,
    [SIM_ITEM_CONNECT] = on_connect,
    [SIM_ITEM_DIAL_FAILED] = sim_net_dial_failed,
    [SIM_ITEM_PROBED] = sim_net_probed,
    [SIM_ITEM_TIMER] = sim_host_on_timer,
    [SIM_ITEM_WRITE] = sim_process_on_write,
    [SIM_ITEM_READ] = on_read,
    [SIM_ITEM_CLOSE] = on_close,
    [SIM_ITEM_TAKEN] = sim_launcher_taken,
    [SIM_ITEM_LAUNCH_LIMIT] = sim_session_on_launch_limit,
    [SIM_ITEM_TELL] = sim_launcher_tell,
    [SIM_ITEM_KILL] = sim_launcher_kill,
    [SIM_ITEM_EXIT] = sim_task_on_exit,
    [SIM_ITEM_PUSH] = sim_pushes_on_push,
    [SIM_ITEM_TIMEOUT] = sim_session_on_timeout,
    [SIM_ITEM_LATE] = sim_session_on_late,
};

/* To be called after each item of the root: ends the run if it is over, and
 * sends orders and stdin as far as there is room. */
static void pump(struct sim_world *w)
{
    struct ov_event ev;

    sim_launcher_settle(w);
    while (w->launcher->left_ns == SIM_NEVER && sim_launcher_say(w, &ev))
        sim_host_step(w, 0, &ev);
    if (w->launcher->left_ns != SIM_NEVER)
        sim_host_end(w, 0, SIM_HOST_LEFT);
}

/* Handles an item of a host, steps the node if an event comes of it, and sends
 * what the launcher now has to send. */
static void happen(struct sim_world *w, const struct sim_item *item)
{
    struct ov_event ev;

    if (handlers[item->kind] != NULL && handlers[item->kind](w, item, &ev))
        sim_host_step(w, item->node, &ev);
    if (item->node == 0 || item->kind == SIM_ITEM_CONNECT)
        pump(w);
}

static void on_fault(struct sim_world *w, const struct sim_item *item)
{
    const struct sim_fault *fault = &w->cfg.faults[item->arg];
    uint32_t n = item->node;

    if (!sim_host_runs(w, n))
        return; /* a fault cannot strike a node that has ended */
    w->step.now_ns = item->at_ns;
    sim_fault_touch(w, n, fault);
    if (fault->kind == SIM_FAULT_KILL) {
        sim_host_end(w, n, SIM_HOST_DEAD);
        return;
    }
    if (fault->kind == SIM_FAULT_RESET) {
        sim_net_break(w, n, TOPO_NONE);
        return;
    }
    if (fault->kind == SIM_FAULT_CUT)
        sim_net_break(w, n, fault->peer);
    if (fault->kind == SIM_FAULT_FREEZE && fault->length_ns == SIM_NEVER)
        sim_host_gone(w, n);
    sim_fault_begin(w, item);
}

static void handle_item(struct sim_world *w, const struct sim_item *item)
{
    if (item->kind == SIM_ITEM_ARRIVE)
        sim_net_arrive(w, item);
    else if (item->kind == SIM_ITEM_FAULT)
        on_fault(w, item);
    else if (item->kind == SIM_ITEM_HEAL)
        sim_fault_heal(w, item);
    else if (!sim_host_runs(w, item->node))
        drop_item(w, item);
    else if (!sim_fault_freezes(w, item))
        happen(w, item);
}

bool sim_world_run(struct sim_world *w, uint64_t items)
{
    struct sim_item item;

    for (; items > 0; items--) {
        w->end.is_over = w->counts.leaving == sim_nodes(w);
        if (w->end.is_over || w->end.why[0] != '\0' ||
            !sim_queue_pop(&w->queue, &item))
            return false;
        if (item.at_ns > w->cfg.limit_ns) {
            drop_item(w, &item);
            return false;
        }
        note_item(w, &item);
        handle_item(w, &item);
    }
    return true;
}

/* --- building */

int sim_world_open(struct sim_world *w, const struct sim_cfg *cfg)
{
    memset(w, 0, sizeof(*w));
    w->cfg = *cfg;
    if (cfg->job.further_count == 0) /* without further jobs nothing is pushed
                                        to them */
        w->cfg.overlay.streams_max--;
    w->random.state = cfg->seed;
    sim_queue_init(&w->queue);
    sim_store_init(&w->store);
    if (sim_host_open(w) || sim_word_open(w) || sim_process_open(w) ||
        sim_launcher_open(w) || sim_check_open(w) || sim_check_links_open(w) ||
        sim_measure_open(w) || sim_tally_open(w) || sim_fault_open(w)) {
        sim_world_close(w);
        return OV_ENOMEM;
    }
    return 0;
}

void sim_world_finish(struct sim_world *w)
{
    struct sim_item item;

    w->end.at_ns =
        w->queue.now_ns < w->cfg.limit_ns ? w->queue.now_ns : w->cfg.limit_ns;
    sim_check_end(w);
    while (sim_queue_pop(&w->queue, &item))
        drop_item(w, &item);
    sim_fault_close(w);
    sim_launcher_finish(w);
    sim_host_finish(w);
    sim_check_buffers(w);
}

void sim_world_close(struct sim_world *w)
{
    sim_fault_close(w);
    sim_tally_close(w);
    sim_measure_close(w);
    sim_check_links_close(w);
    sim_check_close(w);
    sim_launcher_close(w);
    sim_process_close(w);
    sim_word_close(w);
    sim_host_close(w);
    sim_queue_fini(&w->queue);
    sim_store_fini(&w->store);
}

uint64_t sim_world_leaf_bytes(const struct sim_world *w)
{
    return sim_host_node_bytes(w, sim_nodes(w) - 1) + sizeof(struct sim_host) +
           sizeof(struct sim_process) + sizeof(struct sim_books) +
           sizeof(struct sim_wire);
}
