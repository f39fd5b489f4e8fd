/* The life of a job as the root sees it. */
#include "sim/launcher.h"

#include <stdlib.h>

#include "overlay/base/err.h"
#include "sim/buffer.h"
#include "sim/check.h"
#include "sim/jobs.h"
#include "sim/measure.h"
#include "sim/process.h"
#include "sim/word.h"

/* What an order takes with its head: OPEN with all its ranges. */
enum { ORDER_BYTES = 64 + 8 * SIM_TARGETS_MAX };

/* As xylem run: the launcher does not wait longer for the nodes. */
#define LAUNCH_NS UINT64_C(120000000000)

int sim_launcher_open(struct sim_world *w)
{
    w->launcher = calloc(1, sizeof(*w->launcher));
    if (w->launcher == NULL)
        return OV_ENOMEM;
    w->launcher->session = JOB_SESSION_INIT;
    w->launcher->lost_ns = SIM_NEVER;
    w->launcher->stall_ns = SIM_NEVER;
    sim_push(w, LAUNCH_NS, SIM_ITEM_LAUNCH_LIMIT, 0, (struct sim_item){0});
    return 0;
}

void sim_launcher_close(struct sim_world *w)
{
    sim_jobs_close(w);
    free(w->launcher);
}

/* --- orders on stream 0 */

static void plan_order(struct sim_world *w, uint8_t kind, uint32_t job)
{
    struct sim_launcher *l = w->launcher;

    OV_ASSERT(l->orders_count < SIM_ORDERS_MAX);
    l->orders[l->orders_count++] = (struct sim_order){kind, (uint8_t)job};
}

/* A frame of the root's own: its head is written by the node. */
static struct ov_event frame(struct sim_world *w, struct sim_load *load,
                             uint32_t stream)
{
    struct sim_view *view = sim_buffer_fed(w, stream, load);

    return (struct ov_event){.kind = OV_EV_DOWN,
                             .stream = stream,
                             .buf = &view->buf,
                             .len_bytes = load->len_bytes - OV_DOWN_HEAD_BYTES};
}

static bool has_room(const struct sim_world *w, uint32_t stream)
{
    return sim_host_runs(w, 0) && ov_node_down_room(sim_node(w, 0), stream) > 0;
}

static struct ov_event first_order(struct sim_world *w)
{
    struct sim_launcher *l = w->launcher;
    struct sim_order order = l->orders[0];
    struct sim_load *load = sim_load_new(&w->store, ORDER_BYTES, 0);
    struct ov_wr wr = ov_wr_init(load->head + OV_DOWN_HEAD_BYTES,
                                 ORDER_BYTES - OV_DOWN_HEAD_BYTES);
    const struct sim_job *job = &w->cfg.job;
    struct topo_range all = {1, sim_nodes(w) - 1};
    struct ov_open open = {
        .stream = 1,
        .window = w->cfg.overlay.down_frames,
        .ranges = (uint16_t)(job->targets_count > 0 ? job->targets_count : 1)};

    l->orders_count--;
    for (unsigned i = 0; i < l->orders_count; i++)
        l->orders[i] = l->orders[i + 1];
    if (order.kind == OV_CONTROL_OPEN)
        ov_open_encode(&wr, &open,
                       job->targets_count > 0 ? job->targets : &all);
    else
        ov_control_encode(&wr, order.kind, false);
    if (order.job != SIM_JOBS_ALL)
        ov_wr_u32(&wr, order.job);
    load->head_bytes = load->len_bytes = (uint32_t)(wr.at - load->head);
    return frame(w, load, 0);
}

bool sim_launcher_say(struct sim_world *w, struct ov_event *ev)
{
    if (w->launcher->orders_count == 0 || !has_room(w, 0))
        return false;
    *ev = first_order(w);
    return true;
}

/* --- jobs */

/* An order only while jobs run. */
static void send_kill(struct sim_world *w)
{
    if (job_session_step(&w->launcher->session, JOB_SESSION_KILL, 0) &
        JOB_SESSION_DO_KILL)
        plan_order(w, SIM_ORDER_KILL, SIM_JOBS_ALL);
}

/* Everybody is told to die, so how they end says nothing. */
static void kill_all(struct sim_world *w)
{
    struct sim_launcher *l = w->launcher;

    if (l->is_killed || l->session.state >= JOB_SESSION_LEAVING)
        return;
    l->is_killed = true;
    for (uint32_t i = 0; i < w->jobs.count; i++)
        w->jobs.told[i].life.is_killed = true;
    send_kill(w);
}

/* A further one alone; the end of the own is that of the run. */
static void kill_job(struct sim_world *w, uint32_t job)
{
    if (job == 0) {
        kill_all(w);
    } else if (!w->jobs.told[job].life.is_killed &&
               w->launcher->session.state < JOB_SESSION_LEAVING) {
        w->jobs.told[job].life.is_killed = true;
        plan_order(w, SIM_ORDER_KILL, job);
    }
}

static void plan_kill(struct sim_world *w, uint32_t job, uint64_t after_ns)
{
    if (after_ns != SIM_NEVER)
        sim_push(w, w->step.now_ns + after_ns, SIM_ITEM_KILL, 0,
                 (struct sim_item){.arg = job});
}

static void plan_further(struct sim_world *w, uint32_t i)
{
    if (i < w->cfg.job.further_count)
        sim_push(w, w->step.now_ns + w->cfg.job.further[i].at_ns, SIM_ITEM_TELL,
                 0, (struct sim_item){.arg = i});
}

void sim_launcher_joined(struct sim_world *w)
{
    struct sim_launcher *l = w->launcher;

    (void)job_session_step(&l->session, JOB_SESSION_BEGUN, 0);
    l->joined_ns = w->step.now_ns;
    if (w->cfg.job.has_stdin)
        plan_order(w, OV_CONTROL_OPEN, SIM_JOBS_ALL);
    sim_jobs_tell_own(w)->life.is_killed = l->is_killed;
    plan_order(w, SIM_ORDER_LAUNCH, SIM_JOBS_ALL);
    if (l->is_killed)
        send_kill(w);
    for (uint32_t n = 1; n < sim_nodes(w) && l->given_up > 0; n++) {
        if (w->hosts[n].node.is_silent)
            sim_jobs_lost(w, n);
    }
    plan_kill(w, 0, w->cfg.job.kill_ns);
    plan_further(w, 0);
}

/* As in xylem run: a run that ends takes no further jobs. */
bool sim_launcher_tell(struct sim_world *w, const struct sim_item *item,
                       struct ov_event *ev)
{
    const struct sim_further *further = &w->cfg.job.further[item->arg];
    uint32_t job = w->jobs.count;

    (void)ev;
    w->step.now_ns = item->at_ns;
    if (w->launcher->session.state != JOB_SESSION_RUNNING)
        return false;
    if (sim_jobs_tell(w, further) != NULL) {
        plan_order(w, SIM_ORDER_LAUNCH, job);
        plan_kill(w, job, further->kill_ns);
    }
    plan_further(w, item->arg + 1);
    return false;
}

bool sim_launcher_kill(struct sim_world *w, const struct sim_item *item,
                       struct ov_event *ev)
{
    (void)ev;
    w->step.now_ns = item->at_ns;
    kill_job(w, item->arg);
    return false;
}

/* --- stdin */

static bool can_feed(const struct sim_world *w)
{
    const struct sim_launcher *l = w->launcher;

    return w->cfg.job.has_stdin && !l->has_ended && has_room(w, 1) &&
           w->queue.now_ns >= l->feed_ns;
}

bool sim_launcher_feed(struct sim_world *w, struct ov_event *ev)
{
    struct sim_launcher *l = w->launcher;
    const struct sim_job *job = &w->cfg.job;
    uint32_t room = w->cfg.overlay.frame_bytes - OV_DOWN_HEAD_BYTES;
    uint64_t left = job->stdin_bytes - l->fed_bytes;
    uint32_t len = left < room ? (uint32_t)left : room;
    struct sim_load *load;

    if (!can_feed(w))
        return false;
    load = sim_load_new(&w->store, OV_DOWN_HEAD_BYTES, 1);
    load->head_bytes = load->len_bytes = OV_DOWN_HEAD_BYTES;
    if (len > 0)
        sim_load_add(load,
                     (struct sim_extent){l->fed_bytes, SIM_KEY_STDIN, len});
    *ev = frame(w, load, 1);
    l->fed_bytes += len;
    if (l->fed_bytes == job->stdin_bytes || l->is_killed) {
        ev->flags = OV_DOWN_END;
        l->has_ended = true;
    }
    l->feed_ns = w->queue.now_ns + sim_time_ns(len, job->stdin_rate);
    if (!l->has_ended && l->feed_ns > w->queue.now_ns)
        sim_push(w, l->feed_ns, SIM_ITEM_FEED, 0, (struct sim_item){0});
    sim_measure_fed(w);
    return true;
}

/* --- words of nodes */

/* All that has processes there is over, as far as the node was told. */
static void on_over(struct sim_world *w, uint32_t node, uint32_t jobs)
{
    w->launcher->finals +=
        job_node_over(&w->hosts[node].node, jobs) == JOB_NODE_FINAL;
}

/* Without a process that cannot be started its job cannot do. */
static void on_process(struct sim_world *w, uint32_t node,
                       const struct sim_word *word)
{
    static const uint8_t kinds[JOB_WORD_KINDS] = {
        [JOB_WORD_STARTED] = JOB_LIFE_NODE_STARTED,
        [JOB_WORD_EXIT] = JOB_LIFE_PROCESS_ENDED,
        [JOB_WORD_FAILED] = JOB_LIFE_PROCESS_UNSTARTED,
    };
    struct job_life_event event = {.kind =
                                       (enum job_life_kind)kinds[word->kind],
                                   .node = node,
                                   .status = word->status,
                                   .now_ns = w->step.now_ns};
    struct sim_told *job = sim_jobs_of(w, word->number, &event.rank);

    if (job == NULL || job_node_of(&job->desc, event.rank, NULL) != node)
        sim_world_fail(w, "node %u speaks of process %u, which is not there",
                       node, word->number);
    else if (sim_jobs_step(w, job, &event).is_failed)
        kill_job(w, (uint32_t)(job - w->jobs.told));
}

static void on_word(struct sim_world *w, uint32_t node,
                    const struct sim_word *word)
{
    if (word->kind == JOB_WORD_OVER)
        on_over(w, node, word->number);
    else
        on_process(w, node, word);
}

/* The node has no words: its last one says that all is well. */
static void on_last_word(struct sim_world *w, uint32_t node)
{
    struct sim_word words[] = {
        {.kind = JOB_WORD_STARTED, .number = node - 1},
        {.kind = JOB_WORD_EXIT, .number = node - 1},
        {.kind = JOB_WORD_OVER, .number = 1},
    };

    for (unsigned i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        on_word(w, node, &words[i]);
}

static void on_state(struct sim_world *w, const struct ov_act *act,
                     const struct ov_slice *slice)
{
    struct sim_word word;
    uint32_t at_bytes = 0;

    if ((act->rec.flags & OV_RECORD_EOF) != 0)
        on_last_word(w, act->rec.source);
    while (sim_word_next(slice, &at_bytes, &word))
        on_word(w, act->rec.source, &word);
    if (at_bytes < slice->len_bytes)
        sim_world_fail(w, "node %u says something that is no word",
                       act->rec.source);
}

/* --- records */

/* When a console takes again what it would take now. */
static uint64_t unstuck_ns(const struct sim_job *job, uint64_t at_ns)
{
    uint64_t end_ns = SIM_NEVER - 1; /* never */

    if (job->console_length_ns < end_ns - job->console_stuck_ns)
        end_ns = job->console_stuck_ns + job->console_length_ns;
    return at_ns < end_ns ? end_ns : at_ns;
}

void sim_launcher_record(struct sim_world *w, const struct ov_act *act,
                         const struct ov_slice *slice)
{
    struct sim_launcher *l = w->launcher;
    const struct sim_job *job = &w->cfg.job;
    uint32_t source = act->rec.source;
    uint64_t from_ns =
        l->console_ns > w->step.now_ns ? l->console_ns : w->step.now_ns;

    sim_check_shown(w, act, slice);
    sim_measure_shown(w, source, act->rec.len_bytes);
    if (act->rec.channel == OV_CHANNEL_STATE)
        on_state(w, act, slice);
    l->records_left++;
    if (from_ns < SIM_NEVER - 1)
        l->console_ns =
            from_ns + sim_time_ns(act->rec.len_bytes, job->console_rate);
    if (l->console_ns >= job->console_stuck_ns)
        l->console_ns = unstuck_ns(job, l->console_ns);
    sim_push(w, l->console_ns, SIM_ITEM_TAKEN, 0,
             (struct sim_item){.arg = act->cookie,
                               .era = source,
                               .what.view = sim_view_of(slice->buf)});
}

bool sim_launcher_taken(struct sim_world *w, const struct sim_item *item,
                        struct ov_event *ev)
{
    w->launcher->records_left--;
    sim_buffer_put(w, &item->what.view->buf);
    sim_check_taken(w, item->era);
    *ev = (struct ov_event){.kind = OV_EV_TAKEN, .cookie = item->arg};
    return true;
}

/* --- losses and the end */

/* Nobody waits for it any more; the others go on, or not. One that has said
 * its last word is missed by nobody. */
void sim_launcher_lost(struct sim_world *w, uint32_t node)
{
    struct sim_launcher *l = w->launcher;

    if (job_node_lost(&w->hosts[node].node) == JOB_NODE_SAME)
        return;
    if (l->lost_ns == SIM_NEVER) {
        l->lost_ns = w->step.now_ns;
        l->lost = node;
    }
    l->finals++;
    l->given_up++;
    sim_jobs_lost(w, node);
    if (w->cfg.job.ends_on_loss)
        kill_all(w);
}

void sim_launcher_stalled(struct sim_world *w, const struct ov_act *act)
{
    struct sim_launcher *l = w->launcher;

    l->stall_ns = w->step.now_ns;
    l->stall_node = act->node;
    l->stall_rank = act->rank;
}

/* Everything that was said is here and shown, or nothing more can come. */
void sim_launcher_settle(struct sim_world *w)
{
    struct sim_launcher *l = w->launcher;

    if (!job_session_runs(&l->session) || l->records_left > 0 ||
        l->orders_count > 0 || l->finals < sim_nodes(w) - 1 ||
        !sim_jobs_are_over(w) ||
        (job_session_step(&l->session, JOB_SESSION_DONE, 0) &
         JOB_SESSION_DO_GOODBYE) == 0)
        return;
    l->goodbye_ns = w->queue.now_ns;
    plan_order(w, OV_CONTROL_GOODBYE, SIM_JOBS_ALL);
}
