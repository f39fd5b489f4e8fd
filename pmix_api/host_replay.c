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

    while (pull != NULL && (pull->ticket != ticket || pull->waits == NULL))
        pull = pull->next;
    return pull;
}

static unsigned count_bits(unsigned bits)
{
    return (bits & 1) + (bits >> 1 & 1) + (bits >> 2 & 1) + (bits >> 3 & 1);
}

void px_replay_drop(struct px_host_pull *pull)
{
    free(pull->waits);
    pull->waits = NULL;
    pull->waits_left = 0;
}

/* --- it begins */

/* The run's own job: daemons keep output of no other. */
static struct px_host_job *own(const struct px_host *host)
{
    return host->jobs;
}

/* Each process once, whatever names it. */
static void mark(const struct px_host *host, struct px_host_pull *pull)
{
    const struct px_host_job *job = own(host);
    uint8_t channels = pull->told.channels & KEPT;

    for (uint32_t i = 0; i < pull->ranges_count; i++) {
        uint32_t last = pull->ranges[i][1];

        for (uint32_t rank = pull->ranges[i][0];
             rank < job->size && rank <= last; rank++) {
            if (pull->waits[rank] != 0 || job->is_lost[rank])
                continue;
            pull->waits[rank] = channels;
            pull->waits_left += count_bits(channels);
        }
    }
}

/* Neighbours that wait become ranges, for the caller to free. */
static uint32_t (*list(const struct px_host *host,
                       const struct px_host_pull *pull, uint32_t *count))[2]
{
    uint32_t(*ranges)[2] = NULL;
    uint32_t room = 0;

    *count = 0;
    for (uint32_t rank = 0; rank < own(host)->size; rank++) {
        void *grown = ranges;

        if (pull->waits[rank] == 0)
            continue;
        if (*count > 0 && ranges[*count - 1][1] + 1 == rank) {
            ranges[*count - 1][1] = rank;
            continue;
        }
        if (*count == room) {
            room = room > 0 ? 2 * room : 16;
            grown = realloc(ranges, room * sizeof(*ranges));
        }
        if (grown == NULL) {
            free(ranges);
            return NULL;
        }
        ranges = grown;
        ranges[*count][0] = ranges[*count][1] = rank;
        ++*count;
    }
    return ranges;
}

static bool ask(struct px_host *host, struct px_host_pull *pull)
{
    struct px_replay want = {.channels = pull->told.channels & KEPT,
                             .is_last = pull->told.is_last,
                             .bytes = pull->told.cache_bytes};
    uint32_t(*ranges)[2] = list(host, pull, &want.count);

    want.ranges = (const uint32_t(*)[2])ranges;
    pull->ticket =
        ranges == NULL ? 0 : host->cfg.events->on_replay(host->cfg.arg, &want);
    free(ranges);
    return pull->ticket != 0;
}

bool px_replay_begin(struct px_host *host, struct px_host_pull *pull)
{
    if (pull->told.cache_bytes == 0)
        return false;
    pull->waits = calloc(own(host)->size, sizeof(*pull->waits));
    if (pull->waits == NULL)
        return false;
    mark(host, pull);
    if (pull->waits_left > 0 && ask(host, pull))
        return true;
    px_replay_drop(pull);
    return false;
}

/* --- a channel's turn */

static bool has_ended(const struct px_host_job *job, uint32_t rank,
                      uint8_t channel)
{
    return (job->ended[rank] & 1u << channel) != 0;
}

static void push_turn(struct px_host *host, const struct px_host_pull *pull,
                      const struct px_host_job *job, uint32_t rank,
                      uint8_t channel)
{
    struct px_item item = {.output = {.rank = job->base + rank,
                                      .channel = channel,
                                      .is_end = has_ended(job, rank, channel)},
                           .to = pull->told.id,
                           .is_turn = true,
                           .is_bare = true};

    px_queue_push(host, &item);
}

static void tell_rank(struct px_host *host, const struct px_host_pull *pull,
                      const struct px_host_job *job, uint32_t rank)
{
    unsigned bits = pull->told.channels;

    if (job == own(host) && pull->waits != NULL)
        bits &= (unsigned)~pull->waits[rank];
    for (uint8_t channel = 1; channel <= CHANNELS; channel++) {
        if ((bits & 1u << channel) != 0)
            push_turn(host, pull, job, rank, channel);
    }
}

void px_replay_tell(struct px_host *host, const struct px_host_pull *pull)
{
    px_pulls_walk(host, pull, tell_rank);
}

/* From here on the pull gets the channel, for which it has waited. */
static void turn(struct px_host *host, struct px_host_pull *pull, uint32_t rank,
                 uint8_t channel)
{
    uint8_t bit = (uint8_t)(1u << channel);

    pull->waits[rank] &= (uint8_t)~bit;
    own(host)->wanted[rank] |= bit;
    if (pull->told.redirects)
        own(host)->redirected[rank] |= bit;
    if (--pull->waits_left == 0)
        px_replay_drop(pull);
}

static bool waits(const struct px_host *host, const struct px_host_pull *pull,
                  uint32_t rank, uint8_t channel)
{
    return pull->waits != NULL && rank < own(host)->size &&
           (pull->waits[rank] & 1u << channel) != 0;
}

bool px_replay_output(struct px_host *host, const struct px_host_output *output)
{
    struct px_host_pull *pull = by_ticket(host, output->ticket);
    struct px_item item = {.output = *output};

    if (pull == NULL || !waits(host, pull, output->rank, output->channel))
        return false;
    item.to = pull->told.id;
    item.is_turn = output->is_turn;
    item.output.is_end =
        output->is_turn && has_ended(own(host), output->rank, output->channel);
    item.before_bytes = output->before_bytes;
    if (host->is_deaf) {
        item.dropped_bytes = output->len_bytes;
        item.output.len_bytes = 0;
        item.output.mem = NULL;
        item.is_bare = true;
    }
    if (output->is_turn)
        turn(host, pull, output->rank, output->channel);
    return px_queue_push(host, &item) && !item.is_bare;
}

/* --- nodes that are lost */

static void give_up(struct px_host *host, struct px_host_pull *pull,
                    uint32_t rank)
{
    for (uint8_t channel = 1; channel <= CHANNELS; channel++) {
        if (!waits(host, pull, rank, channel))
            continue;
        turn(host, pull, rank, channel);
        push_turn(host, pull, own(host), rank, channel);
    }
}

void px_host_lost(struct px_host *host, uint32_t first, uint32_t count)
{
    for (uint32_t i = 0; i < count && first + i < own(host)->size; i++) {
        own(host)->is_lost[first + i] = true;
        for (struct px_host_pull *pull = host->pulls; pull != NULL;
             pull = pull->next)
            give_up(host, pull, first + i);
    }
}

bool px_host_replays(const struct px_host *host)
{
    for (const struct px_host_pull *pull = host->pulls; pull != NULL;
         pull = pull->next) {
        if (pull->waits != NULL)
            return true;
    }
    return false;
}
