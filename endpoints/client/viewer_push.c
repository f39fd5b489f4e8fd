/* What clients push to the stdin of their jobs, one message at a time. */
#include <stdlib.h>
#include <string.h>

#include "endpoints/client/viewer_impl.h"
#include "overlay/base/err.h"
#include "overlay/wire/push.h"

static void say_pushed(struct ep_viewer *viewer, bool is_over)
{
    viewer->in.is_due = false;
    ep_outbox_say(viewer->box, &(struct job_door){.kind = JOB_DOOR_PUSHED,
                                                  .is_over = is_over});
}

/* --- the processes that get a push */

static bool is_of(const struct ep_seen_job *job, struct topo_range range)
{
    return range.first >= job->base && range.last - job->base < job->size;
}

/* Tells whether the ranges are processes of the job, and ascend over all
 * messages that name the set. */
static bool is_sound(struct ep_viewer *viewer, struct ov_push push)
{
    struct ep_viewer_input *in = &viewer->in;
    uint64_t next = (push.flags & OV_PUSH_NEW) != 0 ? 0 : in->next;

    if (push.ranges > 0 && (push.flags & OV_PUSH_NEW) == 0 && next == 0)
        return false;
    for (unsigned i = 0; i < push.ranges; i++) {
        struct topo_range range = ov_push_range(&push);

        if (range.first < next || !is_of(viewer->job, range))
            return false;
        next = (uint64_t)range.last + 1;
    }
    in->next = (push.flags & OV_PUSH_MORE) != 0 ? next : 0;
    return true;
}

/* Tells whether some process of the set reads stdin or, with by_all, whether
 * each of them does. */
static bool is_read(const struct ep_viewer *viewer, bool by_all)
{
    const struct ep_seen_job *job = viewer->job;

    for (uint32_t i = 0; i < viewer->in.set.count; i++) {
        const struct topo_range *range = &viewer->in.set.ranges[i];

        for (uint32_t n = range->first - job->base;
             n <= range->last - job->base; n++) {
            if (((job->state[n] & EP_SEEN_READS) != 0) != by_all)
                return !by_all;
        }
    }
    return by_all;
}

/* Notes that the stdin of these processes is closed for all clients. */
static void close_set(const struct ep_viewer *viewer)
{
    const struct ep_seen_job *job = viewer->job;

    for (uint32_t i = 0; i < viewer->in.set.count; i++) {
        const struct topo_range *range = &viewer->in.set.ranges[i];

        for (uint32_t n = range->first - job->base;
             n <= range->last - job->base; n++)
            job->state[n] &= (uint8_t)~EP_SEEN_READS;
    }
}

/* --- sending a push */

static void be_there(struct ep_viewer *viewer, bool is_there)
{
    viewer->in.is_there = is_there;
    ep_viewers_soon(viewer->all);
}

/* Gives the push to the launcher, which may call ep_viewers_pushed() before it
 * returns. */
static void hand_on(struct ep_viewer *viewer, const uint8_t *mem,
                    uint32_t len_bytes)
{
    const struct ep_client_cfg *run = &viewer->all->cfg;

    run->events->on_push(run->arg, viewer->job->base, viewer->number, mem,
                         len_bytes);
}

/* Tells whether another client has sent a part of a push that must stay
 * whole. */
static bool is_kept_out(const struct ep_viewer *viewer)
{
    const struct ep_viewer *at = viewer->all->first;

    while (at != NULL &&
           (at == viewer || at->job != viewer->job || !at->in.is_within))
        at = at->next;
    return at != NULL;
}

static bool is_to_wait(const struct ep_viewer *viewer)
{
    return viewer->job->behind > 0 || !viewer->job->is_started ||
           is_kept_out(viewer);
}

static void be_within(struct ep_viewer *viewer, bool is_within)
{
    if (viewer->in.is_within && !is_within)
        ep_viewers_soon(viewer->all);
    viewer->in.is_within = is_within;
}

void ep_viewer_push_on(struct ep_viewer *viewer)
{
    uint8_t *mem = viewer->in.mem;

    if (mem == NULL || is_to_wait(viewer))
        return;
    viewer->in.mem = NULL;
    be_within(viewer, viewer->in.is_more);
    hand_on(viewer, mem, viewer->in.len_bytes);
    free(mem);
}

static const char *keep_push(struct ep_viewer *viewer, const uint8_t *mem,
                             uint32_t len_bytes)
{
    viewer->in.mem = malloc(len_bytes);
    if (viewer->in.mem == NULL)
        return "the session is out of memory";
    memcpy(viewer->in.mem, mem, len_bytes);
    viewer->in.len_bytes = len_bytes;
    ep_viewer_push_on(viewer);
    return NULL;
}

/* A push is dropped when the processes that it is for no longer read. */
const char *ep_viewer_push(struct ep_viewer *viewer, const struct job_door *msg)
{
    struct ep_viewer_input *in = &viewer->in;
    uint32_t len_bytes = (uint32_t)ov_rd_left(&msg->rest);
    struct ov_push push;

    if (in->is_due || len_bytes > viewer->all->cfg.push_bytes ||
        ov_push_decode(msg->rest.at, len_bytes, &push) != 0 ||
        !is_sound(viewer, push))
        return "PUSH must be for processes of the job, and come after the "
               "answer to the last PUSH";
    in->is_due = true;
    in->is_closed = (push.flags & OV_PUSH_CLOSE) != 0;
    in->is_more = msg->is_more;
    job_push_set_note(&in->set, push);
    if (in->set.count > 0 && (push.flags & OV_PUSH_MORE) == 0 &&
        viewer->job->is_started && !is_read(viewer, msg->needs_all)) {
        if (in->is_there)
            be_there(viewer, false);
        be_within(viewer, false);
        say_pushed(viewer, true);
        return NULL;
    }
    in->is_there = true;
    viewer->all->on_change(viewer->all);
    return keep_push(viewer, msg->rest.at, len_bytes);
}

void ep_viewer_pushed(struct ep_viewer *viewer)
{
    if (viewer->in.is_closed) {
        close_set(viewer);
        be_there(viewer, false);
    }
    say_pushed(viewer, false);
}

/* A push that waits is freed. Its client was never told PUSHED, so it knows
 * that the push may be lost. */
void ep_viewer_push_end(struct ep_viewer *viewer)
{
    const struct ep_client_cfg *run = &viewer->all->cfg;

    free(viewer->in.mem);
    viewer->in.mem = NULL;
    job_push_set_close(&viewer->in.set);
    if (run->events != NULL)
        run->events->on_left(run->arg, viewer->job->base, viewer->number);
    if (viewer->in.is_there)
        be_there(viewer, false);
}
