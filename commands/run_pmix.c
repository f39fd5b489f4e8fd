/* PMIx tools as a tap of `xylem run`: the launcher and pmix_api/ do not know
 * each other, this file knows both. */
#include "commands/run_pmix.h"

#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands/beside.h"
#include "commands/refuse.h"
#include "commands/run_pmix_folders.h"
#include "commands/run_pmix_jobs.h"
#include "overlay/base/err.h"
#include "pmix_api/host.h"

static uint8_t allowed = PX_ALLOW_USER | PX_ALLOW_ROOT;

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

/* --- to the launcher */

static void on_part(void *arg, uint32_t base, uint32_t index,
                    struct px_host_part *out)
{
    const struct run_pmix *pmix = arg;
    struct ep_tap_part part = {.host = NULL};

    pmix->run.events->on_part(pmix->run.arg, base, index, &part);
    *out = (struct px_host_part){
        .host = part.host,
        .program = part.program,
        .app = part.app,
        .first_rank = part.first_rank,
        .ranks = part.ranks,
    };
}

static void on_released(void *arg, uint64_t cookie)
{
    const struct run_pmix *pmix = arg;

    pmix->run.events->on_released(pmix->run.arg, cookie);
}

static void on_gone(void *arg, uint64_t cookie)
{
    const struct run_pmix *pmix = arg;

    pmix->run.events->on_gone(pmix->run.arg, cookie);
}

static void on_returned(void *arg, uint64_t cookie)
{
    const struct run_pmix *pmix = arg;

    pmix->run.events->on_returned(pmix->run.arg, cookie);
}

static bool on_back(void *arg, const struct px_host_output *output)
{
    const struct run_pmix *pmix = arg;
    struct ep_tap_output back = {
        .rank = output->rank,
        .channel = output->channel,
        .is_end = output->is_end,
        .mem = output->mem,
        .len_bytes = output->len_bytes,
    };

    return pmix->run.events->on_back(pmix->run.arg, &back);
}

static void on_back_over(void *arg)
{
    const struct run_pmix *pmix = arg;

    pmix->run.events->on_back_over(pmix->run.arg);
}

static void on_flushed(void *arg)
{
    const struct run_pmix *pmix = arg;

    pmix->run.events->on_flushed(pmix->run.arg);
}

static bool on_log(void *arg, const struct px_log *log)
{
    const struct run_pmix *pmix = arg;

    return pmix->run.events->on_log(pmix->run.arg, log->token, log->channel,
                                    log->text.at, log->text.len_bytes);
}

static enum px_answer on_signal(void *arg, const struct px_signal *signal)
{
    const struct run_pmix *pmix = arg;
    struct topo_range ranges[PX_RANGES_MAX];

    for (unsigned i = 0; i < signal->count; i++)
        ranges[i] = (struct topo_range){signal->ranges[i].first,
                                        signal->ranges[i].last};
    return pmix->run.events->on_signal(pmix->run.arg, (int)signal->signo,
                                       ranges, signal->count)
               ? PX_ANSWER_OK
               : PX_ANSWER_NOT_NOW;
}

static void on_push(void *arg, const uint8_t *mem, uint32_t len_bytes)
{
    const struct run_pmix *pmix = arg;

    pmix->run.events->on_push(pmix->run.arg, mem, len_bytes);
}

static void on_pushers(void *arg, bool are_there)
{
    const struct run_pmix *pmix = arg;

    pmix->run.events->on_pushers(pmix->run.arg, are_there);
}

static bool on_wanted(void *arg)
{
    const struct run_pmix *pmix = arg;

    return pmix->run.events->on_wanted(pmix->run.arg);
}

static void on_hold(void *arg, uint32_t first, uint32_t last, bool is_held)
{
    const struct run_pmix *pmix = arg;
    struct topo_range range = {first, last};

    pmix->run.events->on_hold(pmix->run.arg, &range, is_held);
}

static uint16_t on_replay(void *arg, const struct px_replay *want)
{
    const struct run_pmix *pmix = arg;
    struct topo_range *ranges = calloc(want->count, sizeof(*ranges));
    struct ep_tap_replay replay = {.ranges = ranges,
                                   .count = want->count,
                                   .channels = want->channels,
                                   .is_last = want->is_last,
                                   .bytes = want->bytes};
    uint16_t ticket;

    if (ranges == NULL)
        return 0;
    for (uint32_t i = 0; i < want->count; i++)
        ranges[i] = (struct topo_range){want->ranges[i][0], want->ranges[i][1]};
    ticket = pmix->run.events->on_replay(pmix->run.arg, &replay);
    free(ranges);
    return ticket;
}

static void on_up(void *arg, const char *uri)
{
    const struct run_pmix *pmix = arg;

    pmix->run.events->on_up(pmix->run.arg, uri);
}

static void on_given_up(void *arg, const char *why)
{
    const struct run_pmix *pmix = arg;

    pmix->run.events->on_given_up(pmix->run.arg, why);
}

static void on_say(void *arg, const char *text)
{
    const struct run_pmix *pmix = arg;

    pmix->run.events->on_say(pmix->run.arg, text);
}

static void on_note(void *arg, const char *text)
{
    const struct run_pmix *pmix = arg;

    pmix->run.events->on_note(pmix->run.arg, text);
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
    static const struct px_host_events events = {
        .on_part = on_part,
        .on_released = on_released,
        .on_gone = on_gone,
        .on_returned = on_returned,
        .on_back = on_back,
        .on_back_over = on_back_over,
        .on_flushed = on_flushed,
        .on_log = on_log,
        .on_signal = on_signal,
        .on_push = on_push,
        .on_pushers = on_pushers,
        .on_replay = on_replay,
        .on_wanted = on_wanted,
        .on_hold = on_hold,
        .on_spawn = run_pmix_spawn,
        .on_up = on_up,
        .on_given_up = on_given_up,
        .on_say = on_say,
        .on_note = on_note,
    };
    struct run_pmix *pmix = calloc(1, sizeof(*pmix));
    struct px_host_cfg cfg = {
        .base = run->base,
        .path = pmix != NULL ? pmix->helper : NULL,
        .nspace = run->nspace,
        .size = run->size,
        .apps = run->apps,
        .parts = run->parts,
        .allow = allowed,
        .cache_bytes = run->cache_bytes,
        .push_bytes = run->push_bytes,
        .is_dvm = run->is_dvm,
        .events = &events,
        .arg = pmix,
    };
    int rc = OV_ENOMEM;

    if (pmix != NULL) {
        pmix->run = *run;
        rc = beside_find(BESIDE_SERVER, pmix->helper);
        if (rc == 0) {
            cfg.mark = run_pmix_folders_open();
            rc = px_host_open(&cfg, &pmix->host);
        }
    }
    if (rc == 0)
        return pmix;
    say_why(run, rc);
    run_pmix_folders_close();
    free(pmix);
    return NULL;
}

static void pmix_close(void *tap)
{
    struct run_pmix *pmix = tap;

    px_host_close(pmix->host);
    run_pmix_folders_close();
    free(pmix);
}

static bool pmix_output(void *tap, const struct ep_tap_output *output)
{
    const struct run_pmix *pmix = tap;
    struct px_host_output out = {
        .rank = output->rank,
        .channel = output->channel,
        .is_end = output->is_end,
        .is_redirected = output->is_redirected,
        .is_broken = output->is_broken,
        .ticket = output->ticket,
        .is_turn = output->is_turn,
        .before_bytes = output->before_bytes,
        .heard = output->heard,
        .mem = output->mem,
        .len_bytes = output->len_bytes,
        .cookie = output->cookie,
    };

    return px_host_output(pmix->host, &out);
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

static void pmix_pushed(void *tap)
{
    const struct run_pmix *pmix = tap;

    px_host_pushed(pmix->host);
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

const struct ep_tap_ops run_pmix_tap = {
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
    .pushed = pmix_pushed,
    .job = run_pmix_job,
    .again = pmix_again,
    .flush = pmix_flush,
};
