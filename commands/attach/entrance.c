/* Connects to a session, before there is an event loop. */
#include "commands/attach/entrance.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "overlay/base/err.h"
#include "overlay/wire/push.h"

enum { TELL_MS = 1000, WAIT_MS = EP_SESSIONS_ALONE_S * 1000 };

static char why_not[JOB_DOOR_TEXT_MAX + 64];

/* --- messages */

static const char *out_of_memory(void)
{
    return ov_strerror(OV_ENOMEM);
}

static const char *has_gone(const struct entrance *entrance)
{
    if (entrance->has_spawned && entrance->at.answer.is_dvm)
        return "the dvm ended before the job ran";
    snprintf(why_not, sizeof(why_not), "process %d has ended meanwhile",
             (int)entrance->at.number);
    return why_not;
}

/* Sends a message, and waits when the session has no room for it now. */
static const char *say(const struct entrance *entrance,
                       const struct job_door *msg)
{
    struct pollfd room = {.fd = entrance->at.fd, .events = POLLOUT};
    int rc = ep_session_say(&entrance->at, msg);

    while (rc != 0 && (errno == EAGAIN || errno == EINTR)) {
        (void)poll(&room, 1, -1);
        rc = ep_session_say(&entrance->at, msg);
    }
    return rc == 0 ? NULL : has_gone(entrance);
}

/* Keeps a message that must be handled in the event loop. */
static int keep_early(struct entrance *entrance, const uint8_t *mem,
                      uint32_t len_bytes)
{
    struct entrance_early *early = malloc(sizeof(*early) + len_bytes);

    if (early == NULL)
        return OV_ENOMEM;
    early->next = NULL;
    early->len_bytes = len_bytes;
    memcpy(early->mem, mem, len_bytes);
    *entrance->last = early;
    entrance->last = &early->next;
    return 0;
}

/* True when the message is an answer; false for a message that the session may
 * send at any time about the job that we have started. */
static bool is_answer(const struct entrance *entrance,
                      const struct job_door *msg)
{
    switch (msg->kind) {
    case JOB_DOOR_OUTPUT:
    case JOB_DOOR_PULLED:
    case JOB_DOOR_STARTED:
    case JOB_DOOR_FIRST:
    case JOB_DOOR_RANGES:
    case JOB_DOOR_STALLED:
    case JOB_DOOR_NOTE:
    case JOB_DOOR_ENDED:
        return !entrance->has_spawned;
    default:
        return true;
    }
}

/* Waits for the next answer. Returns the value of ep_session_hear(), or
 * OV_ENOMEM. */
static int hear(struct entrance *entrance, int timeout_ms, struct job_door *msg)
{
    uint8_t mem[JOB_DOOR_BYTES_MAX];
    uint32_t len_bytes;
    int rc;

    do {
        rc = ep_session_receive(&entrance->at, timeout_ms, mem, &len_bytes);
        if (rc == 0)
            rc = job_door_decode(ov_rd_init(mem, len_bytes), msg);
        if (rc == 0 && is_answer(entrance, msg))
            return 0;
        if (rc == 0)
            rc = keep_early(entrance, mem, len_bytes);
    } while (rc == 0 || (rc == OV_EFULL && timeout_ms < 0));
    return rc;
}

/* Waits for an answer, for as long as a session may need that was stopped for a
 * while. (Starting a job may take longer.) */
static int hear_soon(struct entrance *entrance, struct job_door *msg)
{
    int rc = hear(entrance, TELL_MS, msg);

    if (rc != OV_EFULL)
        return rc;
    fprintf(stderr, "xylem: waiting for process %d to %s\n",
            (int)entrance->at.number,
            entrance->has_spawned ? "start the job" : "answer");
    return hear(entrance, entrance->has_spawned ? -1 : WAIT_MS - TELL_MS, msg);
}

static const char *await(struct entrance *entrance, struct job_door *msg)
{
    int rc = hear_soon(entrance, msg);

    if (rc == OV_ENOMEM)
        return out_of_memory();
    if (rc == OV_EFULL)
        snprintf(why_not, sizeof(why_not),
                 "process %d has not answered for %d s (is it stopped, or "
                 "still starting its daemons?)",
                 (int)entrance->at.number, EP_SESSIONS_ALONE_S);
    else if (rc != 0)
        return has_gone(entrance);
    else if (msg->kind == JOB_DOOR_REFUSED || msg->kind == JOB_DOOR_UNSTARTED)
        snprintf(why_not, sizeof(why_not), "%s", msg->text);
    else
        return NULL;
    return why_not;
}

/* --- where the processes are */

/* Stores the host of a part's ranks, which then all point to the same string.
 */
static const char *keep_part(struct entrance *entrance,
                             const struct job_door *part)
{
    uint32_t rank = part->first - entrance->job.first;
    char *host = strdup(part->text);

    if (host == NULL)
        return out_of_memory();
    if (part->kind != JOB_DOOR_PART || rank >= entrance->job.count ||
        part->count > entrance->job.count - rank) {
        free(host);
        return "the session gave a wrong answer when asked for its hosts (is "
               "it of another version of xylem?)";
    }
    for (uint32_t i = 0; i < part->count; i++)
        entrance->hosts[rank + i] = host;
    return NULL;
}

static const char *find_parts(struct entrance *entrance, struct job_door *msg)
{
    const char *why = NULL;

    for (uint32_t i = 0; why == NULL && i < entrance->job.parts; i++) {
        if (i % JOB_DOOR_PARTS == 0)
            why = say(entrance,
                      &(struct job_door){.kind = JOB_DOOR_WHERE, .parts = i});
        if (why == NULL)
            why = await(entrance, msg);
        if (why == NULL)
            why = keep_part(entrance, msg);
    }
    return why;
}

/* Waits for the message JOB; *msg becomes the last message that came. */
static const char *find_job(struct entrance *entrance, struct job_door *msg)
{
    const char *why = await(entrance, msg);

    if (why != NULL)
        return why;
    entrance->job = *msg;
    if (entrance->job.kind != JOB_DOOR_JOB ||
        entrance->job.push_bytes < OV_PUSH_HEAD_BYTES + OV_PUSH_RANGE_BYTES ||
        entrance->job.push_bytes > JOB_DOOR_REST_MAX) {
        entrance->job.count = 0;
        return "the session gave a wrong answer when asked for its job (is it "
               "of another version of xylem?)";
    }
    entrance->hosts = calloc(entrance->job.count + 1, sizeof(*entrance->hosts));
    return entrance->hosts != NULL ? find_parts(entrance, msg)
                                   : out_of_memory();
}

static void take_connection(struct entrance *entrance,
                            struct ep_session *connection, bool has_spawned)
{
    *entrance =
        (struct entrance){.at = *connection, .has_spawned = has_spawned};
    entrance->last = &entrance->first;
    connection->fd = -1;
}

const char *entrance_attach(struct entrance *entrance,
                            struct ep_session *connection, const char *nspace)
{
    struct job_door msg = {.kind = JOB_DOOR_ATTACH};
    const char *why;

    take_connection(entrance, connection, false);
    snprintf(msg.text, sizeof(msg.text), "%s", nspace != NULL ? nspace : "");
    why = say(entrance, &msg);
    return why == NULL ? find_job(entrance, &msg) : why;
}

/* --- starting a job */

/* Sends the request in pieces. Errors are ignored: a session that refuses the
 * request sends the reason before it disconnects, and the caller reads that as
 * the answer. */
static void say_pieces(const struct entrance *entrance, const uint8_t *mem,
                       size_t len_bytes)
{
    for (size_t at = 0; at < len_bytes; at += JOB_DOOR_REST_MAX) {
        size_t left = len_bytes - at;
        bool is_more = left > JOB_DOOR_REST_MAX;
        struct job_door msg = {
            .kind = JOB_DOOR_SPAWN,
            .is_more = is_more,
            .rest = ov_rd_init(mem + at, is_more ? JOB_DOOR_REST_MAX : left),
        };

        if (say(entrance, &msg) != NULL)
            return;
    }
}

static const char *say_request(const struct entrance *entrance,
                               const struct job_request *request)
{
    size_t size = job_request_bytes(request);
    uint8_t *mem = NULL;
    struct ov_wr wr;

    if (size > JOB_REQUEST_BYTES_MAX)
        return "the job cannot be started: its arguments and environment are "
               "too large";
    mem = malloc(size);
    if (mem == NULL)
        return out_of_memory();
    wr = ov_wr_init(mem, size);
    job_request_encode(&wr, request);
    say_pieces(entrance, mem, size);
    free(mem);
    return NULL;
}

const char *entrance_spawn(struct entrance *entrance,
                           struct ep_session *connection,
                           const struct job_request *request,
                           struct job_door *answer)
{
    const char *why;

    take_connection(entrance, connection, true);
    answer->kind = 0;
    why = say_request(entrance, request);
    if (why == NULL)
        why = find_job(entrance, answer);
    if (answer->kind != JOB_DOOR_UNSTARTED)
        answer->kind = 0;
    return why;
}

/* --- afterwards */

struct entrance_early *entrance_pop(struct entrance *entrance)
{
    struct entrance_early *early = entrance->first;

    if (early == NULL)
        return NULL;
    entrance->first = early->next;
    if (entrance->first == NULL)
        entrance->last = &entrance->first;
    return early;
}

void entrance_close(struct entrance *entrance)
{
    struct entrance_early *early;

    while ((early = entrance_pop(entrance)) != NULL)
        free(early);
    for (uint32_t i = 0; entrance->hosts != NULL && i < entrance->job.count;
         i++) {
        if (i == 0 || entrance->hosts[i] != entrance->hosts[i - 1])
            free(entrance->hosts[i]);
    }
    free(entrance->hosts);
    entrance->hosts = NULL;
    ep_session_close(&entrance->at);
}
