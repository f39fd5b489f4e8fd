/* What tools have asked for, as the launcher knows it. */
#include "pmix_api/host_pulls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pmix_api/host_impl.h"
#include "pmix_api/host_keep.h"

struct px_host_pull **px_pulls_find(struct px_host *host, uint32_t id)
{
    struct px_host_pull **at = &host->pulls;

    while (*at != NULL && (*at)->told.id != id)
        at = &(*at)->next;
    return at;
}

void px_pulls_drop(struct px_host_pull **at)
{
    struct px_host_pull *pull = *at;

    *at = pull->next;
    job_late_close(&pull->late);
    px_journal_close(&pull->journal);
    free(pull->ranges);
    free(pull);
}

static void mark_range(struct px_host_job *job,
                       const struct px_host_range *range,
                       const struct px_host_pull *pull)
{
    uint32_t first = range->first > job->base ? range->first - job->base : 0;

    for (uint32_t rank = first;
         rank < job->size && job->base + rank <= range->last; rank++) {
        uint8_t waits = job_late_channels(&pull->late, job->base + rank);
        uint8_t bits = pull->told.channels & (uint8_t)~waits;

        if (pull->is_stopped) {
            job->returning[rank] |= pull->told.redirects ? bits : 0;
            continue;
        }
        job->asked[rank] |= pull->told.channels;
        job->wanted[rank] |= bits;
        if (pull->told.redirects)
            job->redirected[rank] |= bits;
    }
}

static void mark(struct px_host *host, const struct px_host_pull *pull)
{
    for (uint32_t i = 0; i < pull->ranges_count; i++) {
        for (struct px_host_job *job = host->jobs; job != NULL; job = job->next)
            mark_range(job, &pull->ranges[i], pull);
    }
}

static void mark_all(struct px_host *host, const struct px_host_pull *first)
{
    for (const struct px_host_pull *pull = first; pull != NULL;
         pull = pull->next) {
        if (!pull->told.has_more)
            mark(host, pull);
    }
}

/* Of all that are whole. */
void px_pulls_sum_up(struct px_host *host)
{
    for (struct px_host_job *job = host->jobs; job != NULL; job = job->next) {
        memset(job->wanted, 0, job->size);
        memset(job->asked, 0, job->size);
        memset(job->redirected, 0, job->size);
        memset(job->returning, 0, job->size);
    }
    mark_all(host, host->pulls);
    mark_all(host, host->salvage.pulls);
}

static struct px_host_pull *add(struct px_host *host,
                                const struct px_pull *told)
{
    struct px_host_pull **at = px_pulls_find(host, told->id);
    struct px_host_pull *pull = *at;
    struct px_host_range *ranges;

    if (pull == NULL)
        pull = calloc(1, sizeof(*pull));
    if (pull == NULL)
        return NULL;
    *at = pull;
    pull->told = *told;
    ranges = realloc(pull->ranges, (pull->ranges_count + 1) * sizeof(*ranges));
    if (ranges == NULL)
        return NULL;
    pull->ranges = ranges;
    ranges[pull->ranges_count++] =
        (struct px_host_range){told->first, told->last, told->cache_bytes};
    return pull;
}

static void note(struct px_host *host, uint32_t id, const char *what)
{
    char text[64];

    snprintf(text, sizeof(text), "PMIx pull %u %s", id, what);
    host->cfg.events->on_note(host->cfg.arg, text);
}

static void say_lost(struct px_host *host, uint64_t bytes)
{
    char text[128];

    if (bytes == 0)
        return;
    snprintf(text, sizeof(text),
             "a PMIx tool has left %llu bytes of redirected output untaken: "
             "they are lost",
             (unsigned long long)bytes);
    host->cfg.events->on_say(host->cfg.arg, text);
}

void px_pulls_told(struct px_host *host, const struct px_pull *told)
{
    struct px_item item = {
        .value = told->id, .kind = PX_ITEM_LIVE, .is_bare = true};
    struct px_host_pull *pull = add(host, told);
    bool is_late;

    if (pull == NULL || told->has_more)
        return;
    px_keep_begin(host, pull);
    /* Nodes that drop what nobody wants hear of it before they are asked for
     * what was before. */
    px_pulls_sum_up(host);
    is_late = host->cfg.events->on_wanted(host->cfg.arg);
    if (px_replay_begin(host, pull, is_late)) {
        px_pulls_sum_up(host);
        px_replay_tell(host, pull);
    } else {
        px_queue_push(host, &item);
        px_ends_tell(host, pull);
    }
    px_ends_tell_over(host, pull);
    note(host, told->id, told->redirects ? "redirects" : "copies");
}

static void answer(struct px_host *host, uint32_t id)
{
    struct px_item item = {.value = id, .kind = PX_ITEM_STOP, .is_bare = true};

    px_queue_push(host, &item);
}

void px_pulls_go_on(struct px_host *host)
{
    struct px_host_pull *next = NULL;

    if (host->salvage.pulls != NULL)
        return;
    for (struct px_host_pull *pull = host->pulls; pull != NULL;
         pull = pull->next) {
        if (pull->is_answered)
            return;
        if (pull->is_stopped &&
            (next == NULL || pull->stop_nth < next->stop_nth))
            next = pull;
    }
    if (next == NULL)
        return;
    next->is_answered = true;
    answer(host, next->told.id);
}

void px_pulls_stopped(struct px_host *host, uint32_t id)
{
    struct px_host_pull *pull = *px_pulls_find(host, id);

    if (pull == NULL) {
        answer(host, id);
        return;
    }
    pull->is_stopped = true;
    pull->stop_nth = ++host->stops;
    px_keep_end(host, pull);
    job_late_close(&pull->late);
    px_pulls_sum_up(host);
    px_pulls_go_on(host);
}

void px_pulls_note_end(struct px_host *host, uint32_t id)
{
    note(host, id, "has ended");
}

void px_pulls_ended(struct px_host *host, const struct px_end *end)
{
    struct px_host_pull **at = px_pulls_find(host, end->id);
    bool was_stopped = *at != NULL && (*at)->is_stopped;

    say_lost(host, end->lost_bytes);
    if (*at == NULL)
        return;
    px_pulls_drop(at);
    px_pulls_sum_up(host);
    px_queue_return(host);
    px_pulls_go_on(host);
    if (was_stopped)
        host->cfg.events->on_back_over(host->cfg.arg);
    px_pulls_note_end(host, end->id);
}

void px_pulls_behind(struct px_host *host, uint32_t id)
{
    struct px_host_pull **at = px_pulls_find(host, id);

    if (*at == NULL || !(*at)->told.redirects)
        return;
    (*at)->told.redirects = false;
    px_keep_end(host, *at);
    px_pulls_sum_up(host);
    px_queue_return(host);
    host->cfg.events->on_say(
        host->cfg.arg,
        "a PMIx tool takes redirected output too slowly: it goes "
        "where it went before, and to the tool as a copy");
}

void px_pulls_clear(struct px_host *host)
{
    while (host->pulls != NULL)
        px_pulls_drop(&host->pulls);
    px_pulls_sum_up(host);
}
