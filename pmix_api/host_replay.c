/* Output from before a pull: asked for, and handed on. */
#include <stdlib.h>

#include "pmix_api/host_impl.h"

enum {
    KEPT = 0xe, /* channels that daemons keep output of, 1 << channel each */
    CHANNELS = 3,
};

static struct px_host_pull *by_ticket(const struct px_host *host,
                                      uint16_t ticket)
{
    struct px_host_pull *pull = host->pulls;

    while (pull != NULL &&
           (pull->late.ticket != ticket || pull->late.waits == NULL))
        pull = pull->next;
    return pull;
}

/* --- it begins */

static bool has_past(const struct px_host_job *job,
                     const struct px_host_range *range)
{
    return job->cache_bytes > 0 && range->cache_bytes > 0;
}

/* Each process once, whatever names it. What has ended and has no past has
 * nothing to come. */
static void mark_job(struct px_host_pull *pull, const struct px_host_job *job,
                     const struct px_host_range *range)
{
    uint8_t all = pull->told.channels & job->forwards & KEPT;
    uint32_t first = range->first > job->base ? range->first - job->base : 0;

    for (uint32_t rank = first;
         rank < job->size && job->base + rank <= range->last; rank++) {
        uint8_t channels =
            has_past(job, range) ? all : all & (uint8_t)~job->ended[rank];

        if (!job->is_lost[rank])
            job_late_expect(&pull->late, job->base + rank, channels);
    }
}

static void mark(const struct px_host *host, struct px_host_pull *pull,
                 bool is_late)
{
    for (const struct px_host_job *job = host->jobs; job != NULL;
         job = job->next) {
        for (uint32_t i = 0; i < pull->ranges_count; i++) {
            if (is_late || has_past(job, &pull->ranges[i]))
                mark_job(pull, job, &pull->ranges[i]);
        }
    }
}

static uint32_t most_of(const struct px_host_pull *pull)
{
    uint32_t most = 0;

    for (uint32_t i = 0; i < pull->ranges_count; i++) {
        if (pull->ranges[i].cache_bytes > most)
            most = pull->ranges[i].cache_bytes;
    }
    return most;
}

static bool ask(struct px_host *host, struct px_host_pull *pull)
{
    struct job_replay_wish want = {.channels = pull->told.channels & KEPT,
                                   .is_last = pull->told.is_last,
                                   .bytes = most_of(pull)};
    struct topo_range *ranges = job_late_ranges(&pull->late, &want.count);

    want.ranges = ranges;
    pull->late.ticket =
        ranges == NULL ? 0 : host->cfg.events->on_replay(host->cfg.arg, &want);
    free(ranges);
    return pull->late.ticket != 0;
}

bool px_replay_begin(struct px_host *host, struct px_host_pull *pull,
                     bool is_late)
{
    uint32_t first = pull->ranges[0].first;
    uint32_t last = pull->ranges[pull->ranges_count - 1].last;

    if ((most_of(pull) == 0 && !is_late) ||
        job_late_open(&pull->late, first, last) != 0)
        return false;
    mark(host, pull, is_late);
    if (pull->late.left > 0 && ask(host, pull))
        return true;
    job_late_close(&pull->late);
    return false;
}

/* --- its nodes hear of it */

static void hear(struct px_host *host, struct px_host_pull *pull,
                 uint32_t number, uint32_t count)
{
    struct px_item item = {
        .value = pull->told.id, .kind = PX_ITEM_HEARD, .is_bare = true};

    if (job_late_heard(&pull->late, number, count))
        px_queue_push(host, &item);
}

/* --- a channel's turn */

static bool has_ended(const struct px_host_job *job, uint32_t rank,
                      uint8_t channel)
{
    return (job->ended[rank] & 1u << channel) != 0;
}

static void push_turn(struct px_host *host, struct px_host_pull *pull,
                      const struct px_host_job *job, uint32_t rank,
                      uint8_t channel)
{
    struct px_item item = {.output = {.proc = job->base + rank,
                                      .channel = channel,
                                      .is_turn = true,
                                      .is_end = has_ended(job, rank, channel)},
                           .to = pull->told.id,
                           .is_bare = true};

    pull->turns++;
    px_queue_push(host, &item);
}

static void tell_rank(struct px_host *host, struct px_host_pull *pull,
                      const struct px_host_job *job, uint32_t rank)
{
    unsigned bits = pull->told.channels &
                    ~(unsigned)job_late_channels(&pull->late, job->base + rank);

    for (uint8_t channel = 1; channel <= CHANNELS; channel++) {
        if ((bits & 1u << channel) != 0)
            push_turn(host, pull, job, rank, channel);
    }
}

void px_replay_tell(struct px_host *host, struct px_host_pull *pull)
{
    px_pulls_walk(host, pull, tell_rank);
}

/* From here on the pull gets the channel, for which it has waited. */
static void turn(struct px_host_job *job, struct px_host_pull *pull,
                 uint32_t rank, uint8_t channel)
{
    uint8_t bit = (uint8_t)(1u << channel);

    job->wanted[rank] |= bit;
    if (pull->told.redirects)
        job->redirected[rank] |= bit;
    job_late_turn(&pull->late, job->base + rank, channel);
}

/* Only its turn is left of it. */
static void strip(struct px_item *item)
{
    item->output.len_bytes = 0;
    item->output.mem = NULL;
    item->is_bare = true;
}

/* From before, where the pull wants nothing of that. */
static bool is_too_much(const struct px_host_pull *pull, uint32_t number)
{
    for (uint32_t i = 0; i < pull->ranges_count; i++) {
        const struct px_host_range *range = &pull->ranges[i];

        if (number >= range->first && number <= range->last)
            return range->cache_bytes == 0;
    }
    return true;
}

bool px_replay_output(struct px_host *host, const struct job_record *output)
{
    struct px_host_pull *pull = by_ticket(host, output->ticket);
    struct px_host_job *job = px_job_of(host, output->proc);
    struct px_item item = {.output = *output};

    if (pull == NULL || job == NULL)
        return false;
    hear(host, pull, output->proc, output->heard);
    if (output->heard > 0 ||
        !job_late_waits(&pull->late, output->proc, output->channel))
        return false;
    item.to = pull->told.id;
    pull->turns += output->is_turn;
    item.output.is_end =
        output->is_turn &&
        has_ended(job, output->proc - job->base, output->channel);
    if (is_too_much(pull, output->proc)) {
        item.output.before_bytes = 0;
        strip(&item);
    } else if (host->is_deaf) {
        item.dropped_bytes = output->len_bytes;
        strip(&item);
    }
    hear(host, pull, output->proc, 1);
    if (output->is_turn)
        turn(job, pull, output->proc - job->base, output->channel);
    return px_queue_push(host, &item) && !item.is_bare;
}

/* --- no answer comes */

static void give_up(struct px_host *host, struct px_host_job *job,
                    struct px_host_pull *pull, uint32_t rank, uint8_t channel)
{
    if (!job_late_waits(&pull->late, job->base + rank, channel))
        return;
    hear(host, pull, job->base + rank, 1);
    turn(job, pull, rank, channel);
    push_turn(host, pull, job, rank, channel);
}

void px_replay_end(struct px_host *host, struct px_host_job *job, uint32_t rank,
                   uint8_t channel)
{
    struct px_host_pull *pull = job->cache_bytes > 0 ? NULL : host->pulls;

    for (; pull != NULL; pull = pull->next)
        give_up(host, job, pull, rank, channel);
}

void px_host_lost(struct px_host *host, uint32_t first, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        struct px_host_job *job = px_job_of(host, first + i);

        if (job == NULL)
            continue;
        job->is_lost[first + i - job->base] = true;
        if (job->status[first + i - job->base] < 0) /* it runs there */
            job_failure_lost(&job->failure);
        for (struct px_host_pull *pull = host->pulls; pull != NULL;
             pull = pull->next) {
            for (uint8_t channel = 1; channel <= CHANNELS; channel++)
                give_up(host, job, pull, first + i - job->base, channel);
        }
    }
}

bool px_host_replays(const struct px_host *host)
{
    for (const struct px_host_pull *pull = host->pulls; pull != NULL;
         pull = pull->next) {
        if (pull->late.waits != NULL)
            return true;
    }
    return false;
}
