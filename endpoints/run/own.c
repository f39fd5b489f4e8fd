/* The session's own job. */
#include "endpoints/run/own.h"

#include <errno.h>
#include <string.h>

#include "endpoints/run/advice.h"
#include "endpoints/run/down.h"
#include "endpoints/run/impl.h"
#include "endpoints/run/nodes.h"
#include "endpoints/run/plan.h"
#include "endpoints/run/proof.h"
#include "endpoints/run/recent.h"
#include "endpoints/client/requests.h"
#include "endpoints/sys/clock.h"

static void on_started(struct run_job *job)
{
    struct run *r = job->run;

    if (job->life.nodes_unheard > 0)
        return;
    r->counts.launch_ns = ep_clock_ns() - r->plan.relaunch->start_ns;
    ep_voice_note(&r->voice, "all processes are running after %.3f s: %u",
                  (double)r->counts.launch_ns / 1e9, job->desc.size);
}

static void say_no_spill(struct run *r, uint32_t rank, int err)
{
    const char *host = ep_run_host_of_rank(&r->plan, rank);

    if (r->own.desc.spill_dir != NULL)
        ep_voice_say(&r->voice,
                     "%s: cannot spill stdin to --spill-dir '%s': %s", host,
                     r->own.desc.spill_dir, strerror(err));
    else if (err == ENOTSUP)
        ep_voice_say(&r->voice,
                     "%s: cannot spill stdin to TMPDIR or /var/tmp: both are "
                     "in memory; name a directory on a disk with --spill-dir",
                     host);
    else
        ep_voice_say(&r->voice,
                     "%s: cannot spill stdin to TMPDIR or /var/tmp: %s; name "
                     "another directory with --spill-dir",
                     host, strerror(err));
}

static void on_unstarted(struct run_job *job, const struct ep_client_job *told)
{
    struct run *r = job->run;
    const char *host = ep_run_host_of_rank(&r->plan, told->rank);

    if (job->life.is_killed)
        return;
    if (strcmp(told->step, JOB_WORD_STEP_SPILL) == 0)
        say_no_spill(r, told->rank, told->err);
    else if (strcmp(told->step, JOB_WORD_STEP_FILTER) == 0)
        ep_voice_say(&r->voice,
                     "%s: a pattern of --grep or --grep-v cannot be compiled "
                     "there: %s",
                     host, strerror(told->err));
    else if (strcmp(told->step, "bind") == 0)
        ep_voice_say(&r->voice, "rank %u on %s cannot be bound (--bind): %s",
                     told->rank, host, strerror(told->err));
    else
        ep_voice_say(
            &r->voice, "rank %u on %s cannot be started: %s of '%s': %s%s",
            told->rank, host, told->step, told->subject, strerror(told->err),
            ep_advice(told->step, told->subject, told->err));
}

/* The failure is reported by the next looks, once the output of the process was
 * written. */
static void on_bad_exit(struct run_job *job)
{
    struct run *r = job->run;

    if (r->told.failed_ns == 0) {
        r->told.failed_ns = ep_clock_ns();
        ep_recent_keep(r->told.recent, job->life.failure.rank);
    }
    ep_watch_soon(r->watch);
    if (r->options.kill_on_bad_exit)
        ep_run_kill(r);
}

static void on_abort(struct run_job *job)
{
    ep_run_abort(job->run, 1);
}

/* Tells the console and files that a channel has ended. Channels for which this
 * is not called are ended when the run ends. */
static void on_cut(struct run_job *job, const struct job_record *end)
{
    (void)ep_output_record(job->run->output, end);
}

int ep_run_own_open(struct run *r, uint32_t places)
{
    static const struct run_job_events events = {
        .on_started = on_started,
        .on_unstarted = on_unstarted,
        .on_bad_exit = on_bad_exit,
        .on_abort = on_abort,
        .on_cut = on_cut,
    };
    struct run_job *own = &r->own;
    int rc = job_life_open(&own->life, &own->desc);

    own->run = r;
    own->events = &events;
    return rc != 0 ? rc
                   : ep_proof_open(own->desc.size, job_channels(&own->desc),
                                   places, &own->proof);
}

int ep_run_own_tell(struct run *r)
{
    if (ep_run_down_job(r->down, &r->own.desc)) {
        ep_voice_say(&r->voice,
                     "the program's arguments and environment are larger than "
                     "%d MiB",
                     JOB_BYTES_MAX >> 20);
        return 1;
    }
    ep_run_nodes_told(r->nodes, &r->own.desc);
    if (r->own.desc.readers_count > 0 &&
        ep_run_down_stream(r->down, JOB_STREAM_STDIN))
        return ep_voice_fail(
            &r->voice,
            "cannot read stdin: out of memory or of open files (ulimit -n)");
    ep_run_down_pump(r->down);
    return 0;
}
