/* The launcher at the root: drives the jobs and the session. */
#include "sim/launcher.h"

#include <stdlib.h>

#include "overlay/base/err.h"
#include "sim/buffer.h"
#include "sim/check.h"
#include "sim/jobs.h"
#include "sim/measure.h"
#include "sim/orders.h"
#include "sim/pushes.h"
#include "sim/session.h"
#include "sim/stdin.h"
#include "sim/word.h"

int sim_launcher_open(struct sim_world *w)
{
    int rc;

    w->launcher = calloc(1, sizeof(*w->launcher));
    if (w->launcher == NULL)
        return OV_ENOMEM;
    w->launcher->lost_ns = SIM_NEVER;
    w->launcher->stall_ns = SIM_NEVER;
    sim_session_open(w);
    rc = sim_stdin_open(w);
    return rc != 0 ? rc : sim_pushes_open(w);
}

void sim_launcher_finish(struct sim_world *w)
{
    sim_orders_drop(w);
    sim_stdin_finish(w);
}

void sim_launcher_close(struct sim_world *w)
{
    sim_pushes_close(w);
    sim_stdin_close(w);
    sim_jobs_close(w);
    free(w->launcher);
}

bool sim_launcher_say(struct sim_world *w, struct ov_event *ev)
{
    return sim_orders_next(w, ev) || sim_stdin_next(w, ev);
}

/* --- jobs */

/* Orders the nodes to kill a job: a further job alone; for the run's own job,
 * the whole run. */
static void kill_job(struct sim_world *w, uint32_t job)
{
    if (job == 0) {
        sim_session_kill(w);
    } else if (!w->jobs.told[job].life.is_killed &&
               w->launcher->session.state < JOB_SESSION_LEAVING) {
        job_life_kill(&w->jobs.told[job].life, w->step.now_ns);
        sim_orders_plan_job(w, SIM_ORDER_KILL, job);
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

static void tell_own(struct sim_world *w)
{
    struct sim_told *own = sim_jobs_tell_own(w);

    sim_stdin_expect(w, own->tool.pushes > 0);
    if (w->cfg.job.has_stdin)
        sim_stdin_open_stream(w, JOB_STREAM_STDIN);
    sim_orders_plan_job(w, SIM_ORDER_LAUNCH, SIM_JOBS_ALL);
}

void sim_launcher_joined(struct sim_world *w)
{
    struct sim_launcher *l = w->launcher;

    sim_session_begun(w);
    l->joined_ns = w->step.now_ns;
    tell_own(w);
    if (w->cfg.job.ends_on_loss && l->given_up > 0)
        sim_session_kill(w);
    for (uint32_t n = 1; n < sim_nodes(w) && l->given_up > 0; n++) {
        if (w->hosts[n].node.is_silent)
            sim_jobs_lost(w, n);
    }
    plan_kill(w, 0, w->cfg.job.kill_ns);
    plan_further(w, 0);
}

/* Starts a further job, unless the run is ending, as in `xylem run`. */
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
        sim_stdin_open_stream(w, JOB_STREAM_PUSHED);
        sim_orders_plan_job(w, SIM_ORDER_LAUNCH, job);
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

/* --- reports of nodes */

/* Handles the word OVER: all jobs with processes on the node are over there. */
static void on_over(struct sim_world *w, uint32_t node, uint32_t jobs)
{
    w->launcher->finals +=
        job_node_over(&w->hosts[node].node, jobs) == JOB_NODE_FINAL;
}

/* Handles a report about a process. When a process cannot be started the job is
 * killed. */
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
                                   .at = {w->step.now_ns, w->step.now_ns}};
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

/* Handles the single record that a node sends in a job without words: it means
 * that all went well. */
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

/* The time at which a console that is stuck at at_ns takes records again. */
static uint64_t unstuck_ns(const struct sim_job *job, uint64_t at_ns)
{
    uint64_t end_ns = SIM_NEVER - 1; /* as late as possible: it stays stuck */

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

/* Handles the loss of a node: the launcher no longer waits for it, and ends the
 * run if a loss does so. The loss of a node that has sent its last report
 * changes nothing. */
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
        sim_session_kill(w);
}

void sim_launcher_stalled(struct sim_world *w, const struct ov_act *act)
{
    struct sim_launcher *l = w->launcher;

    l->stall_ns = w->step.now_ns;
    l->stall_node = act->node;
    l->stall_rank = act->rank;
}

/* Reports to the session that the goodbye has reached all nodes. */
void sim_launcher_gone(struct sim_world *w)
{
    sim_session_gone(w);
}

/* Ends the run when the launcher has the last report of each node or has given
 * the node up, all jobs are over, and the console has all output. */
void sim_launcher_settle(struct sim_world *w)
{
    const struct sim_launcher *l = w->launcher;

    if (l->records_left == 0 && l->orders_count == 0 &&
        l->finals == sim_nodes(w) - 1 && sim_jobs_are_over(w) &&
        job_session_runs(&l->session))
        sim_session_done(w);
}
