/* The job's course as events of PMIx. */
#include "pmix_api/helper/event.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>

#include <pmix_server.h>

#include "job/failure.h"
#include "pmix_api/helper/deliver.h"
#include "pmix_api/helper/forward.h"
#include "pmix_api/helper/job.h"
#include "pmix_api/helper/kept.h"
#include "pmix_api/helper/space.h"
#include "pmix_api/helper/spawn.h"
#include "pmix_api/helper/turn.h"

enum {
    INFOS_MAX = 9,
    /* In the turn after the call the library has queued the event for its
     * sockets, one or two more and it has written it. */
    TURNS = 4,
    ENDING_MS = 2000, /* an end waits so long for a tool that takes nothing */
    LOOK_MS = 100,
};

struct event {
    pmix_proc_t source;
    pmix_info_t info[INFOS_MAX];
    size_t infos;
    unsigned turns;
};

/* The end of a job, which waits for its output. */
struct ending {
    struct ending *next;
    struct px_stage stage;
    uint64_t left_bytes, moved_ms;
};

static struct ending *endings, **endings_last = &endings; /* owned, in order */
static atomic_uint left;

unsigned px_event_left(void)
{
    return atomic_load(&left);
}

static void on_turn(pmix_status_t status, void *arg)
{
    struct event *event = arg;

    (void)status;
    if (++event->turns < TURNS) {
        px_turn(on_turn, event);
        return;
    }
    for (size_t i = 0; i < event->infos; i++)
        PMIX_INFO_DESTRUCT(&event->info[i]);
    free(event);
    atomic_fetch_sub(&left, 1);
}

static void add(struct event *event, const char *key, const void *value,
                pmix_data_type_t type)
{
    PMIX_INFO_LOAD(&event->info[event->infos], key, value, type);
    event->infos++;
}

static pmix_status_t outcome(const struct px_stage *stage)
{
    if (!px_job_has_ended(stage->base))
        return PMIX_ERR_JOB_ABORTED; /* of some processes nothing was heard */
    if (!stage->has_failed)
        return PMIX_SUCCESS;
    return WIFSIGNALED((int)stage->status) ? PMIX_ERR_JOB_ABORTED_BY_SIG
                                           : PMIX_ERR_JOB_NON_ZERO_TERM;
}

static void add_end(struct event *event, const struct px_stage *stage)
{
    pmix_status_t status = outcome(stage);
    int code = job_failure_code((int)stage->status);
    uint32_t count = px_job_count_failed(stage->base);
    pmix_proc_t failed;

    add(event, PMIX_JOB_TERM_STATUS, &status, PMIX_STATUS);
    if (stage->is_lost)
        add(event, PX_JOB_LOST, &stage->is_lost, PMIX_BOOL);
    if (!stage->has_failed)
        return;
    if (px_job_name(stage->rank, &failed))
        add(event, PMIX_PROCID, &failed, PMIX_PROC);
    add(event, PMIX_EXIT_CODE, &code, PMIX_INT);
    add(event, PX_JOB_FAILED, &count, PMIX_UINT32);
}

static pmix_status_t code_of(uint8_t stage)
{
    if (stage == PX_STAGE_STARTED)
        return PMIX_EVENT_JOB_START;
    return stage == PX_STAGE_RUNNING ? PMIX_LAUNCH_COMPLETE
                                     : PMIX_EVENT_JOB_END;
}

/* About a process, or (is_job) its job. NULL: there is none any more. */
static struct event *make(uint32_t number, bool is_job)
{
    struct event *event = calloc(1, sizeof(*event));

    if (event == NULL || !px_job_name(number, &event->source)) {
        free(event);
        return NULL;
    }
    if (is_job)
        event->source.rank = PMIX_RANK_WILDCARD;
    add(event, PMIX_EVENT_AFFECTED_PROC, &event->source, PMIX_PROC);
    return event;
}

static void notify(struct event *event, pmix_status_t code)
{
    atomic_fetch_add(&left, 1);
    if (PMIx_Notify_event(code, &event->source, PMIX_RANGE_SESSION, event->info,
                          event->infos, on_turn, event) != PMIX_SUCCESS)
        on_turn(PMIX_ERROR, event);
}

/* The source is the job: what the server says itself comes back to it. */
static void tell_stage(const struct px_stage *stage)
{
    struct event *event = make(stage->base, true);
    time_t when = (time_t)stage->time_s;

    if (event == NULL)
        return;
    add(event, PMIX_NSPACE, event->source.nspace, PMIX_STRING);
    add(event, PMIX_EVENT_TIMESTAMP, &when, PMIX_TIME);
    if (stage->name == PX_STAGE_ENDED)
        add_end(event, stage);
    notify(event, code_of(stage->name));
}

static void forget(uint32_t base)
{
    px_spawn_over(px_space_over(base));
}

void px_event_stage(const struct px_stage *stage)
{
    struct ending *one = NULL;

    if (stage->name == PX_STAGE_NONE) {
        forget(stage->base);
        return;
    }
    if (stage->name == PX_STAGE_ENDED)
        one = calloc(1, sizeof(*one));
    if (one == NULL) {
        tell_stage(stage);
        return;
    }
    one->stage = *stage;
    *endings_last = one;
    endings_last = &one->next;
    atomic_fetch_add(&left, 1);
}

/* All of its output has been given to the library, or nobody takes it. */
static bool is_due(struct ending *one, uint64_t now_ms)
{
    uint64_t bytes = px_forward_left_bytes(one->stage.base);

    if (one->moved_ms == 0 || bytes != one->left_bytes) {
        one->left_bytes = bytes;
        one->moved_ms = now_ms;
    }
    return (bytes == 0 && px_deliver_asked() == 0) ||
           now_ms - one->moved_ms >= ENDING_MS;
}

uint64_t px_event_step(uint64_t now_ms)
{
    struct ending **at = &endings;

    while (*at != NULL) {
        struct ending *one = *at;

        if (!is_due(one, now_ms)) {
            at = &one->next;
            continue;
        }
        px_forward_end(one->stage.base);
        tell_stage(&one->stage);
        forget(one->stage.base);
        *at = one->next;
        free(one);
        atomic_fetch_sub(&left, 1);
    }
    endings_last = at;
    return endings != NULL ? now_ms + LOOK_MS : 0;
}

void px_event_broken(const struct px_broken *broken)
{
    struct event *event = make(broken->rank, false);
    uint16_t channel = (uint16_t)(PMIX_FWD_STDIN_CHANNEL << broken->channel);
    bool yes = true;

    if (event == NULL)
        return;
    add(event, PX_IOF_CHANNEL, &channel, PMIX_UINT16);
    if (!px_kept_add_broken())
        add(event, PMIX_EVENT_DO_NOT_CACHE, &yes, PMIX_BOOL);
    notify(event, PMIX_ERR_IOF_FAILURE);
}
