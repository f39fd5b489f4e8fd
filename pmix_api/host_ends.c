/* Channels that have ended: told to tools that come later, too. */
#include <stdlib.h>

#include "overlay/base/err.h"
#include "pmix_api/host_impl.h"
#include "pmix_api/wire.h"

enum { CHANNELS = 3 };

int px_ends_open(struct px_host *host)
{
    host->ended = calloc(host->cfg.size, sizeof(*host->ended));
    host->broken = calloc(host->cfg.size, sizeof(*host->broken));
    return host->ended == NULL || host->broken == NULL ? OV_ENOMEM : 0;
}

void px_ends_close(struct px_host *host)
{
    free(host->ended);
    free(host->broken);
}

static void note_broken(struct px_host *host, uint32_t rank, uint8_t channel)
{
    struct px_item item = {.output = {.rank = rank, .channel = channel},
                           .kind = PX_ITEM_BROKEN,
                           .is_bare = true};

    host->broken[rank] |= (uint8_t)(1u << channel);
    /* One that is still to be told of the job hears it with that. */
    if (host->phase == PX_HOST_READY && rank < host->broken_told)
        px_queue_push(host, &item);
}

bool px_ends_note(struct px_host *host, const struct px_host_output *output)
{
    uint8_t bit = (uint8_t)(1u << output->channel);
    bool had_ended = (host->ended[output->rank] & bit) != 0;

    if (had_ended)
        return output->len_bytes > 0;
    if (!output->is_end)
        return true;
    host->ended[output->rank] |= bit;
    if (output->is_broken)
        note_broken(host, output->rank, output->channel);
    return true;
}

static void tell(struct px_host *host, uint32_t to, uint32_t rank,
                 uint8_t channel)
{
    struct px_item item = {
        .output = {.rank = rank, .channel = channel, .is_end = true},
        .to = to,
        .is_bare = true};

    px_queue_push(host, &item);
}

void px_ends_exit(struct px_host *host, uint32_t rank)
{
    for (uint8_t channel = 1; channel <= CHANNELS; channel++) {
        uint8_t bit = (uint8_t)(1u << channel);

        if ((host->ended[rank] & bit) != 0)
            continue;
        host->ended[rank] |= bit;
        if (host->wanted != NULL && (host->wanted[rank] & bit) != 0)
            tell(host, 0, rank, channel);
    }
}

static void tell_rank(struct px_host *host, const struct px_host_pull *pull,
                      uint32_t rank)
{
    for (uint8_t channel = 1; channel <= CHANNELS; channel++) {
        if ((host->ended[rank] & pull->told.channels & 1u << channel) != 0)
            tell(host, pull->told.id, rank, channel);
    }
}

/* Ranges may overlap, or name a process twice: it is told once. */
void px_ends_tell(struct px_host *host, const struct px_host_pull *pull)
{
    bool *is_told = calloc(host->cfg.size, sizeof(*is_told));

    for (uint32_t i = 0; is_told != NULL && i < pull->ranges_count; i++) {
        uint32_t last = pull->ranges[i][1];

        for (uint32_t rank = pull->ranges[i][0];
             rank < host->cfg.size && rank <= last; rank++) {
            if (!is_told[rank])
                tell_rank(host, pull, rank);
            is_told[rank] = true;
        }
    }
    free(is_told);
}
