/* How far the job is: which processes were started, which have ended. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "overlay/base/err.h"
#include "pmix_api/host_impl.h"
#include "pmix_api/wire.h"

int px_stage_open(struct px_host *host)
{
    size_t size = host->cfg.size;

    host->status = malloc(size * sizeof(*host->status));
    host->pids = calloc(size, 4);
    if (host->status == NULL || host->pids == NULL)
        return OV_ENOMEM;
    memset(host->status, 0xff, size * sizeof(*host->status));
    return 0;
}

void px_stage_close(struct px_host *host)
{
    free(host->status);
    free(host->pids);
}

/* Stages are passed in their order: one that was skipped has the time of the
 * one after it. */
static void reach(struct px_host *host, enum px_stage_name stage)
{
    while (host->stage < stage) {
        host->stage_s[host->stage++] = (uint64_t)time(NULL);
        px_queue_wake(host);
    }
}

void px_stage_end(struct px_host *host)
{
    /* What has never begun has not ended either. */
    if (host->stage != PX_STAGE_NONE)
        reach(host, PX_STAGE_ENDED);
}

void px_host_started(struct px_host *host, uint32_t rank, const uint32_t *pids,
                     uint32_t count)
{
    struct px_item item = {
        .output = {.rank = rank}, .value = count, .kind = PX_ITEM_PIDS};
    struct ov_wr wr;

    if (rank >= host->cfg.size || count > host->cfg.size - rank)
        return;
    wr = ov_wr_init(host->pids + 4 * (size_t)rank, 4 * (size_t)count);
    for (uint32_t i = 0; i < count; i++)
        ov_wr_u32(&wr, pids[i]);
    host->started += count;
    if (host->phase == PX_HOST_READY && rank < host->pids_told)
        px_queue_push(host, &item);
    reach(host,
          host->started < host->cfg.size ? PX_STAGE_STARTED : PX_STAGE_RUNNING);
}

void px_host_exit(struct px_host *host, uint32_t rank, uint32_t status)
{
    struct px_item item = {
        .output = {.rank = rank}, .value = status, .kind = PX_ITEM_EXIT};

    if (rank >= host->cfg.size || host->status[rank] >= 0)
        return;
    host->status[rank] = (int32_t)(status & INT32_MAX);
    if (status != 0 && !host->has_failed) {
        host->has_failed = true;
        host->failed_rank = rank;
        host->failed_status = status;
    }
    /* One that is still to be told of the job hears it with that. */
    if (host->phase == PX_HOST_READY && rank < host->exits_told)
        px_queue_push(host, &item);
    px_ends_exit(host, rank);
    if (++host->exited == host->cfg.size)
        px_stage_end(host);
}
