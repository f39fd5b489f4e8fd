/* Sends a client the output that it has asked for. */
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "endpoints/client/ranges.h"
#include "endpoints/client/viewer_impl.h"
#include "overlay/base/err.h"

enum { PULLED = 1, RANGES_MAX = 1 << 20 };

/* --- what the client asks for */

const char *ep_viewer_ranges(struct ep_viewer *viewer,
                             const struct job_door *msg)
{
    const struct ep_seen_job *job = viewer->job;
    const struct topo_range all = {job->base, job->base + job->size - 1};

    if (viewer->is_pulling || job->size == 0 ||
        !ep_ranges_read(&viewer->ranges, msg->rest, all, RANGES_MAX))
        return "RANGES must name processes of the job, in ascending order, "
               "and come before PULL";
    return NULL;
}

static bool is_for(const struct ep_viewer *viewer, uint32_t rank,
                   uint8_t channel)
{
    return (viewer->told[rank] & PULLED) != 0 &&
           (viewer->channels & 1u << channel) != 0;
}

static uint8_t *state_of(const struct ep_viewer *viewer, uint32_t rank)
{
    return &viewer->job->state[rank];
}

/* --- what the client is sent */

static uint64_t *dropped_of(struct ep_viewer *viewer, uint32_t rank,
                            uint8_t channel)
{
    return viewer->dropped == NULL
               ? NULL
               : &viewer->dropped[(size_t)rank * EP_VIEWER_CHANNELS + channel -
                                  1];
}

/* Counts dropped bytes. When memory is out even for that, the connection is
 * shut down, so that the client knows of the loss. */
static void count_dropped(struct ep_viewer *viewer, uint32_t rank,
                          uint8_t channel, uint64_t bytes)
{
    uint64_t *dropped;

    if (viewer->dropped == NULL)
        viewer->dropped = calloc((size_t)viewer->job->size * EP_VIEWER_CHANNELS,
                                 sizeof(*viewer->dropped));
    dropped = dropped_of(viewer, rank, channel);
    if (dropped != NULL)
        *dropped += bytes;
    else
        (void)shutdown(viewer->fd, SHUT_RDWR);
    viewer->is_behind = true;
}

/* Tells whether output is put into the client's store. A copy need not be put
 * there when nothing waits before it. */
static bool has_store(const struct ep_viewer *viewer)
{
    return viewer->escrow != NULL &&
           (viewer->redirects || !ep_escrow_is_empty(viewer->escrow) ||
            !ep_outbox_is_empty(viewer->box));
}

static int put_message(struct ep_viewer *viewer, enum ep_escrow_what what,
                       const uint8_t *head, uint32_t head_bytes,
                       const uint8_t *mem, uint32_t len_bytes)
{
    return has_store(viewer)
               ? ep_escrow_put(viewer->escrow, what, head, head_bytes, mem,
                               len_bytes)
               : ep_outbox_put(viewer->box, head, head_bytes, mem, len_bytes);
}

/* Sends one message, which also says how much of its channel was dropped
 * before. */
static bool send_one(struct ep_viewer *viewer, struct job_door *msg,
                     enum ep_escrow_what what, const uint8_t *mem,
                     uint32_t len_bytes)
{
    uint32_t rank = msg->first - viewer->job->base;
    uint64_t *dropped = dropped_of(viewer, rank, msg->channel);
    uint8_t head[JOB_DOOR_HEAD_MAX];
    struct ov_wr wr = ov_wr_init(head, sizeof(head));

    msg->dropped_bytes = dropped != NULL ? *dropped : 0;
    job_door_encode(&wr, msg);
    if (put_message(viewer, what, head, (uint32_t)(wr.at - head), mem,
                    len_bytes) != 0)
        return false;
    if (dropped != NULL)
        *dropped = 0;
    if (msg->is_end)
        viewer->told[rank] |= (uint8_t)(1u << msg->channel);
    if (viewer->is_owner && !ep_outbox_is_empty(viewer->box))
        ep_viewers_soon(viewer->all);
    return true;
}

/* Returns how many of these bytes are put into one message: whole lines, unless
 * a line is too long. */
static uint32_t cut_lines(const uint8_t *mem, uint32_t len_bytes)
{
    const uint32_t least = JOB_DOOR_OUTPUT_MAX / 2;
    const uint8_t *end;

    if (len_bytes <= JOB_DOOR_OUTPUT_MAX)
        return len_bytes;
    end = memrchr(mem + least, '\n', JOB_DOOR_OUTPUT_MAX - least);
    return end != NULL ? (uint32_t)(end + 1 - mem) : JOB_DOOR_OUTPUT_MAX;
}

/* Sends a record to the client. Returns false when there is no room: then the
 * bytes that are not sent are counted, and the channel's end is sent later. */
static bool give_record(struct ep_viewer *viewer, const struct job_record *rec,
                        bool is_end)
{
    const bool is_alone = rec->is_redirected && viewer->redirects;
    enum ep_escrow_what what = is_alone ? EP_ESCROW_FIRST : EP_ESCROW_COPY;
    struct job_door msg = {.kind = JOB_DOOR_OUTPUT,
                           .first = rec->proc,
                           .channel = rec->channel,
                           .before_bytes = rec->before_bytes};
    uint32_t at = 0;

    do {
        uint32_t left = rec->len_bytes - at;
        uint32_t len = left > 0 ? cut_lines(rec->mem + at, left) : 0;

        msg.is_end = is_end && len == left;
        if (!send_one(viewer, &msg, what, len > 0 ? rec->mem + at : NULL,
                      len)) {
            count_dropped(viewer, rec->proc - viewer->job->base, rec->channel,
                          left + msg.before_bytes);
            return false;
        }
        what = is_alone ? EP_ESCROW_MORE : EP_ESCROW_COPY;
        msg.before_bytes = 0;
        at += len;
    } while (at < rec->len_bytes);
    return true;
}

static bool tell_channel(struct ep_viewer *viewer, uint32_t rank,
                         uint8_t channel)
{
    const uint8_t bit = (uint8_t)(1u << channel);
    const uint64_t *dropped = dropped_of(viewer, rank, channel);
    struct job_door msg = {
        .kind = JOB_DOOR_OUTPUT,
        .first = viewer->job->base + rank,
        .channel = channel,
        .is_end = (*state_of(viewer, rank) & ~viewer->told[rank] & bit) != 0,
    };

    if (!is_for(viewer, rank, channel) ||
        job_late_waits(&viewer->late, msg.first, channel) ||
        (!msg.is_end && (dropped == NULL || *dropped == 0)))
        return true;
    return send_one(viewer, &msg, EP_ESCROW_COPY, NULL, 0);
}

/* Costs O(processes) when there is anything to tell. */
void ep_viewer_catch_up(struct ep_viewer *viewer)
{
    if (!viewer->is_pulling || !viewer->is_behind)
        return;
    for (uint32_t rank = 0; rank < viewer->job->size; rank++) {
        for (uint8_t channel = 1; channel <= EP_VIEWER_CHANNELS; channel++) {
            if (!tell_channel(viewer, rank, channel))
                return; /* The rest follows when there is room. */
        }
    }
    viewer->is_behind = false;
}

static void tell_live(struct ep_viewer *viewer)
{
    const struct job_door msg = {.kind = JOB_DOOR_PULLED,
                                 .redirects = viewer->redirects};

    if (!viewer->is_told_live)
        ep_outbox_say(viewer->box, &msg);
    viewer->is_told_live = true;
}

/* --- output from the time before the client's pull */

static bool ask_past(struct ep_viewer *viewer)
{
    const struct ep_client_cfg *run = &viewer->all->cfg;
    struct job_replay_wish want = {.channels =
                                       viewer->channels & viewer->job->channels,
                                   .is_last = viewer->past.is_last,
                                   .bytes = viewer->past.bytes};
    struct topo_range *ranges = job_late_ranges(&viewer->late, &want.count);

    want.ranges = ranges;
    viewer->late.ticket =
        ranges != NULL ? run->events->on_replay(run->arg, &want) : 0;
    free(ranges);
    return viewer->late.ticket != 0;
}

/* Asks the daemons for earlier output. With is_late it also asks about open
 * channels of which nothing is kept, because their nodes may not know yet that
 * a client wants them. Returns false when no daemon could be asked. */
static bool expect_past(struct ep_viewer *viewer, bool is_late)
{
    const struct ep_seen_job *job = viewer->job;
    const bool has_past = viewer->past.bytes > 0 && !job->is_gone;
    bool is_asked;

    if ((!has_past && !is_late) ||
        job_late_open(&viewer->late, job->base, job->base + job->size - 1) != 0)
        return true;
    for (uint32_t rank = 0; rank < job->size; rank++) {
        uint8_t ended = has_past ? 0 : *state_of(viewer, rank);

        if ((viewer->told[rank] & PULLED) != 0 &&
            (*state_of(viewer, rank) & EP_SEEN_LOST) == 0)
            job_late_expect(&viewer->late, job->base + rank,
                            viewer->channels & job->channels & (uint8_t)~ended);
    }
    if (viewer->late.left > 0 && ask_past(viewer))
        return true;
    is_asked = viewer->late.left == 0;
    job_late_close(&viewer->late);
    return is_asked;
}

static void note_heard(struct ep_viewer *viewer, uint32_t number,
                       uint32_t count)
{
    if (job_late_heard(&viewer->late, number, count))
        tell_live(viewer);
}

/* Notes that all earlier output of the channel has arrived. */
static void turn_channel(struct ep_viewer *viewer, uint32_t number,
                         uint8_t channel)
{
    job_late_turn(&viewer->late, number, channel);
    if (viewer->late.waits == NULL && viewer->redirects)
        ep_escrow_begin(viewer->escrow);
}

static void take_past(struct ep_viewer *viewer, const struct job_record *rec)
{
    const uint32_t rank = rec->proc - viewer->job->base;
    bool is_end;

    note_heard(viewer, rec->proc, rec->heard);
    if (rec->heard > 0 ||
        !job_late_waits(&viewer->late, rec->proc, rec->channel))
        return;
    note_heard(viewer, rec->proc, 1);
    is_end =
        rec->is_turn && (*state_of(viewer, rank) & 1u << rec->channel) != 0;
    if (rec->len_bytes > 0 || rec->before_bytes > 0 || is_end)
        (void)give_record(viewer, rec, is_end);
    if (!rec->is_turn)
        return;
    turn_channel(viewer, rec->proc, rec->channel);
    /* The channel may have ended while it waited. */
    if (!tell_channel(viewer, rank, rec->channel))
        viewer->is_behind = true;
}

/* Notes that no earlier output of the channel will arrive, so that new output
 * can be sent at once. */
static void give_up_past(struct ep_viewer *viewer, uint32_t number,
                         uint8_t channel)
{
    if (!job_late_waits(&viewer->late, number, channel))
        return;
    note_heard(viewer, number, 1);
    turn_channel(viewer, number, channel);
}

void ep_viewer_lost(struct ep_viewer *viewer, uint32_t number)
{
    const uint32_t rank = number - viewer->job->base;

    for (uint8_t channel = 1; channel <= EP_VIEWER_CHANNELS; channel++) {
        give_up_past(viewer, number, channel);
        if (viewer->is_pulling && !tell_channel(viewer, rank, channel))
            viewer->is_behind = true;
    }
    ep_viewer_pump(viewer);
}

void ep_viewer_exit(struct ep_viewer *viewer, uint32_t rank)
{
    const uint8_t missing = EP_SEEN_OUTPUT & ~viewer->job->channels;

    for (uint8_t channel = 1; channel <= EP_VIEWER_CHANNELS; channel++) {
        if (viewer->is_pulling && (missing & 1u << channel) != 0 &&
            !tell_channel(viewer, rank, channel))
            viewer->is_behind = true;
    }
    ep_viewer_pump(viewer);
}

/* --- pulling */

static void mark_pulled(struct ep_viewer *viewer)
{
    const struct ep_seen_job *job = viewer->job;

    if (viewer->ranges.count == 0) {
        memset(viewer->told, PULLED, job->size);
        return;
    }
    for (uint32_t i = 0; i < viewer->ranges.count; i++) {
        const struct topo_range *range = &viewer->ranges.items[i];

        memset(viewer->told + (range->first - job->base), PULLED,
               range->last - range->first + 1);
    }
}

/* No earlier output is needed, as the job has just begun. */
void ep_viewer_pull_all(struct ep_viewer *viewer)
{
    viewer->is_pulling = true;
    viewer->channels = viewer->job->channels;
    mark_pulled(viewer);
}

/* Makes the socket's buffer larger. A buffer of the default size has room for
 * two messages, so the reader would be woken for each two. */
static void widen(int fd)
{
    static const int bytes = JOB_DOOR_OUTPUT_MAX * 6;

    (void)setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes));
}

const char *ep_viewer_pull(struct ep_viewer *viewer, const struct job_door *msg)
{
    const struct ep_client_cfg *run = &viewer->all->cfg;
    const char *why;

    if (viewer->is_pulling)
        return "a client must send PULL only once";
    viewer->is_pulling = true;
    widen(viewer->fd);
    viewer->channels = msg->channels & EP_SEEN_OUTPUT;
    viewer->past.is_last = msg->is_last;
    viewer->past.bytes = msg->cache_bytes < viewer->job->cache_bytes
                             ? msg->cache_bytes
                             : viewer->job->cache_bytes;
    mark_pulled(viewer);
    why = ep_viewer_escrow(viewer, msg);
    if (why != NULL)
        return why;
    if (!expect_past(viewer, run->events->on_wanted(run->arg)))
        return "the session is ending: earlier output of the job is no "
               "longer available";
    if (viewer->late.waits == NULL && viewer->redirects)
        ep_escrow_begin(viewer->escrow);
    if (viewer->late.waits == NULL)
        tell_live(viewer);
    viewer->is_behind = true;
    ep_viewer_catch_up(viewer);
    ep_viewer_pump(viewer);
    return NULL;
}

bool ep_viewer_wants(const struct ep_viewer *viewer, uint32_t number,
                     uint8_t channel)
{
    const struct ep_seen_job *job = viewer->job;

    return viewer->is_pulling && number >= job->base &&
           number - job->base < job->size &&
           (job->channels & 1u << channel) != 0 &&
           is_for(viewer, number - job->base, channel);
}

bool ep_viewer_output(struct ep_viewer *viewer, const struct job_record *rec)
{
    const bool is_past = rec->ticket != 0;
    bool is_given = false;

    if (is_past
            ? rec->ticket != viewer->late.ticket || viewer->late.waits == NULL
            : !ep_viewer_wants(viewer, rec->proc, rec->channel))
        return false;
    /* A node that keeps no output may have forgotten the channel. */
    if (!is_past && rec->is_end && viewer->job->cache_bytes == 0)
        give_up_past(viewer, rec->proc, rec->channel);
    if (is_past)
        take_past(viewer, rec);
    else if (!job_late_waits(&viewer->late, rec->proc, rec->channel))
        is_given = give_record(viewer, rec, rec->is_end);
    ep_viewer_pump(viewer);
    return is_given && rec->is_redirected && viewer->redirects;
}
