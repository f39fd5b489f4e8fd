/* Redirected output that the helper gives back. */
#include "pmix_api/host_back.h"

#include "overlay/base/err.h"
#include "pmix_api/host_impl.h"
#include "pmix_api/host_salvage.h"

void px_back_stop(struct px_host *host, uint32_t pull)
{
    px_pulls_stopped(host, pull);
}

int px_back_heard(struct px_host *host, const struct px_output *output)
{
    const struct px_host_job *job = px_job_of(host, output->rank);
    struct job_record back = {.proc = output->rank,
                              .channel = output->channel,
                              .is_end = output->is_end,
                              .mem = output->mem,
                              .len_bytes = output->len_bytes};

    if (output->is_shared)
        return OV_EPROTO;
    host->backs++;
    if (job == NULL || job->base != 0 || /* only the run's own has a console */
        !host->cfg.events->on_back(host->cfg.arg, &back))
        px_host_took_back(host);
    return 0;
}

void px_host_took_back(struct px_host *host)
{
    if (px_salvage_taken(host) || host->backs == 0)
        return; /* of a helper that has died */
    host->backs--;
    host->taken_due++;
    if (host->flush_ms != 0)
        host->flush_ms = px_now_ms();
    px_queue_wake(host);
}

bool px_host_gives_back(const struct px_host *host, uint32_t rank,
                        uint8_t channel)
{
    return px_returns(host, rank, channel);
}
