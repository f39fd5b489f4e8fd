/* Starts jobs for the tool. */
#include "pmix_api/helper/spawns.h"

#include <stdio.h>
#include <stdlib.h>

#include "overlay/base/err.h"
#include "pmix_api/helper/door.h"
#include "pmix_api/helper/forward.h"
#include "pmix_api/helper/jobs.h"
#include "pmix_api/helper/pulls.h"

struct start {
    struct start *next;
    struct px_spawns *all;
    struct px_door *door; /* owned */
    /* The request; call NULL: it was answered, and the other members are
     * invalid. */
    struct px_lib_spawn asked;
    char name[JOB_DOOR_TEXT_MAX]; /* the name of the job */
    uint32_t base, size;          /* 0: the job has not begun */
    uint8_t comes;                /* channels whose output goes to the tool
                                     without a pull */
    bool is_kept;
    bool is_started, is_over;
};

struct px_spawns {
    struct px_spawns_cfg cfg;
    struct start *starts; /* owned */
    unsigned count;
};

static struct px_forwards *forwards_of(const struct start *start)
{
    return px_pulls_forwards(start->all->cfg.pulls);
}

/* --- what the tool asks for */

static void say_pieces(struct px_door *door, const uint8_t *mem, size_t size)
{
    for (size_t at = 0; at < size; at += JOB_DOOR_REST_MAX) {
        const size_t left = size - at;
        const size_t len = left < JOB_DOOR_REST_MAX ? left : JOB_DOOR_REST_MAX;

        px_door_say(door,
                    &(struct job_door){.kind = JOB_DOOR_SPAWN,
                                       .is_more = left > JOB_DOOR_REST_MAX,
                                       .rest = ov_rd_init(mem + at, len)});
    }
}

/* Sends the request to the session. False: it is too large, or memory is out.
 */
static bool say_request(struct px_door *door, const struct job_request *request)
{
    const size_t size = job_request_bytes(request);
    uint8_t *mem = size <= JOB_REQUEST_BYTES_MAX ? malloc(size) : NULL;
    struct ov_wr wr;

    if (mem == NULL)
        return false;
    wr = ov_wr_init(mem, size);
    job_request_encode(&wr, request);
    say_pieces(door, mem, size);
    free(mem);
    return true;
}

/* --- the end of a start */

static void free_start(struct start *start)
{
    struct start **at = &start->all->starts;

    while (*at != start)
        at = &(*at)->next;
    *at = start->next;
    start->all->count--;
    px_door_close(start->door);
    free(start);
}

/* Frees a start after its connection has ended. */
static void end_start(struct start *start)
{
    if (start->size > 0)
        px_forward_cut(forwards_of(start), start->base);
    free_start(start);
}

/* True when nothing more can come on the connection, and the job does not need
 * it. */
static bool is_done(const struct start *start)
{
    const bool is_empty = start->comes == 0 ||
                          !px_forward_is_open(forwards_of(start), start->base);

    return start->asked.call == NULL && is_empty &&
           (start->is_over || (start->is_kept && start->comes == 0));
}

static void sweep(struct px_spawns *spawns)
{
    struct start *next;

    for (struct start *at = spawns->starts; at != NULL; at = next) {
        next = at->next;
        if (is_done(at))
            end_start(at);
    }
}

/* --- the answer */

static void refuse_start(struct start *start, enum px_lib_answer answer)
{
    if (start->size > 0)
        px_forward_drop(forwards_of(start), start->base);
    px_lib_answer(start->asked.call, answer);
    free_start(start);
}

static const enum px_lib_answer answers[JOB_DOOR_REASONS] = {
    [0] = PX_LIB_FAILED,
    [JOB_DOOR_NO_ROOM] = PX_LIB_NO_ROOM,
    [JOB_DOOR_NO_HOST] = PX_LIB_NOT_FOUND,
    [JOB_DOOR_BAD_HOSTS] = PX_LIB_BAD_PARAM,
    [JOB_DOOR_NO_READER] = PX_LIB_BAD_PARAM,
    [JOB_DOOR_BLIND] = PX_LIB_FAILED,
    [JOB_DOOR_NO_DIR] = PX_LIB_NO_DIR,
    [JOB_DOOR_NO_PROGRAM] = PX_LIB_NO_PROGRAM,
    [JOB_DOOR_NO_EXEC] = PX_LIB_NO_EXEC,
    [JOB_DOOR_FAILED] = PX_LIB_FAILED,
    [JOB_DOOR_NO_GROWTH] = PX_LIB_NO_GROWTH,
};

/* Answers the spawn when the job runs, which the session reports on this
 * connection and on the main one; both reports must have come. */
static void look_at_start(struct start *start)
{
    struct px_jobs *jobs = start->all->cfg.jobs;

    if (start->asked.call == NULL || !start->is_started ||
        !px_jobs_have_begun(jobs, start->base))
        return;
    if (px_jobs_find(jobs, start->name) == NULL) {
        refuse_start(start, PX_LIB_FAILED);
        return;
    }
    px_jobs_come(jobs, start->base, start->comes);
    px_lib_answer_spawn(start->asked.call, start->name);
    start->asked.call = NULL;
    px_forward_begin(forwards_of(start), start->base);
    if (is_done(start))
        end_start(start);
}

bool px_spawns_are_said(const struct px_spawns *spawns)
{
    const struct start *at = spawns->starts;

    while (at != NULL && (!at->is_kept || px_door_is_quiet(at->door)))
        at = at->next;
    return at == NULL;
}

void px_spawns_on_word(struct px_spawns *spawns, const struct job_door *msg)
{
    struct start *next;

    if (msg->kind == JOB_DOOR_BEGUN) {
        for (struct start *at = spawns->starts; at != NULL; at = next) {
            next = at->next;
            look_at_start(at);
        }
    }
    sweep(spawns);
}

/* --- the connection */

static void begin_job(struct start *start, const struct job_door *msg)
{
    const struct px_forward_cfg cfg = {
        .job = msg,
        .channels = start->asked.request->comes,
        .has_lines = !start->asked.request->is_raw,
        .wish = &start->asked.wish,
        .door = start->door,
    };

    if (start->size > 0 || msg->count == 0)
        return;
    start->base = msg->first;
    start->size = msg->count;
    start->comes = cfg.channels & msg->channels;
    snprintf(start->name, sizeof(start->name), "%s", msg->text);
    if (start->comes != 0 && px_forward_add(forwards_of(start), &cfg) != 0)
        refuse_start(start, PX_LIB_NO_RESOURCE);
}

static bool on_word(void *arg, const struct job_door *msg)
{
    struct start *start = arg;

    if (msg->kind == JOB_DOOR_OUTPUT)
        return px_forward_hear(forwards_of(start), start->base, msg);
    if (msg->kind == JOB_DOOR_JOB && start->asked.call != NULL) {
        begin_job(start, msg);
    } else if (msg->kind == JOB_DOOR_STARTED && start->size > 0) {
        start->is_started = true;
        look_at_start(start);
    } else if (msg->kind == JOB_DOOR_UNSTARTED && start->asked.call != NULL) {
        refuse_start(start, answers[msg->reason]);
    } else if (msg->kind == JOB_DOOR_ENDED) {
        start->is_over = true;
        if (is_done(start))
            end_start(start);
    }
    return true;
}

/* The session has ended, or has disconnected this client. */
static void on_end(void *arg, const char *why)
{
    struct start *start = arg;

    (void)why;
    if (start->asked.call == NULL)
        end_start(start);
    else
        refuse_start(start, PX_LIB_NO_ROOM);
}

/* --- a request */

static struct start *make(struct px_spawns *spawns)
{
    static const struct px_door_events events = {.on_word = on_word,
                                                 .on_end = on_end};
    struct start *start = calloc(1, sizeof(*start));

    if (start == NULL)
        return NULL;
    start->all = spawns;
    if (px_door_open(spawns->cfg.way, &events, start, &start->door) != 0) {
        free(start);
        return NULL;
    }
    start->next = spawns->starts;
    spawns->starts = start;
    spawns->count++;
    return start;
}

void px_spawns_on_spawn(struct px_spawns *spawns,
                        const struct px_lib_spawn *asked)
{
    struct start *start = NULL;

    sweep(spawns);
    if (spawns->count < PX_SPAWNS_MAX)
        start = make(spawns);
    if (start != NULL && !say_request(start->door, asked->request)) {
        free_start(start);
        start = NULL;
    }
    if (start == NULL) {
        px_lib_answer(asked->call, PX_LIB_NO_RESOURCE);
        return;
    }
    start->asked = *asked;
    start->is_kept = asked->request->is_kept;
}

int px_spawns_open(const struct px_spawns_cfg *cfg, struct px_spawns **out)
{
    *out = calloc(1, sizeof(**out));
    if (*out == NULL)
        return OV_ENOMEM;
    (*out)->cfg = *cfg;
    return 0;
}

void px_spawns_close(struct px_spawns *spawns)
{
    if (spawns == NULL)
        return;
    while (spawns->starts != NULL)
        free_start(spawns->starts);
    free(spawns);
}
