/* Drives job/session.h and carries out what it decides. */
#include "sim/session.h"

#include "sim/orders.h"

/* Time limits of the launch and of the end, as in `xylem run`. */
#define LAUNCH_NS UINT64_C(120000000000)
#define LATE_NS   UINT64_C(3000000000)

void sim_session_open(struct sim_world *w)
{
    w->launcher->session = JOB_SESSION_INIT;
    w->launcher->late_ns = SIM_NEVER;
    w->launcher->aborted_ns = SIM_NEVER;
    w->launcher->left_ns = SIM_NEVER;
    sim_push(w, LAUNCH_NS, SIM_ITEM_LAUNCH_LIMIT, 0, (struct sim_item){0});
    if (w->cfg.job.timeout_ns != SIM_NEVER)
        sim_push(w, w->cfg.job.timeout_ns, SIM_ITEM_TIMEOUT, 0,
                 (struct sim_item){0});
}

/* Orders all nodes to kill all processes. From then on the checks allow them to
 * end in any way. */
static void kill_all(struct sim_world *w)
{
    w->launcher->is_killed = true;
    for (uint32_t i = 0; i < w->jobs.count; i++)
        job_life_kill(&w->jobs.told[i].life, w->step.now_ns);
    sim_orders_plan_job(w, SIM_ORDER_KILL, SIM_JOBS_ALL);
}

static void start_end_limit(struct sim_world *w)
{
    struct sim_launcher *l = w->launcher;

    l->late_ns = w->queue.now_ns + LATE_NS;
    sim_push(w, l->late_ns, SIM_ITEM_LATE, 0, (struct sim_item){0});
}

/* Passes an event to the session and does what it decides. It ignores
 * JOB_SESSION_DO_BREAK, which makes a launcher stop waiting for its daemons:
 * the simulator always waits for its nodes. */
static void step(struct sim_world *w, enum job_session_event event, int code)
{
    struct sim_launcher *l = w->launcher;
    unsigned acts = job_session_step(&l->session, event, code);

    if ((acts & JOB_SESSION_DO_KILL) != 0)
        kill_all(w);
    if ((acts & JOB_SESSION_DO_HURRY) != 0)
        start_end_limit(w);
    if ((acts & JOB_SESSION_DO_GOODBYE) != 0) {
        l->goodbye_ns = w->queue.now_ns;
        sim_orders_plan_job(w, OV_CONTROL_GOODBYE, SIM_JOBS_ALL);
    }
    if ((acts & JOB_SESSION_DO_LEAVE) != 0)
        l->left_ns = w->queue.now_ns;
}

void sim_session_begun(struct sim_world *w)
{
    step(w, JOB_SESSION_BEGUN, 0);
}

void sim_session_kill(struct sim_world *w)
{
    step(w, JOB_SESSION_KILL, 0);
}

void sim_session_done(struct sim_world *w)
{
    step(w, JOB_SESSION_DONE, 0);
}

void sim_session_gone(struct sim_world *w)
{
    w->launcher->has_reached_all = true;
    step(w, JOB_SESSION_GONE, 0);
}

static void abort_run(struct sim_world *w, uint64_t at_ns, int code)
{
    w->step.now_ns = at_ns;
    if (w->launcher->session.state < JOB_SESSION_ENDING)
        w->launcher->aborted_ns = at_ns;
    step(w, JOB_SESSION_ABORT, code);
}

bool sim_session_on_launch_limit(struct sim_world *w,
                                 const struct sim_item *item,
                                 struct ov_event *ev)
{
    (void)ev;
    if (!w->launcher->session.has_begun)
        abort_run(w, item->at_ns, SIM_CODE_LAUNCH);
    return false;
}

bool sim_session_on_timeout(struct sim_world *w, const struct sim_item *item,
                            struct ov_event *ev)
{
    (void)ev;
    abort_run(w, item->at_ns, SIM_CODE_TIMEOUT);
    return false;
}

bool sim_session_on_late(struct sim_world *w, const struct sim_item *item,
                         struct ov_event *ev)
{
    (void)ev;
    w->step.now_ns = item->at_ns;
    if (item->at_ns == w->launcher->late_ns)
        step(w, JOB_SESSION_LATE, 0);
    return false;
}
