/* Jobs that tools start: from what they ask for to what becomes of it. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "overlay/base/err.h"
#include "pmix_api/host_impl.h"
#include "pmix_api/spawn.h"
#include "pmix_api/wire.h"

enum {
    HANGUP_S = 2, /* from SIGTERM to SIGKILL */
    WAITS_MAX = 64,
};

/* What a tool has asked for, until it begins or is refused. */
struct px_wait {
    struct px_wait *next;
    uint8_t *mem; /* owned */
    size_t len_bytes;
    uint32_t token;
    uint32_t pull;    /* that gets its output from the start; 0: none does, */
    bool is_unpulled; /* as it has ended */
};

static void free_wait(struct px_wait *wait)
{
    free(wait->mem);
    free(wait);
}

/* --- what is asked for */

/* False: a piece too many, or no memory for it. */
static bool keep(struct px_host *host, const struct px_spawn_piece *piece)
{
    uint8_t *more;

    if (piece->len_bytes > PX_SPAWN_BYTES_MAX - host->spawn_bytes)
        return false;
    more = realloc(host->spawn, host->spawn_bytes + piece->len_bytes + 1);
    if (more == NULL)
        return false;
    host->spawn = more;
    if (piece->len_bytes > 0)
        memcpy(more + host->spawn_bytes, piece->mem, piece->len_bytes);
    host->spawn_bytes += piece->len_bytes;
    return true;
}

void px_spawn_forget(struct px_host *host)
{
    while (host->waits != NULL) {
        struct px_wait *wait = host->waits;

        host->waits = wait->next;
        free_wait(wait);
    }
    free(host->spawn);
    host->spawn = NULL;
    host->spawn_bytes = 0;
    for (struct px_host_job *job = host->jobs; job != NULL; job = job->next)
        job->is_awaited = false;
}

/* Who has asked for the job gets its output by itself, from the first byte. */
static void forward(struct px_host *host, const struct px_host_job *job)
{
    const struct px_pull pull = {
        .id = job->pull,
        .first = job->base,
        .last = job->base + job->size - 1,
        .channels = job->forwards & (uint8_t)~1u,
    };

    if (pull.id != 0)
        px_pulls_told(host, &pull);
}

static void add(struct px_host *host, const struct px_spawned *spawned,
                const struct px_spawn *spawn, uint32_t token)
{
    struct px_host_job job = {
        .base = spawned->base,
        .size = spawned->size,
        .apps = spawned->apps,
        .parts = spawned->parts,
        .token = token,
        .is_awaited = true,
        .is_kept = (spawn->flags & PX_SPAWN_NOHUP) != 0,
        .logs = spawn->flags & (PX_SPAWN_LOG_EVENTS | PX_SPAWN_LOG_END),
        .forwards = spawn->forwards,
        .pull = spawn->pull,
        .cache_bytes = spawned->cache_bytes,
    };

    memcpy(job.nspace, spawned->nspace, sizeof(job.nspace));
    if (px_job_add(host, &job) == NULL)
        px_host_done(host, token, PX_ANSWER_FULL); /* it runs untold */
    else if ((spawn->output & PX_OUTPUT_FILE_ONLY) == 0)
        forward(host, &job);
    px_queue_wake(host);
}

/* False: it is to be asked for later. */
static bool start(struct px_host *host, struct px_wait *wait)
{
    struct px_spawn spawn;
    struct px_spawned spawned = {.refusal = PX_ANSWER_FULL};
    int rc = px_spawn_decode(wait->mem, wait->len_bytes, &spawn);

    wait->pull = wait->is_unpulled ? 0 : spawn.pull;
    spawn.pull = wait->pull;
    if (rc == 0 && host->cfg.events->on_spawn(host->cfg.arg, &spawn, &spawned))
        add(host, &spawned, &spawn, wait->token);
    else if (!spawned.is_later)
        px_host_done(host, wait->token,
                     rc == OV_EPROTO ? PX_ANSWER_FAILED : spawned.refusal);
    px_spawn_fini(&spawn);
    return !spawned.is_later;
}

/* The job stays where a helper ends: no tool has started it. */
void px_host_begun(struct px_host *host, const struct px_spawned *spawned,
                   uint8_t forwards)
{
    struct px_host_job job = {
        .base = spawned->base,
        .size = spawned->size,
        .apps = spawned->apps,
        .parts = spawned->parts,
        .is_kept = true,
        .forwards = forwards,
        .cache_bytes = spawned->cache_bytes,
    };

    memcpy(job.nspace, spawned->nspace, sizeof(job.nspace));
    if (px_job_add(host, &job) != NULL)
        px_queue_wake(host);
}

static void attempt(struct px_host *host, struct px_wait *wait)
{
    struct px_wait **at = &host->waits;
    unsigned count = 0;

    if (start(host, wait)) {
        free_wait(wait);
        return;
    }
    for (; *at != NULL; at = &(*at)->next)
        count++;
    if (count < WAITS_MAX) {
        *at = wait;
    } else {
        px_host_done(host, wait->token, PX_ANSWER_FULL);
        free_wait(wait);
    }
}

void px_host_again(struct px_host *host)
{
    struct px_wait *next, *wait = host->waits;

    host->waits = NULL;
    for (; wait != NULL; wait = next) {
        next = wait->next;
        wait->next = NULL;
        attempt(host, wait);
    }
}

/* What has come is whole. */
static void begin(struct px_host *host, uint32_t token)
{
    struct px_wait *wait = calloc(1, sizeof(*wait));

    if (wait == NULL) {
        px_host_done(host, token, PX_ANSWER_FULL);
        return;
    }
    *wait = (struct px_wait){
        .mem = host->spawn, .len_bytes = host->spawn_bytes, .token = token};
    host->spawn = NULL;
    attempt(host, wait);
}

void px_spawn_heard(struct px_host *host, const struct px_spawn_piece *piece)
{
    bool is_kept = keep(host, piece);

    if (is_kept && piece->is_more)
        return;
    if (is_kept)
        begin(host, piece->token);
    else if (!piece->is_more)
        px_host_done(host, piece->token, PX_ANSWER_FULL);
    free(host->spawn);
    host->spawn = NULL;
    host->spawn_bytes = 0;
}

/* --- who has asked for it is gone */

static void send_signal(const struct px_host *host,
                        const struct px_host_job *job, uint32_t signo)
{
    const struct px_signal signal = {
        .signo = signo,
        .count = 1,
        .ranges = {{job->base, job->base + job->size - 1}},
    };

    (void)host->cfg.events->on_signal(host->cfg.arg, &signal);
}

static void on_hangup(evutil_socket_t fd, short what, void *arg)
{
    struct px_host_job *job = arg;

    (void)fd;
    (void)what;
    send_signal(job->host, job, SIGKILL);
}

static void hang_up(struct px_host *host, struct px_host_job *job)
{
    static const struct timeval wait = {HANGUP_S, 0};

    job->host = host;
    job->hangup = evtimer_new(host->cfg.base, on_hangup, job);
    if (job->hangup != NULL)
        event_add(job->hangup, &wait);
    send_signal(host, job, SIGTERM);
}

/* Of what has not begun: that one; 0: all. */
static void refuse(struct px_host *host, uint32_t token, enum px_answer answer)
{
    struct px_wait **at = &host->waits;

    while (*at != NULL) {
        struct px_wait *wait = *at;

        if (token != 0 && wait->token != token) {
            at = &wait->next;
            continue;
        }
        *at = wait->next;
        px_host_done(host, wait->token, answer);
        free_wait(wait);
    }
}

void px_spawn_refuse(struct px_host *host)
{
    refuse(host, 0, PX_ANSWER_FULL);
}

void px_spawn_unpull(struct px_host *host, uint32_t pull)
{
    for (struct px_wait *wait = host->waits; wait != NULL; wait = wait->next)
        wait->is_unpulled |= wait->pull == pull;
}

void px_spawn_hangup(struct px_host *host, uint32_t token)
{
    struct px_host_job *next;

    refuse(host, token, PX_ANSWER_FAILED);
    for (struct px_host_job *job = host->jobs; job != NULL; job = next) {
        next = job->next;
        if (job->base > 0 && !job->is_kept && !job->is_over &&
            job->hangup == NULL && (token == 0 || token == job->token))
            hang_up(host, job);
    }
}

/* --- what becomes of it */

static void answer(struct px_host *host, struct px_host_job *job,
                   enum px_answer how)
{
    if (job->is_awaited)
        px_host_done(host, job->token, how);
    job->is_awaited = false;
}

void px_host_running(struct px_host *host, uint32_t base)
{
    struct px_host_job *job = px_job_of(host, base);

    if (job != NULL)
        answer(host, job, PX_ANSWER_OK);
}

void px_host_failed(struct px_host *host, uint32_t base, enum px_answer why)
{
    struct px_host_job *job = px_job_of(host, base);

    if (job != NULL)
        answer(host, job, why);
}

/* It goes once it is told of all of it. */
static void finish(struct px_host *host, struct px_host_job *job)
{
    job->is_done = true;
    if (host->phase == PX_HOST_DOWN)
        px_jobs_reap(host);
    px_queue_wake(host);
}

void px_host_over(struct px_host *host, uint32_t base)
{
    struct px_host_job *job = px_job_of(host, base);

    if (job == NULL)
        return;
    answer(host, job, PX_ANSWER_FAILED);
    job->is_over = true;
    px_push_over(host, job);
    if (job->cache_bytes == 0 || job->stage == PX_STAGE_NONE)
        finish(host, job);
}

void px_host_forgotten(struct px_host *host, uint32_t base)
{
    struct px_host_job *job = px_job_of(host, base);

    if (job == NULL)
        return;
    px_host_lost(host, base, job->size);
    finish(host, job);
}
