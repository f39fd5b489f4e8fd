/* Clients that get output instead of the console. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "endpoints/client/viewer_impl.h"

bool ep_viewer_redirects(const struct ep_viewer *viewer, uint32_t number,
                         uint8_t channel)
{
    return viewer->redirects && ep_escrow_redirects(viewer->escrow) &&
           ep_viewer_wants(viewer, number, channel) &&
           !job_late_waits(&viewer->late, number, channel);
}

bool ep_viewer_has_room(const struct ep_viewer *viewer,
                        const struct job_record *rec)
{
    const bool is_its =
        viewer->escrow != NULL &&
        (rec->ticket != 0 ? rec->ticket == viewer->late.ticket
                          : ep_viewer_wants(viewer, rec->proc, rec->channel));

    return !is_its || ep_escrow_has_room(viewer->escrow);
}

void ep_viewer_send(struct ep_viewer *viewer)
{
    ep_viewer_pump(viewer);
    if (ep_outbox_is_empty(viewer->box))
        ep_viewer_catch_up(viewer);
}

void ep_viewer_ready(void *arg)
{
    struct ep_viewer *viewer = arg;

    ep_viewer_send(viewer);
    viewer->all->on_change(viewer->all);
}

const char *ep_viewer_taken(struct ep_viewer *viewer,
                            const struct job_door *msg)
{
    if (!viewer->redirects || !ep_escrow_taken(viewer->escrow, msg->taken))
        return "TAKEN must come from a client that redirects output, and "
               "not count more than it was sent";
    if (msg->is_over)
        ep_escrow_settle(viewer->escrow);
    ep_viewer_ready(viewer);
    return NULL;
}

/* --- the stores of all viewers */

static bool escrow_back(void *arg, const struct job_record *rec)
{
    const struct ep_viewers *all = arg;

    return all->cfg.events->on_back(all->cfg.arg, rec);
}

static void escrow_change(void *arg)
{
    struct ep_viewers *all = arg;

    all->cfg.events->on_back_over(all->cfg.arg);
    all->on_change(all);
}

static void escrow_behind(void *arg)
{
    const struct ep_viewers *all = arg;

    all->cfg.events->on_say(all->cfg.arg,
                            "a client reads its redirected output too slowly: "
                            "the output goes to the console again");
}

static void escrow_lost(void *arg, uint64_t bytes, int err)
{
    const struct ep_viewers *all = arg;
    char text[160];

    snprintf(text, sizeof(text),
             "up to %" PRIu64 " bytes of redirected output are lost: %s", bytes,
             err != 0 ? strerror(err) : "out of memory");
    all->cfg.events->on_say(all->cfg.arg, text);
}

static void escrow_twice(void *arg, uint64_t bytes)
{
    const struct ep_viewers *all = arg;
    char text[160];

    snprintf(text, sizeof(text),
             "up to %" PRIu64 " bytes of redirected output that a client was "
             "sent are shown here a second time",
             bytes);
    all->cfg.events->on_say(all->cfg.arg, text);
}

bool ep_viewers_escrows_open(struct ep_viewers *all)
{
    const struct ep_escrows_cfg cfg = {.base = all->cfg.base,
                                       .writer = all->cfg.writer,
                                       .patience_ms = EP_ESCROW_PATIENCE_MS,
                                       .kept_blocks = EP_ESCROW_KEPT_BLOCKS,
                                       .on_back = escrow_back,
                                       .on_change = escrow_change,
                                       .on_behind = escrow_behind,
                                       .on_lost = escrow_lost,
                                       .on_twice = escrow_twice,
                                       .arg = all};

    all->escrows = ep_escrows_open(&cfg);
    return all->escrows != NULL;
}

void ep_viewers_escrows_close(struct ep_viewers *all,
                              const struct ep_client_cfg *run)
{
    const uint64_t bytes = ep_escrows_close(all->escrows);
    char text[160];

    all->escrows = NULL;
    if (bytes == 0)
        return;
    snprintf(text, sizeof(text),
             "up to %" PRIu64 " bytes of redirected output are not shown: the "
             "session ended before a client had read them",
             bytes);
    run->events->on_say(run->arg, text);
}
