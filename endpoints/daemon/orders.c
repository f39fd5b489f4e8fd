/* Follows the orders on stream 0, and handles events of the hub and the
 * spawner. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "endpoints/daemon/impl.h"
#include "endpoints/sys/clock.h"
#include "overlay/base/err.h"
#include "overlay/wire/item.h"

/* --- from stream 0
 * */

static void on_signal(struct daemon *d, uint32_t index,
                      const struct job_order *order)
{
    struct ep_processes *local = d->nodes[index].local;
    uint32_t signo = order->number;

    if (order->ranges_count == 0 &&
        (signo == SIGTSTP || signo == SIGSTOP || signo == SIGCONT))
        ep_processes_pause(local, signo != SIGCONT);
    if (signo == SIGINT || signo == SIGTERM || signo == SIGHUP)
        ep_processes_ending(local);
    /* Each node signals its own processes, because another node of this daemon
     * may not have received the job yet. */
    if (ep_processes_signal(local, order))
        ep_looks_watch(d->looks);
}

static void on_order(struct daemon *d, uint32_t index,
                     const struct job_order *order)
{
    struct ep_processes *local = d->nodes[index].local;

    switch ((enum job_control_kind)order->kind) {
    case JOB_CONTROL_SIGNAL:
        on_signal(d, index, order);
        break;
    case JOB_CONTROL_KILL:
        ep_processes_ending(local);
        if (index == 0)
            ep_spawner_end(d->spawner);
        break;
    case JOB_CONTROL_REPLAY:
        ep_processes_replay(local, order);
        break;
    case JOB_CONTROL_WANT:
        ep_processes_want(local, order);
        break;
    case JOB_CONTROL_FORGET:
        ep_processes_forget(local, order->number);
        break;
    case JOB_CONTROL_MACHINE:
        if (job_order_has(order, d->numbers[index]))
            ep_daemon_tell_machine(d, index);
        break;
    case JOB_CONTROL_LOOK:
        ep_looks_ask(d->looks, index, order);
        break;
    case JOB_CONTROL_CLOCK:
        ep_processes_clock(local, order->time_ns);
        break;
    case JOB_CONTROL_JOB:
    case JOB_CONTROL_KINDS:
        break;
    }
}

static void on_control(struct daemon *d, uint32_t index,
                       const struct ov_slice *slice)
{
    struct ov_control control;
    struct job_order order;

    if (ov_control_decode(slice->buf->mem + slice->off_bytes, slice->len_bytes,
                          &control))
        return;
    if (control.kind == JOB_CONTROL_JOB)
        ep_daemon_job(d, index, &control);
    else if (job_order_decode(control.kind, control.body, &order) == 0)
        on_order(d, index, &order);
}

/* --- from the hub
 * */

static void on_read(void *arg, uint32_t index, uint16_t input,
                    uint32_t max_bytes, struct ov_read *read)
{
    struct daemon *d = arg;

    ep_processes_read(d->nodes[index].local, input, max_bytes, read);
}

static void on_consume(void *arg, uint32_t index, const struct ov_act *act,
                       const struct ov_slice *slice)
{
    struct daemon *d = arg;
    struct daemon_node *node = &d->nodes[index];

    if (act->stream != 0) {
        ep_processes_feed(node->local, act->stream, slice, act->flags);
        return;
    }
    d->has_begun = true;
    on_control(d, index, slice);
    ep_hub_put(d->hub, slice->buf);
    node->controls = act->seq + 1;
    ep_hub_consumed(d->hub, index, 0, node->controls, TOPO_NONE);
}

/* From now on the tree decides what happens to this daemon: its starter may be
 * dead. */
static void on_orphan(void *arg, uint32_t index, uint32_t parent)
{
    struct daemon *d = arg;

    (void)parent;
    d->nodes[index].orphan_ns = ep_clock_ns();
}

static void on_adopted(void *arg, uint32_t index, uint32_t parent)
{
    struct daemon *d = arg;
    struct daemon_node *node = &d->nodes[index];
    struct job_word state = {.kind = JOB_WORD_ADOPTED, .parent = parent};
    uint64_t us = (ep_clock_ns() - node->orphan_ns) / 1000;

    node->has_joined = true;
    if (node->orphan_ns == 0) { /* it now has its first parent */
        if (index == 0 && !d->config.is_virtual)
            /* Elsewhere the launcher sweeps. */
            (void)ep_spawner_sweep(d->spawner);
        return;
    }
    state.away_us = us < UINT32_MAX ? (uint32_t)us : UINT32_MAX;
    ep_processes_say(node->local, &state);
}

/* Ends a node; the end of the last node ends the daemon. */
static void end_node(struct daemon *d, uint32_t index)
{
    if (d->nodes[index].has_left)
        return;
    d->nodes[index].has_left = true;
    ep_daemon_on_over(d); /* no job waits for this node any longer */
    if (++d->left == d->nodes_count)
        ep_daemon_stop(d, d->has_goodbye ? DAEMON_LEAVES : DAEMON_FAILS);
}

static void on_end(void *arg, uint32_t index, enum ov_end why)
{
    struct daemon *d = arg;
    struct daemon_node *node = &d->nodes[index];
    char words[128];

    snprintf(words, sizeof(words), "node %u %s: its processes are killed",
             d->numbers[index],
             why == OV_END_DECLARED ? "was declared lost by the launcher"
                                    : "cannot reach any other daemon");
    ep_daemon_note(d, d->numbers[0], words);
    ep_processes_signal(node->local, &(struct job_order){.number = SIGKILL});
    end_node(d, index);
}

static void on_root_gone(void *arg)
{
    ep_daemon_stop(arg, DAEMON_QUITS);
}

static void on_leave(void *arg, uint32_t index)
{
    struct daemon *d = arg;

    d->has_goodbye = true;
    end_node(d, index);
}

/* Notes why a parent refuses us, and again when the reason changes: a refused
 * dial is repeated for a long time. */
static void on_refused(void *arg, uint32_t index, uint32_t parent,
                       uint16_t reason)
{
    static const char *const texts[OV_REFUSE_REASONS] = {
        [OV_REFUSE_LOST] = "the launcher has declared this node lost",
        [OV_REFUSE_UNATTACHED] = "that node has no parent itself",
        [OV_REFUSE_SERVE] =
            "that node no longer has the frames that this node needs",
        [OV_REFUSE_FULL] = "that node cannot take any more children",
        [OV_REFUSE_NUMBER] = "that node is not above this node in the tree",
        [OV_REFUSE_STALE] = "that node has a newer request of this node",
    };
    struct daemon *d = arg;
    char words[128];

    if (reason == OV_GRANTED || reason >= OV_REFUSE_REASONS ||
        d->refusal == texts[reason])
        return;
    d->refusal = texts[reason];
    snprintf(words, sizeof(words), "node %u is refused by node %u: %s",
             d->numbers[index], parent, d->refusal);
    ep_daemon_note(d, d->numbers[0], words);
}

const struct ep_hub_events ep_daemon_hub_events = {
    .on_read = on_read,
    .on_consume = on_consume,
    .on_refused = on_refused,
    .on_orphan = on_orphan,
    .on_adopted = on_adopted,
    .on_end = on_end,
    .on_root_gone = on_root_gone,
    .on_leave = on_leave,
};

/* --- from the spawner
 * */

/* Returns the node that has this process. */
static struct ep_processes *owner(const struct daemon *d, uint32_t proc)
{
    for (uint32_t i = 0; i < d->nodes_count; i++) {
        if (ep_processes_has(d->nodes[i].local, proc))
            return d->nodes[i].local;
    }
    return NULL;
}

static void on_started(void *arg, uint32_t proc, int64_t pid)
{
    struct ep_processes *local = owner(arg, proc);

    if (local != NULL)
        ep_processes_started(local, proc, pid);
}

/* One note is enough for all processes of the daemon. */
static void on_elsewhere(void *arg, uint32_t proc, int err)
{
    struct daemon *d = arg;
    struct ep_processes *local = owner(d, proc);
    struct job_word state = {.kind = JOB_WORD_NOTE};

    if (local == NULL || d->is_elsewhere_told)
        return;
    d->is_elsewhere_told = true;
    snprintf(state.text, sizeof(state.text),
             "cannot change to the launcher's directory (%s): processes start "
             "in the daemon's (--chdir names another)",
             strerror(err));
    ep_processes_say(local, &state);
}

static void on_failed(void *arg, uint32_t proc, const char *step, int err)
{
    struct ep_processes *local = owner(arg, proc);

    if (local != NULL)
        ep_processes_failed(local, proc, step, err);
}

/* Processes that we kill when we leave do not count as failed. */
static void on_exit_(void *arg, uint32_t proc, int status, uint64_t at_ns)
{
    struct daemon *d = arg;
    struct ep_processes *local = owner(d, proc);

    if (local != NULL && d->end == DAEMON_STAYS)
        ep_processes_exited(local, proc, status, at_ns);
}

static void on_ended(void *arg)
{
    struct daemon *d = arg;

    d->is_bare = d->end != DAEMON_STAYS;
    ep_daemon_check_gone(d);
}

static void on_spawner_lost(void *arg)
{
    struct daemon *d = arg;

    ep_daemon_error(d,
                    "xylem's process that starts the job's processes has died");
    ep_daemon_stop(d, DAEMON_FAILS);
    ep_daemon_remains(d);
}

const struct ep_spawner_events ep_daemon_spawner_events = {
    .on_started = on_started,
    .on_elsewhere = on_elsewhere,
    .on_failed = on_failed,
    .on_exit = on_exit_,
    .on_ended = on_ended,
    .on_lost = on_spawner_lost,
};
