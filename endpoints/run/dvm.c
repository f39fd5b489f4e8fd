/* A tree without a job of its own. */
#include "endpoints/run/dvm.h"

#include <signal.h>
#include <unistd.h>

#include "endpoints/run/relaunch.h"
#include "endpoints/run/impl.h"
#include "endpoints/run/jobs.h"
#include "endpoints/run/nodes.h"
#include "endpoints/run/orders.h"
#include "endpoints/run/report.h"

/* How many seconds a job has between SIGTERM and SIGKILL. */
enum { GRACE_S = 2 };

/* --- the dvm begins */

static void say_up(struct run *r)
{
    const uint32_t nodes = r->plan.nodes_count - r->loss.count;

    ep_voice_remark(&r->voice,
                    "%u node%s up: jobs can be started; `xylem dvm --stop=%d' "
                    "ends this dvm",
                    nodes, nodes == 1 ? " is" : "s are", (int)getpid());
}

void ep_run_dvm_begin(struct run *r)
{
    ep_run_nodes_idle(r->nodes);
    /* When a daemon receives an order of the launcher, it knows that the tree
     * is complete. This order has no effect, as there is no process yet. */
    ep_run_orders_signal(r->orders, SIGCONT, NULL, 0);
}

void ep_run_dvm_alone(struct run *r)
{
    if (!r->options.is_dvm || r->end.is_ending)
        return;
    if (r->plan.relaunch->door != NULL && r->report == NULL) {
        say_up(r);
        return;
    }
    ep_voice_say(&r->voice,
                 "PMIx tools cannot connect (`xylem dvm -v' says why), and %s",
                 r->report != NULL
                     ? "--report-uri is of no use without them"
                     : "`xylem run --dvm' cannot find this dvm either");
    ep_run_abort(r, 1);
}

void ep_run_dvm_up(struct run *r, const char *uri)
{
    if (!r->options.is_dvm || r->end.is_ending)
        return;
    if (r->report != NULL && ep_run_report_put(r->report, r->base, uri) != 0)
        ep_run_abort(r, 1);
    else
        say_up(r);
}

void ep_run_dvm_give_up(struct run *r, const char *why)
{
    ep_voice_say(&r->voice, "%s", why);
    ep_run_abort(r, 1);
    r->end.is_ending = true;
    ep_run_check_done(r); /* The dvm ends at once, as no client could start a
                           * job. */
}

/* --- the dvm ends */

static void on_grace(evutil_socket_t fd, short what, void *arg)
{
    struct run *r = arg;

    (void)fd;
    (void)what;
    ep_voice_note(&r->voice, "killing the jobs that still run");
    ep_run_abort(r, 0);
}

void ep_run_dvm_end(struct run *r)
{
    static const struct timeval grace = {.tv_sec = GRACE_S};

    r->end.is_ending = true;
    r->end.grace = evtimer_new(r->base, on_grace, r);
    if (!ep_run_jobs_further(r)) {
        ep_run_check_done(r);
    } else if (r->end.grace == NULL) {
        ep_run_abort(r, 0);
    } else {
        ep_voice_note(&r->voice, "ending the jobs that run");
        ep_run_orders_signal(r->orders, SIGTERM, NULL, 0);
        ep_run_orders_signal(r->orders, SIGCONT, NULL, 0);
        evtimer_add(r->end.grace, &grace);
    }
}

void ep_run_dvm_stop(struct run *r)
{
    if (!ep_run_end_early(r, SIGTERM) && !r->end.is_ending)
        ep_run_dvm_end(r);
}

void ep_run_dvm_close(struct run *r)
{
    if (r->end.grace != NULL)
        event_free(r->end.grace);
    ep_run_report_close(r->report);
    r->report = NULL;
}
