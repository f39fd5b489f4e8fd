/* The store of a client that gets output instead of the console, or that wants
 * more output kept than fits into its outbox. */
#include "endpoints/client/viewer_impl.h"

static const uint64_t least_bytes = 1 << 20, most_bytes = 256 << 20;

static uint64_t limit_of(const struct job_door *msg)
{
    if (msg->limit_bytes == 0 || msg->limit_bytes > most_bytes)
        return most_bytes;
    return msg->limit_bytes < least_bytes ? least_bytes : msg->limit_bytes;
}

/* Redirects only output of the run's own job, as no other has a console. */
const char *ep_viewer_escrow(struct ep_viewer *viewer,
                             const struct job_door *msg)
{
    struct ep_escrow_cfg cfg;

    viewer->redirects =
        msg->redirects && viewer->job->base == 0 && !viewer->all->cfg.is_dvm;
    if (!viewer->redirects && msg->limit_bytes == 0)
        return NULL;
    cfg = (struct ep_escrow_cfg){.channels = viewer->channels,
                                 .base = viewer->job->base,
                                 .size = viewer->job->size,
                                 .ranges = viewer->ranges,
                                 .limit_bytes = limit_of(msg),
                                 .is_copy = !viewer->redirects,
                                 .on_ready = viewer->all->on_ready,
                                 .arg = viewer};
    viewer->ranges = (struct topo_ranges){.items = NULL};
    return ep_escrow_open(viewer->all->escrows, &cfg, &viewer->escrow) == 0
               ? NULL
               : "the session is out of memory";
}

void ep_viewer_pump(struct ep_viewer *viewer)
{
    const uint8_t *mem;
    uint32_t len_bytes;

    while (viewer->escrow != NULL && ep_outbox_is_empty(viewer->box) &&
           ep_escrow_next(viewer->escrow, &mem, &len_bytes) &&
           ep_outbox_put(viewer->box, mem, len_bytes, NULL, 0) == 0)
        ep_escrow_pass(viewer->escrow);
}
