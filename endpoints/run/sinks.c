/* Files of a further job. */
#include "endpoints/run/sinks.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "endpoints/output/files.h"
#include "endpoints/run/held.h"
#include "endpoints/run/impl.h"
#include "endpoints/run/proof.h"
#include "endpoints/run/taps.h"
#include "endpoints/sys/clock.h"
#include "overlay/base/err.h"

enum { OPEN_MIN = 4 };

struct run_sinks {
    struct run *run;
    struct run_sinks_job job;
    struct ep_files *files;
    struct event *done; /* owned: on_done, as nobody may close from within */
    struct ep_style style;
    char *nspace, *text; /* owned: borrowed by style and names */
    uint32_t open_max;
    bool is_finishing;
};

/* --- from the files
 * */

static void on_written(void *arg, uint32_t number, uint8_t channel,
                       const void *mem, uint32_t len_bytes)
{
    struct run_sinks *sinks = arg;

    ep_proof_written(sinks->job.proof, 1, number - sinks->job.base, channel,
                     mem, len_bytes);
}

static void on_taken(void *arg, uint64_t cookie)
{
    struct run_sinks *sinks = arg;

    ep_run_let_go(sinks->run, cookie);
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

/* --- the calls
 * */

bool ep_run_sinks_are_asked(const struct ep_tap_spawn *spawn)
{
    return spawn->output.names.kind != EP_NAMES_NONE;
}

/* Half of what is left: the first job has most, and each has some. */
static uint32_t open_max(const struct run *r)
{
    uint32_t limit = ep_files_open_limit();
    uint32_t left = limit > r->sinks_open ? (limit - r->sinks_open) / 2 : 0;

    return left > OPEN_MIN ? left : OPEN_MIN;
}

static int open_files(struct run_sinks *sinks, const struct ep_tap_spawn *spawn,
                      char *why)
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
        .names = {spawn->output.names.kind, sinks->text},
        .style = sinks->style,
        .is_raw = spawn->output.is_raw,
        .open_max = sinks->open_max,
        .events = &events,
        .arg = sinks,
    };
    int rc = ep_files_open(&cfg, &sinks->files);

    if (rc == OV_ESYS)
        snprintf(why, EP_TAP_WHY_MAX,
                 "cannot make the directory of '%.128s': %s", sinks->text,
                 strerror(errno));
    return rc;
}

struct run_sinks *ep_run_sinks_open(struct run *r,
                                    const struct ep_tap_spawn *spawn,
                                    const struct run_sinks_job *job, char *why)
{
    struct run_sinks *sinks = calloc(1, sizeof(*sinks));

    snprintf(why, EP_TAP_WHY_MAX, "out of memory");
    if (sinks == NULL)
        return NULL;
    sinks->run = r;
    sinks->job = *job;
    sinks->nspace = strdup(spawn->nspace);
    sinks->text = strdup(spawn->output.names.text);
    sinks->style = spawn->output.style;
    sinks->style.nspace = sinks->nspace;
    sinks->done = event_new(r->base, -1, 0, on_done, sinks);
    sinks->open_max = open_max(r);
    r->sinks_open += sinks->open_max;
    if (sinks->nspace == NULL || sinks->text == NULL || sinks->done == NULL ||
        open_files(sinks, spawn, why) != 0) {
        ep_run_sinks_close(sinks);
        return NULL;
    }
    return sinks;
}

void ep_run_sinks_close(struct run_sinks *sinks)
{
    if (sinks == NULL)
        return;
    sinks->run->sinks_open -= sinks->open_max;
    ep_files_close(sinks->files);
    if (sinks->done != NULL)
        event_free(sinks->done);
    free(sinks->nspace);
    free(sinks->text);
    free(sinks);
}

void ep_run_sinks_record(struct run_sinks *sinks,
                         const struct ep_console_record *rec, uint32_t rank)
{
    struct ep_console_record its = *rec;

    if (sinks == NULL)
        return;
    its.rank = rank;
    if (sinks->style.has_time)
        its.time_ns = ep_clock_unix_ns();
    ep_run_hold(sinks->run, its.cookie, its.buf);
    ep_run_watch(sinks->run);
    if (ep_files_record(sinks->files, &its) == 0)
        return;
    ep_run_let_go(sinks->run, its.cookie);
    sinks->job.events->on_error(sinks->job.arg,
                                "cannot write files: out of memory");
}

void ep_run_sinks_finish(struct run_sinks *sinks)
{
    sinks->is_finishing = true;
    ep_files_finish(sinks->files);
}

void ep_run_sinks_give_up(struct run_sinks *sinks)
{
    if (sinks != NULL)
        ep_files_give_up(sinks->files);
}

bool ep_run_sinks_are_stuck(struct run_sinks *sinks, uint64_t *since_ns)
{
    return sinks != NULL && ep_files_is_stuck(sinks->files, since_ns);
}
