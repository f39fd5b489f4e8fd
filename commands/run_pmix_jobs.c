/* Jobs that PMIx tools start: between the launcher and pmix_api/. */
#include "commands/run_pmix_jobs.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "overlay/wire/frame.h"
#include "pmix_api/style.h"

/* --- to the launcher */

static struct ep_tap_sinks sinks_of(const struct px_spawn *from)
{
    struct ep_tap_sinks sinks = {
        .names.text = from->files,
        .is_raw = (from->output & PX_OUTPUT_RAW) != 0,
        .merges_stderr = (from->output & PX_OUTPUT_MERGE) != 0,
        .is_shown = (from->output & PX_OUTPUT_LOCAL) != 0,
        .is_show_needed = (from->output & PX_OUTPUT_LOCAL_NEEDED) != 0,
        .style = px_output_style(from->output),
    };

    if ((from->output & PX_OUTPUT_DIR) != 0)
        sinks.names.kind = EP_NAMES_DIR;
    else if ((from->output & PX_OUTPUT_FILE) != 0)
        sinks.names.kind = EP_NAMES_FILE;
    else if ((from->output & PX_OUTPUT_PATTERN) != 0)
        sinks.names.kind = EP_NAMES_PATTERN;
    return sinks;
}

static bool start(const struct run_pmix *pmix, const struct px_spawn *from,
                  struct ep_tap_spawned *out, char *why)
{
    const struct ep_tap_spawn spawn = {
        .output = sinks_of(from),
        .apps = from->apps,
        .apps_count = from->count,
        .has_stdin = (from->forwards & PX_FORWARD_STDIN) != 0,
        .reader = from->reader,
        .has_stddiag = (from->forwards & 1u << OV_CHANNEL_STDDIAG) != 0,
        .cache_bytes = from->cache_bytes,
        .cache_channels = from->forwards & ~(unsigned)PX_FORWARD_STDIN,
    };

    if (spawn.output.names.kind == EP_NAMES_PATTERN &&
        ep_names_fault(from->files) != NULL) {
        snprintf(why, EP_TAP_WHY_MAX, "no pattern of files: '%.128s'",
                 from->files);
        return false;
    }
    return pmix->run.events->on_spawn(pmix->run.arg, &spawn, out, why);
}

static void note(const struct run_pmix *pmix, const char *what, const char *why)
{
    char text[EP_TAP_WHY_MAX + 128];

    snprintf(text, sizeof(text), "%s: %s", what, why);
    pmix->run.events->on_note(pmix->run.arg, text);
}

static enum px_answer answer_to(enum ep_tap_refusal refusal)
{
    switch (refusal) {
    case EP_TAP_NO_HOST:
        return PX_ANSWER_NO_HOST;
    case EP_TAP_NO_GROWTH:
        return PX_ANSWER_NO_GROWTH;
    case EP_TAP_BAD_HOSTS:
    case EP_TAP_NO_READER:
        return PX_ANSWER_BAD;
    case EP_TAP_BLIND:
        return PX_ANSWER_FAILED;
    case EP_TAP_NO_ROOM:
    case EP_TAP_LATER:
        break;
    }
    return PX_ANSWER_FULL;
}

bool run_pmix_spawn(struct run_pmix *pmix, const struct px_spawn *spawn,
                    struct px_spawned *out)
{
    struct ep_tap_spawned made = {.refusal = EP_TAP_NO_ROOM};
    char why[EP_TAP_WHY_MAX] = "";
    bool is_made;

    pmix->is_spawning = true;
    is_made = start(pmix, spawn, &made, why);
    pmix->is_spawning = false;
    *out = (struct px_spawned){.base = made.base,
                               .size = made.size,
                               .apps = spawn->count,
                               .parts = made.parts,
                               .cache_bytes = made.cache_bytes,
                               .is_later =
                                   !is_made && made.refusal == EP_TAP_LATER,
                               .refusal = answer_to(made.refusal)};
    memcpy(out->nspace, made.nspace, sizeof(out->nspace));
    if (!is_made && !out->is_later)
        note(pmix, "a job of a PMIx tool is refused", why);
    return is_made;
}

/* --- from the launcher */

static enum px_answer reason(const struct ep_tap_job *job)
{
    if (strcmp(job->step, "chdir") == 0)
        return PX_ANSWER_NO_DIR;
    if (strcmp(job->step, "exec") != 0)
        return PX_ANSWER_FAILED;
    return job->err == ENOENT ? PX_ANSWER_NO_PROGRAM : PX_ANSWER_NO_EXEC;
}

static void fail(const struct run_pmix *pmix, const struct ep_tap_job *job)
{
    char text[EP_TAP_WHY_MAX];

    snprintf(text, sizeof(text), "rank %u: %s of '%.128s': %s", job->rank,
             job->step, job->subject, strerror(job->err));
    note(pmix, "a job of a PMIx tool cannot be started", text);
    px_host_failed(pmix->host, job->base, reason(job));
}

static void begin(const struct run_pmix *pmix, const struct ep_tap_job *job)
{
    struct px_spawned begun = {.base = job->base,
                               .size = job->size,
                               .apps = job->apps,
                               .parts = job->parts,
                               .cache_bytes = job->cache_bytes};

    snprintf(begun.nspace, sizeof(begun.nspace), "%s", job->nspace);
    px_host_begun(pmix->host, &begun,
                  job->channels | (job->has_stdin ? PX_FORWARD_STDIN : 0));
}

void run_pmix_job(void *tap, const struct ep_tap_job *job)
{
    const struct run_pmix *pmix = tap;

    switch (job->event) {
    case EP_TAP_JOB_BEGUN:
        if (!pmix->is_spawning)
            begin(pmix, job);
        return;
    case EP_TAP_JOB_STARTED:
        px_host_running(pmix->host, job->base);
        return;
    case EP_TAP_JOB_FAILED:
        fail(pmix, job);
        return;
    case EP_TAP_JOB_ENDED:
        px_host_over(pmix->host, job->base);
        return;
    case EP_TAP_JOB_FORGOTTEN:
        px_host_forgotten(pmix->host, job->base);
        return;
    }
}
