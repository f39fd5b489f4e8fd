/* Channels that have ended: told to tools that come later, too. */
#include <stdlib.h>

#include "pmix_api/host_impl.h"
#include "pmix_api/wire.h"

enum { CHANNELS = 3 };

static void note_broken(struct px_host *host, struct px_host_job *job,
                        const struct job_record *output)
{
    struct px_item item = {
        .output = {.proc = output->proc, .channel = output->channel},
        .kind = PX_ITEM_BROKEN,
        .is_bare = true};
    uint32_t rank = output->proc - job->base;

    job->broken[rank] |= (uint8_t)(1u << output->channel);
    /* One that is still to be told of the job hears it with that. */
    if (host->phase == PX_HOST_READY && rank < job->broken_told)
        px_queue_push(host, &item);
}

bool px_ends_note(struct px_host *host, struct px_host_job *job,
                  const struct job_record *output)
{
    uint8_t bit = (uint8_t)(1u << output->channel);
    uint8_t *ended = &job->ended[output->proc - job->base];

    if ((*ended & bit) != 0)
        return output->len_bytes > 0;
    if (!output->is_end)
        return true;
    *ended |= bit;
    if (output->is_cut)
        note_broken(host, job, output);
    return true;
}

static void tell(struct px_host *host, uint32_t to, uint32_t number,
                 uint8_t channel)
{
    struct px_item item = {
        .output = {.proc = number, .channel = channel, .is_end = true},
        .to = to,
        .is_bare = true};

    px_queue_push(host, &item);
}

void px_ends_exit(struct px_host *host, struct px_host_job *job, uint32_t rank)
{
    for (uint8_t channel = 1; channel <= CHANNELS; channel++) {
        uint8_t bit = (uint8_t)(1u << channel);

        if ((job->ended[rank] & bit) != 0)
            continue;
        px_replay_end(host, job, rank, channel);
        job->ended[rank] |= bit;
        if ((job->wanted[rank] & bit) != 0)
            tell(host, 0, job->base + rank, channel);
    }
}

static void tell_rank(struct px_host *host, struct px_host_pull *pull,
                      const struct px_host_job *job, uint32_t rank)
{
    for (uint8_t channel = 1; channel <= CHANNELS; channel++) {
        if ((job->ended[rank] & pull->told.channels & 1u << channel) != 0)
            tell(host, pull->told.id, job->base + rank, channel);
    }
}

/* Of its job nothing is known any more, but that. */
static void tell_over(struct px_host *host, const struct px_host_pull *pull,
                      uint32_t number)
{
    for (uint8_t channel = 1; channel <= CHANNELS; channel++) {
        if ((pull->told.channels & 1u << channel) != 0)
            tell(host, pull->told.id, number, channel);
    }
}

void px_ends_tell(struct px_host *host, struct px_host_pull *pull)
{
    px_pulls_walk(host, pull, tell_rank);
}

void px_ends_tell_over(struct px_host *host, const struct px_host_pull *pull)
{
    for (uint32_t i = 0; i < pull->ranges_count; i++) {
        uint32_t number = pull->ranges[i].first, last = pull->ranges[i].last;

        while (number <= last) {
            const struct px_host_job *job = px_job_of(host, number);

            if (job == NULL)
                tell_over(host, pull, number);
            number = job == NULL ? number + 1 : job->base + job->size;
        }
    }
}
