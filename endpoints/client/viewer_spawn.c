/* A client that starts a job, which it then owns. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "endpoints/client/viewer_impl.h"
#include "endpoints/sys/clock.h"
#include "job/request.h"
#include "overlay/base/err.h"

enum {
    /* When this many bytes wait for the client, its job is stopped. */
    HOLD_BYTES = 1 << 20,
    HANGUP_S = 2, /* time from SIGTERM to SIGKILL */
};

static struct topo_range range_of(const struct ep_seen_job *job)
{
    return (struct topo_range){job->base, job->base + job->size - 1};
}

/* --- the job is refused */

static const uint8_t refusals[] = {
    [EP_CLIENT_NO_ROOM] = JOB_DOOR_NO_ROOM,
    [EP_CLIENT_NO_HOST] = JOB_DOOR_NO_HOST,
    [EP_CLIENT_NO_GROWTH] = JOB_DOOR_NO_GROWTH,
    [EP_CLIENT_BAD_HOSTS] = JOB_DOOR_BAD_HOSTS,
    [EP_CLIENT_NO_READER] = JOB_DOOR_NO_READER,
    [EP_CLIENT_BLIND] = JOB_DOOR_BLIND,
};

static void refuse_job(struct ep_viewer *viewer, uint8_t reason,
                       const char *why)
{
    const struct ep_client_cfg *run = &viewer->all->cfg;
    struct job_door msg = {.kind = JOB_DOOR_UNSTARTED, .reason = reason};
    char text[EP_CLIENT_WHY_MAX + 64];

    snprintf(text, sizeof(text), "a job that a client asked for %s: %s",
             viewer->job != NULL ? "could not be started" : "was refused", why);
    run->events->on_note(run->arg, text);
    snprintf(msg.text, sizeof(msg.text), "%s", why);
    if (ep_viewer_box(viewer) == 0)
        ep_outbox_say(viewer->box, &msg);
}

/* --- the job is started */

/* Makes the client the owner of the job. It gets the job's output from the
 * first byte on, without asking for it. */
static const char *own_job(struct ep_viewer *viewer,
                           const struct job_request *request,
                           const struct ep_client_spawned *spawned)
{
    struct ep_viewers *all = viewer->all;
    struct ep_seen_job *job = ep_seen_of(&all->seen, spawned->base);
    const struct topo_range range = {spawned->base,
                                     spawned->base + spawned->size - 1};
    const char *why = "the session is out of memory";

    viewer->is_awaited = request->waits;
    if (job != NULL)
        why = ep_viewer_attach(viewer, job);
    if (why != NULL) {
        (void)all->cfg.events->on_signal(all->cfg.arg, SIGKILL, &range, 1);
        return why;
    }
    viewer->is_owner = true;
    viewer->is_kept = request->is_kept;
    ep_viewer_pull_all(viewer);
    viewer->channels &= request->comes;
    return NULL;
}

const char *ep_viewer_spawn_on(struct ep_viewer *viewer)
{
    struct ep_viewer_request *asked = &viewer->request;
    struct ep_client_spawned spawned = {.refusal = EP_CLIENT_NO_ROOM};
    struct job_request request;
    char why[EP_CLIENT_WHY_MAX] = "";
    const char *wrong = NULL;

    if (!asked->is_whole)
        return NULL;
    if (job_request_decode(ov_rd_init(asked->mem, asked->len_bytes),
                           &request) != 0)
        return "SPAWN cannot be read as a job, or there is no memory for it";
    if (ep_viewer_spawn_wish(viewer->all, &request, &spawned, why))
        wrong = own_job(viewer, &request, &spawned);
    else if (spawned.refusal != EP_CLIENT_LATER)
        refuse_job(viewer, refusals[spawned.refusal], why);
    asked->is_kept = request.is_kept;
    job_request_fini(&request);
    if (viewer->job == NULL && spawned.refusal == EP_CLIENT_LATER)
        return NULL; /* ep_viewers_again() tries it again. */
    free(asked->mem);
    *asked = (struct ep_viewer_request){.mem = NULL};
    return wrong;
}

/* Adds a piece to the request. Returns false when the request is too long. */
static bool keep_piece(struct ep_viewer_request *asked, struct ov_rd piece)
{
    uint32_t len_bytes = (uint32_t)ov_rd_left(&piece);
    void *grown = NULL;

    if (len_bytes <= JOB_REQUEST_BYTES_MAX - asked->len_bytes)
        grown = realloc(asked->mem, asked->len_bytes + len_bytes);
    if (grown == NULL)
        return false;
    asked->mem = grown;
    memcpy(asked->mem + asked->len_bytes, piece.at, len_bytes);
    asked->len_bytes += len_bytes;
    return true;
}

const char *ep_viewer_spawn(struct ep_viewer *viewer,
                            const struct job_door *msg)
{
    struct ep_viewer_request *asked = &viewer->request;

    if (viewer->name != NULL || viewer->job != NULL || asked->is_whole)
        return "a client can either start one job or attach to one";
    if (!keep_piece(asked, msg->rest))
        return "the job has too many bytes of arguments and environment";
    asked->is_whole = !msg->is_more;
    return viewer->all->cfg.events != NULL ? ep_viewer_spawn_on(viewer) : NULL;
}

/* --- what becomes of the job */

static uint8_t reason_of(const struct ep_client_job *told)
{
    if (strcmp(told->step, "chdir") == 0)
        return JOB_DOOR_NO_DIR;
    if (strcmp(told->step, "interpreter") == 0)
        return JOB_DOOR_NO_EXEC;
    if (strcmp(told->step, "exec") != 0)
        return JOB_DOOR_FAILED;
    return told->err == ENOENT ? JOB_DOOR_NO_PROGRAM : JOB_DOOR_NO_EXEC;
}

static void tell_unstarted(struct ep_viewer *viewer,
                           const struct ep_client_job *told)
{
    char why[EP_CLIENT_WHY_MAX];

    snprintf(why, sizeof(why), "rank %u: %s of '%.128s': %s", told->rank,
             told->step, told->subject, strerror(told->err));
    refuse_job(viewer, reason_of(told), why);
}

static void tell_first(struct ep_viewer *viewer,
                       const struct ep_client_job *told)
{
    struct job_door msg = {
        .kind = JOB_DOOR_FIRST,
        .first = viewer->job->base + told->rank,
        .status = told->status,
    };

    snprintf(msg.text, sizeof(msg.text), "%s", told->words);
    ep_outbox_say(viewer->box, &msg);
}

/* Names these processes in as many RANGES as they take. */
static void say_ranks(const struct ep_viewer *viewer, uint32_t base,
                      const bool *are_there, uint32_t size)
{
    uint8_t mem[JOB_DOOR_REST_MAX];
    struct ov_wr wr = ov_wr_init(mem, sizeof(mem));
    struct job_door msg = {.kind = JOB_DOOR_RANGES};

    for (uint32_t rank = 0; rank < size; rank++) {
        if (!are_there[rank])
            continue;
        ov_wr_u32(&wr, base + rank);
        while (rank + 1 < size && are_there[rank + 1])
            rank++;
        ov_wr_u32(&wr, base + rank);
        msg.rest = ov_rd_init(mem, (size_t)(wr.at - mem));
        if (wr.at < wr.end)
            continue;
        ep_outbox_say(viewer->box, &msg);
        wr = ov_wr_init(mem, sizeof(mem));
    }
    if (wr.at > mem)
        ep_outbox_say(viewer->box, &msg);
}

static void tell_stalled(const struct ep_viewer *viewer,
                         const struct ep_client_job *told)
{
    struct job_door msg = {.kind = JOB_DOOR_STALLED};

    if (told->are_stalled != NULL)
        say_ranks(viewer, told->base, told->are_stalled, told->size);
    snprintf(msg.text, sizeof(msg.text), "%s", told->words);
    ep_outbox_say(viewer->box, &msg);
}

/* Says a notice before the end of the job. */
static void tell_note(const struct ep_viewer *viewer, const char *note)
{
    struct job_door msg = {.kind = JOB_DOOR_NOTE};

    if (note == NULL || note[0] == '\0')
        return;
    snprintf(msg.text, sizeof(msg.text), "%s", note);
    ep_outbox_say(viewer->box, &msg);
}

/* The length of the whole lines that fit into a message. */
static size_t cut_lines(const char *lines)
{
    size_t len = strlen(lines);

    if (len <= JOB_DOOR_ENDS_MAX)
        return len;
    len = JOB_DOOR_ENDS_MAX;
    while (len > 0 && lines[len - 1] != '\n')
        len--;
    return len;
}

static void tell_end(struct ep_viewer *viewer, const char *lines_or_null)
{
    const struct job_failure *failure = &viewer->job->failure;
    struct job_door msg = {
        .kind = JOB_DOOR_ENDED,
        .is_lost = failure->is_lost,
        .first = viewer->job->base + failure->rank,
        .status = failure->status,
        .count = failure->count,
    };

    if (lines_or_null != NULL)
        msg.rest = ov_rd_init((const uint8_t *)lines_or_null,
                              cut_lines(lines_or_null));
    ep_outbox_say(viewer->box, &msg);
}

void ep_viewer_tell(struct ep_viewer *viewer, const struct ep_client_job *told)
{
    static const struct job_door started = {.kind = JOB_DOOR_STARTED};

    switch (told->event) {
    case EP_CLIENT_JOB_STARTED:
        ep_outbox_say(viewer->box, &started);
        break;
    case EP_CLIENT_JOB_FAILED:
        tell_unstarted(viewer, told);
        break;
    case EP_CLIENT_JOB_FIRST:
        tell_first(viewer, told);
        break;
    case EP_CLIENT_JOB_STALLED:
        tell_stalled(viewer, told);
        break;
    case EP_CLIENT_JOB_ENDED:
        tell_note(viewer, told->note);
        tell_end(viewer, told->words);
        break;
    case EP_CLIENT_JOB_BEGUN:
    case EP_CLIENT_JOB_FORGOTTEN:
        break;
    }
}

const char *ep_viewer_signal(struct ep_viewer *viewer,
                             const struct job_door *msg)
{
    const struct ep_client_cfg *run = &viewer->all->cfg;
    const struct topo_range range = range_of(viewer->job);

    if (!viewer->is_owner || msg->status < 1 || msg->status >= NSIG)
        return "a client can send only valid signals, and only to a job "
               "that it has started";
    if (!viewer->job->is_over)
        (void)run->events->on_signal(run->arg, msg->status, &range, 1);
    ep_outbox_say(viewer->box, &(struct job_door){.kind = JOB_DOOR_SIGNALLED});
    return NULL;
}

/* --- the client does not read the output of its job */

void ep_viewer_hold(struct ep_viewer *viewer)
{
    const struct ep_client_cfg *run = &viewer->all->cfg;
    struct topo_range range;
    bool is_full;

    if (!viewer->is_awaited || run->events == NULL)
        return;
    is_full = viewer->is_full ? !ep_outbox_is_empty(viewer->box)
                              : ep_outbox_bytes(viewer->box) > HOLD_BYTES;
    if (is_full == viewer->is_full)
        return;
    viewer->is_full = is_full;
    range = range_of(viewer->job);
    run->events->on_hold(run->arg, &range, is_full);
}

/* --- the client leaves */

void ep_viewer_spawn_end(struct ep_viewer *viewer)
{
    static const struct timeval wait = {.tv_sec = HANGUP_S};
    const struct ep_client_cfg *run = &viewer->all->cfg;
    struct ep_seen_job *job = viewer->job;
    const struct topo_range range = range_of(job);

    if (!viewer->is_owner || run->events == NULL)
        return;
    if (viewer->is_full)
        run->events->on_hold(run->arg, &range, false);
    if (job->is_over || viewer->is_kept)
        return;
    job->kill_ns = ep_clock_ns() + HANGUP_S * UINT64_C(1000000000);
    if (!evtimer_pending(viewer->all->kills, NULL))
        event_add(viewer->all->kills, &wait);
    (void)run->events->on_signal(run->arg, SIGTERM, &range, 1);
}
