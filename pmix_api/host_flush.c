/* The end of a job waits until tools have what they want. */
#include "pmix_api/host_impl.h"

/* Longer than the helper takes for it, who knows that, too. */
enum { FLUSH_MS = 20000 };

void px_flush_done(struct px_host *host)
{
    if (host->flush_ms == 0)
        return;
    host->is_flushed = true;
    px_flush_go_on(host);
}

void px_flush_go_on(struct px_host *host)
{
    if (px_is_returning(host))
        return;
    if (!host->is_flushed) {
        if (host->flush_ms != 0)
            host->flush_ms = px_now_ms(); /* pulls have waited for that */
        return;
    }
    host->is_flushed = false;
    host->flush_ms = 0;
    host->cfg.events->on_flushed(host->cfg.arg);
}

bool px_flush_is_late(const struct px_host *host, uint64_t now_ms)
{
    return host->flush_ms != 0 && !host->is_flushed && host->backs == 0 &&
           !px_is_returning(host) && now_ms - host->flush_ms > FLUSH_MS;
}

bool px_host_flush(struct px_host *host)
{
    px_stages_end(host);
    px_spawn_refuse(host);
    if ((host->has_tools || host->pulls != NULL) &&
        host->phase == PX_HOST_READY)
        host->is_flush_due = true;
    else if (px_is_returning(host))
        host->is_flushed = true;
    else
        return false;
    host->flush_ms = px_now_ms();
    px_queue_wake(host);
    return true;
}
