/* Output of a further job to files and to the console. */
#include "endpoints/run/sinks.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "endpoints/output/files.h"
#include "endpoints/run/records.h"
#include "endpoints/run/impl.h"
#include "endpoints/run/proof.h"
#include "endpoints/run/style.h"
#include "endpoints/client/requests.h"
#include "endpoints/sys/clock.h"
#include "overlay/base/err.h"

enum { OPEN_MIN = 4 };

/* How the console shows the output of a job. */
struct run_shown {
    struct run_shown *next;
    struct text_style style;
    char nspace[64];
};

struct run_sinks {
    struct run *run;
    struct run_sinks_job job;
    struct ep_files *files; /* NULL when the job has no files */
    /* owned by the run; NULL when the job is not shown */
    const struct run_shown *shown;
    /* Owned: calls on_done, because that may close the sinks, which must not
     * happen within a callback of the files. */
    struct event *done;
    struct text_style style;
    char *nspace, *text; /* owned: strings that style and names borrow */
    uint32_t open_max;
    bool is_finishing;
};

/* --- events of the files */

static void on_written(void *arg, uint32_t number, uint8_t channel,
                       const void *mem, uint32_t len_bytes)
{
    struct run_sinks *sinks = arg;

    ep_proof_written(sinks->job.proof, 1, number - sinks->job.desc->base,
                     channel, mem, len_bytes);
}

static void on_taken(void *arg, uint64_t cookie)
{
    struct run_sinks *sinks = arg;

    ep_run_let_go(sinks->run->records, cookie);
}

static void on_error(void *arg, int err, const char *why)
{
    struct run_sinks *sinks = arg;

    (void)err;
    sinks->job.events->on_error(sinks->job.arg, why);
}

static void on_drained(void *arg)
{
    struct run_sinks *sinks = arg;

    if (sinks->is_finishing)
        event_active(sinks->done, 0, 0);
}

static void on_done(evutil_socket_t fd, short what, void *arg)
{
    struct run_sinks *sinks = arg;

    (void)fd;
    (void)what;
    sinks->job.events->on_done(sinks->job.arg);
}

/* --- what the job calls */

static bool can_show(const struct run *r)
{
    return ep_output_has(r->output, EP_OUTPUT_CONSOLE);
}

bool ep_run_sinks_are_asked(const struct run *r,
                            const struct ep_client_spawn *spawn)
{
    return spawn->output.names.kind != EP_NAMES_NONE ||
           (spawn->output.is_shown && can_show(r)) ||
           spawn->output.is_show_needed;
}

static const char *host_of(const void *arg, uint32_t rank)
{
    const struct run_sinks *sinks = arg;

    return ep_run_host(&sinks->run->plan,
                       job_node_of(sinks->job.desc, rank, NULL));
}

/* Begins to show the job's output, in the style that its request names, or else
 * like the output of the run's own job. */
static bool begin_show(struct run_sinks *sinks,
                       const struct ep_client_spawn *spawn, const char *nspace)
{
    struct run *r = sinks->run;
    struct run_shown *shown = calloc(1, sizeof(*shown));
    struct ep_output_cfg cfg;

    if (shown == NULL)
        return false;
    snprintf(shown->nspace, sizeof(shown->nspace), "%s", nspace);
    ep_run_output_cfg(&r->options, shown->nspace, &cfg);
    shown->style = cfg.console.style;
    ep_run_style_fit(&shown->style, sinks->job.desc->size, host_of, sinks);
    if (!text_style_is_plain(&spawn->output.style) && !cfg.console.is_raw)
        shown->style = spawn->output.style;
    shown->style.nspace = shown->nspace;
    shown->next = r->jobs.shown;
    r->jobs.shown = shown;
    sinks->shown = shown;
    return true;
}

void ep_run_sinks_forget(struct run *r)
{
    while (r->jobs.shown != NULL) {
        struct run_shown *shown = r->jobs.shown;

        r->jobs.shown = shown->next;
        free(shown);
    }
}

/* Returns how many files the job may have open: half of what is left, so that
 * the first job gets most and every job gets some. */
static uint32_t open_max(const struct run *r)
{
    uint32_t limit = ep_files_open_limit();
    uint32_t left =
        limit > r->jobs.sinks_open ? (limit - r->jobs.sinks_open) / 2 : 0;

    return left > OPEN_MIN ? left : OPEN_MIN;
}

static int open_files(struct run_sinks *sinks,
                      const struct ep_client_spawn *spawn, char *why)
{
    static const struct ep_files_events events = {
        .on_written = on_written,
        .on_taken = on_taken,
        .on_error = on_error,
        .on_drained = on_drained,
    };
    const struct ep_files_cfg cfg = {
        .base = sinks->run->base,
        .writer = sinks->run->writer,
        .names = {.kind = spawn->output.names.kind, .text = sinks->text},
        .style = sinks->style,
        .is_raw = spawn->output.is_raw,
        .open_max = sinks->open_max,
        .events = &events,
        .arg = sinks,
    };
    int rc = ep_files_open(&cfg, &sinks->files);

    if (rc == OV_ESYS)
        snprintf(why, EP_CLIENT_WHY_MAX,
                 "cannot make the directory of '%.128s': %s", sinks->text,
                 strerror(errno));
    return rc;
}

static int open_all(struct run_sinks *sinks,
                    const struct ep_client_spawn *spawn, const char *nspace,
                    char *why)
{
    struct run *r = sinks->run;

    sinks->nspace = strdup(nspace);
    sinks->done = event_new(r->base, -1, 0, on_done, sinks);
    if (sinks->nspace == NULL || sinks->done == NULL)
        return OV_ENOMEM;
    if (spawn->output.is_show_needed && !can_show(r)) {
        snprintf(why, EP_CLIENT_WHY_MAX,
                 "the session has no console to show the job's output on");
        return OV_EINVAL;
    }
    if (spawn->output.is_shown && can_show(r) &&
        !begin_show(sinks, spawn, nspace))
        return OV_ENOMEM;
    if (spawn->output.names.kind == EP_NAMES_NONE)
        return 0;
    sinks->text = strdup(spawn->output.names.text);
    sinks->style = spawn->output.style;
    sinks->style.nspace = sinks->nspace;
    sinks->open_max = open_max(r);
    r->jobs.sinks_open += sinks->open_max;
    return sinks->text == NULL ? OV_ENOMEM : open_files(sinks, spawn, why);
}

struct run_sinks *ep_run_sinks_open(struct run *r,
                                    const struct ep_client_spawn *spawn,
                                    const struct run_sinks_job *job, char *why)
{
    struct run_sinks *sinks = calloc(1, sizeof(*sinks));

    snprintf(why, EP_CLIENT_WHY_MAX, "out of memory");
    if (sinks == NULL)
        return NULL;
    sinks->run = r;
    sinks->job = *job;
    if (open_all(sinks, spawn, job->nspace, why) != 0) {
        ep_run_sinks_close(sinks);
        return NULL;
    }
    return sinks;
}

void ep_run_sinks_close(struct run_sinks *sinks)
{
    if (sinks == NULL)
        return;
    sinks->run->jobs.sinks_open -= sinks->open_max;
    ep_files_close(sinks->files);
    if (sinks->done != NULL)
        event_free(sinks->done);
    free(sinks->nspace);
    free(sinks->text);
    free(sinks);
}

static void show(struct run_sinks *sinks, struct job_record rec)
{
    struct run *r = sinks->run;

    if (sinks->shown == NULL)
        return;
    rec.style = &sinks->shown->style;
    ep_run_hold(r->records, rec.cookie);
    if (ep_output_show(r->output, &rec) > 0)
        return;
    ep_run_let_go(r->records, rec.cookie);
    sinks->job.events->on_error(sinks->job.arg,
                                "cannot show output: out of memory");
}

void ep_run_sinks_record(struct run_sinks *sinks, const struct job_record *rec,
                         uint32_t rank)
{
    struct job_record its = *rec;

    if (sinks == NULL)
        return;
    its.rank = rank;
    if (sinks->style.has_time ||
        (sinks->shown != NULL && sinks->shown->style.has_time))
        its.time_ns = ep_clock_unix_ns();
    ep_watch_soon(sinks->run->watch);
    show(sinks, its);
    if (sinks->files == NULL)
        return;
    ep_run_hold(sinks->run->records, its.cookie);
    if (ep_files_record(sinks->files, &its) == 0)
        return;
    ep_run_let_go(sinks->run->records, its.cookie);
    sinks->job.events->on_error(sinks->job.arg,
                                "cannot write output files: out of memory");
}

void ep_run_sinks_finish(struct run_sinks *sinks)
{
    sinks->is_finishing = true;
    if (sinks->files != NULL)
        ep_files_finish(sinks->files);
    else
        event_active(sinks->done, 0, 0);
}

void ep_run_sinks_give_up(struct run_sinks *sinks)
{
    if (sinks != NULL && sinks->files != NULL)
        ep_files_give_up(sinks->files);
}

bool ep_run_sinks_are_stuck(struct run_sinks *sinks, uint64_t *since_ns)
{
    return sinks != NULL && sinks->files != NULL &&
           ep_files_is_stuck(sinks->files, since_ns);
}
