/* PMIx tools as a tap of `xylem run`: the launcher and pmix_api/ do not know
 * each other, this file knows both. */
#include "commands/run_pmix.h"

#include <errno.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands/refuse.h"
#include "commands/run_folders.h"
#include "commands/run_pmix_jobs.h"
#include "commands/run_tools.h"
#include "overlay/base/err.h"
#include "pmix_api/host.h"

static uint8_t allowed = PX_ALLOW_USER | PX_ALLOW_ROOT;

static struct run_pmix opened; /* a process has one */

/* --- who may connect */

static bool find_user(const char *word, uid_t *uid)
{
    const struct passwd *user = getpwnam(word);
    char *end;
    unsigned long number = strtoul(word, &end, 10);

    *uid = user != NULL ? user->pw_uid : (uid_t)number;
    return user != NULL || (end != word && *end == '\0' && *uid == number);
}

static uint8_t bits_of(const char *word)
{
    uint8_t bits = 0;
    uid_t uid;

    if (!find_user(word, &uid))
        usage("--pmix-allow: there is no user '%s'", word);
    if (uid == geteuid())
        bits |= PX_ALLOW_USER;
    if (uid == 0)
        bits |= PX_ALLOW_ROOT;
    if (bits == 0)
        usage("--pmix-allow takes the user of the job and root, not '%s'",
              word);
    return bits;
}

void run_pmix_allow(const char *users)
{
    char *list = strdup(users), *rest = NULL;

    allowed = 0;
    for (char *word = list != NULL ? strtok_r(list, ",", &rest) : NULL;
         word != NULL; word = strtok_r(NULL, ",", &rest))
        allowed |= bits_of(word);
    free(list);
    if (allowed == 0)
        usage("--pmix-allow names nobody: --no-pmix lets nobody in");
}

/* --- to the launcher: what needs a translation, all else goes straight there
 */

static bool on_log(void *arg, const struct px_log *log)
{
    return opened.run.events->on_log(arg, log->token, log->channel,
                                     log->text.at, log->text.len_bytes);
}

static enum px_answer on_signal(void *arg, const struct px_signal *signal)
{
    return opened.run.events->on_signal(arg, (int)signal->signo, signal->ranges,
                                        signal->count)
               ? PX_ANSWER_OK
               : PX_ANSWER_NOT_NOW;
}

static bool on_spawn(void *arg, const struct px_spawn *spawn,
                     struct px_spawned *out)
{
    (void)arg;
    return run_pmix_spawn(&opened, spawn, out);
}

/* --- from the launcher */

static void say_why(const struct ep_tap_cfg *cfg, int rc)
{
    char text[256];

    if (rc == OV_ENOENT)
        snprintf(text, sizeof(text),
                 "this xylem was built without PMIx: tools cannot connect");
    else
        snprintf(text, sizeof(text), "PMIx tools cannot connect: %s",
                 rc == OV_ESYS ? strerror(errno) : ov_strerror(rc));
    cfg->events->on_note(cfg->arg, text);
}

static void *pmix_open(const struct ep_tap_cfg *run)
{
    static struct px_host_events events;
    struct px_host_cfg cfg = {
        .base = run->base,
        .path = opened.helper,
        .nspace = run->nspace,
        .size = run->size,
        .apps = run->apps,
        .parts = run->parts,
        .allow = allowed,
        .cache_bytes = run->cache_bytes,
        .push_bytes = run->push_bytes,
        .is_dvm = run->is_dvm,
        .events = &events,
        .arg = run->arg,
    };
    int rc;

    opened.run = *run;
    events = (struct px_host_events){
        .on_part = run->events->on_part,
        .on_released = run->events->on_released,
        .on_gone = run->events->on_gone,
        .on_returned = run->events->on_returned,
        .on_back = run->events->on_back,
        .on_back_over = run->events->on_back_over,
        .on_flushed = run->events->on_flushed,
        .on_log = on_log,
        .on_signal = on_signal,
        .on_push = run->events->on_push,
        .on_left = run->events->on_left,
        .on_pushers = run->events->on_pushers,
        .on_replay = run->events->on_replay,
        .on_wanted = run->events->on_wanted,
        .on_spawn = on_spawn,
        .on_up = run->events->on_up,
        .on_given_up = run->events->on_given_up,
        .on_say = run->events->on_say,
        .on_note = run->events->on_note,
    };
    rc = ep_beside_find("xylem-pmix", "XYLEM_PMIX", "pmix_api", opened.helper);
    if (rc == 0) {
        cfg.mark = run_folders_open();
        rc = px_host_open(&cfg, &opened.host);
    }
    if (rc == 0)
        return &opened;
    say_why(run, rc);
    run_folders_close();
    return NULL;
}

static void pmix_close(void *tap)
{
    const struct run_pmix *pmix = tap;

    px_host_close(pmix->host);
    run_folders_close();
}

static enum ep_tap_output pmix_output(void *tap,
                                      const struct job_record *output)
{
    const struct run_pmix *pmix = tap;

    return px_host_output(pmix->host, output) ? EP_TAP_HELD : EP_TAP_PASSED;
}

static void pmix_lost(void *tap, uint32_t first, uint32_t count)
{
    const struct run_pmix *pmix = tap;

    px_host_lost(pmix->host, first, count);
}

static bool pmix_replays(void *tap)
{
    const struct run_pmix *pmix = tap;

    return px_host_replays(pmix->host);
}

static void pmix_started(void *tap, uint32_t rank, const uint32_t *pids,
                         uint32_t count)
{
    const struct run_pmix *pmix = tap;

    px_host_started(pmix->host, rank, pids, count);
}

static bool pmix_redirects(void *tap, uint32_t rank, uint8_t channel)
{
    const struct run_pmix *pmix = tap;

    return px_host_redirects(pmix->host, rank, channel);
}

static bool pmix_gives_back(void *tap, uint32_t rank, uint8_t channel)
{
    const struct run_pmix *pmix = tap;

    return px_host_gives_back(pmix->host, rank, channel);
}

static void pmix_took_back(void *tap)
{
    const struct run_pmix *pmix = tap;

    px_host_took_back(pmix->host);
}

static bool pmix_wants(void *tap, uint32_t rank, uint8_t channel)
{
    const struct run_pmix *pmix = tap;

    return px_host_wants(pmix->host, rank, channel);
}

static void pmix_logged(void *tap, uint32_t token)
{
    const struct run_pmix *pmix = tap;

    px_host_done(pmix->host, token, PX_ANSWER_OK);
}

static void pmix_exit(void *tap, uint32_t rank, uint32_t status)
{
    const struct run_pmix *pmix = tap;

    px_host_exit(pmix->host, rank, status);
}

static void pmix_has_stdin(void *tap, uint32_t first, uint32_t last,
                           bool is_open)
{
    const struct run_pmix *pmix = tap;

    px_host_stdin(pmix->host, first, last, is_open);
}

static void pmix_behind(void *tap, uint32_t number, bool is_behind)
{
    const struct run_pmix *pmix = tap;

    px_host_behind(pmix->host, number, is_behind);
}

static void pmix_pushed(void *tap, uint32_t writer)
{
    const struct run_pmix *pmix = tap;

    px_host_pushed(pmix->host, writer);
}

static void pmix_again(void *tap)
{
    const struct run_pmix *pmix = tap;

    px_host_again(pmix->host);
}

static bool pmix_flush(void *tap)
{
    const struct run_pmix *pmix = tap;

    return px_host_flush(pmix->host);
}

static const struct ep_tap_ops ops = {
    .open = pmix_open,
    .close = pmix_close,
    .output = pmix_output,
    .lost = pmix_lost,
    .replays = pmix_replays,
    .started = pmix_started,
    .redirects = pmix_redirects,
    .gives_back = pmix_gives_back,
    .took_back = pmix_took_back,
    .wants = pmix_wants,
    .exit = pmix_exit,
    .logged = pmix_logged,
    .has_stdin = pmix_has_stdin,
    .behind = pmix_behind,
    .pushed = pmix_pushed,
    .job = run_pmix_job,
    .again = pmix_again,
    .flush = pmix_flush,
};

const struct ep_tap_ops *run_pmix_tap(void)
{
    return getenv("XYLEM_PMIX_EACH") != NULL ? &run_tools_tap : &ops;
}

uint8_t run_pmix_allowed(void)
{
    return allowed;
}
