/* The connection to a session's door. */
#include "commands/attach/session.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <event2/event.h>

#include "endpoints/client/outbox.h"
#include "endpoints/console/hoard.h"
#include "overlay/base/err.h"
#include "overlay/wire/push.h"

enum {
    TELL_MS = 1000,
    WAIT_MS = EP_SESSIONS_ALONE_S * 1000,
    PACKETS = 64,  /* heard in a turn of the loop */
    RANGES = 1000, /* told in a message */
};

#define FILE_BYTES ((uint64_t)1 << 30)

static struct {
    struct ep_session at;
    struct job_door job; /* its JOB */
    char **hosts;        /* owned [job.count] */
    const struct session_events *events;
    struct event *reads;   /* owned */
    struct ep_outbox *box; /* owned: on its way there */
    struct ep_outbox_pool pool;
    struct ep_hoard *hoard; /* owned: what show has no room for */
    uint8_t *packet;        /* owned: heard, and not taken yet */
    uint32_t packet_bytes;  /* 0: none is */
    bool is_over;           /* nothing more is heard */
    /* The push that goes on with each PUSHED. */
    const struct topo_ranges *ranks;
    const uint8_t *mem;
    size_t left_bytes;
    uint32_t named; /* ranges of the set that were told; all: count */
    bool is_end, is_named;
    char why[JOB_DOOR_TEXT_MAX + 64];
} session = {.at = {.fd = -1}};

/* --- before the loop */

/* The next message, for which a stopped session keeps us waiting so long. */
static const char *hear_soon(struct job_door *msg)
{
    int rc = ep_session_hear(&session.at, TELL_MS, msg);

    if (rc == OV_EFULL) {
        fprintf(stderr, "xylem: waiting for process %d to tell its job\n",
                (int)session.at.number);
        rc = ep_session_hear(&session.at, WAIT_MS - TELL_MS, msg);
    }
    if (rc == OV_EFULL)
        snprintf(session.why, sizeof(session.why),
                 "process %d has told no job for %d s (is it stopped, or its "
                 "tree not up yet?)",
                 (int)session.at.number, EP_SESSIONS_ALONE_S);
    else if (rc != 0)
        snprintf(session.why, sizeof(session.why), "process %d has just ended",
                 (int)session.at.number);
    else if (msg->kind == JOB_DOOR_REFUSED)
        snprintf(session.why, sizeof(session.why), "%s", msg->text);
    else
        return NULL;
    return session.why;
}

static const char *ask(const struct job_door *msg)
{
    if (ep_session_say(&session.at, msg) == 0)
        return NULL;
    snprintf(session.why, sizeof(session.why), "process %d has just ended",
             (int)session.at.number);
    return session.why;
}

static const char *out_of_memory(void)
{
    return ov_strerror(OV_ENOMEM);
}

/* The host is that of the ranks behind it, too, up to the next part. */
static const char *keep_part(const struct job_door *part)
{
    uint32_t rank = part->first - session.job.first;
    char *host = strdup(part->text);

    if (host == NULL)
        return out_of_memory();
    if (part->kind != JOB_DOOR_PART || rank >= session.job.count ||
        part->count > session.job.count - rank) {
        free(host);
        return "the session does not tell where its processes are";
    }
    for (uint32_t i = 0; i < part->count; i++)
        session.hosts[rank + i] = host;
    return NULL;
}

static const char *find_parts(void)
{
    const char *why = NULL;
    struct job_door msg;

    for (uint32_t i = 0; why == NULL && i < session.job.parts; i++) {
        if (i % JOB_DOOR_PARTS == 0)
            why = ask(&(struct job_door){.kind = JOB_DOOR_WHERE, .parts = i});
        if (why == NULL)
            why = hear_soon(&msg);
        if (why == NULL)
            why = keep_part(&msg);
    }
    return why;
}

const char *session_attach(struct ep_session *connection, const char *nspace,
                           struct show_job *out)
{
    struct job_door attach = {.kind = JOB_DOOR_ATTACH};
    const char *why;

    session.at = *connection;
    connection->fd = -1;
    snprintf(attach.text, sizeof(attach.text), "%s",
             nspace != NULL ? nspace : "");
    why = ask(&attach);
    if (why == NULL)
        why = hear_soon(&session.job);
    if (why != NULL)
        return why;
    if (session.job.kind != JOB_DOOR_JOB ||
        session.job.push_bytes < OV_PUSH_HEAD_BYTES + OV_PUSH_RANGE_BYTES ||
        session.job.push_bytes > JOB_DOOR_REST_MAX)
        return "the session does not tell its job";
    session.hosts = calloc(session.job.count + 1, sizeof(*session.hosts));
    if (session.hosts == NULL)
        return out_of_memory();
    *out = (struct show_job){.nspace = session.job.text,
                             .size = session.job.count,
                             .hosts = (const char *const *)session.hosts};
    return find_parts();
}

/* --- what comes */

static void pass_on(const struct job_door *msg)
{
    const struct show_output output = {
        .rank = msg->first - session.job.first,
        .channel = msg->channel,
        .is_end = msg->is_end,
        .dropped_bytes = msg->dropped_bytes,
        .before_bytes = msg->before_bytes,
        .mem = msg->rest.at,
        .len_bytes = ov_rd_left(&msg->rest),
    };

    session.events->on_output(&output);
}

static void fail(const char *what, int err)
{
    snprintf(session.why, sizeof(session.why), "%s: %s", what, strerror(err));
    session.events->on_error(session.why);
}

/* Says whether all that waits in the hoard was passed on. */
static bool pass_on_kept(void)
{
    const uint8_t *mem;
    uint32_t len_bytes;
    struct job_door msg;
    int rc = 0;

    while (rc == 0 && show_has_room()) {
        rc = ep_hoard_get(session.hoard, &mem, &len_bytes);
        if (rc == 0 && job_door_decode(ov_rd_init(mem, len_bytes), &msg) == 0)
            pass_on(&msg);
        if (rc == OV_ESYS)
            fail("output that was kept cannot be read again", errno);
        if (rc == 0 || rc == OV_ESYS)
            ep_hoard_drop(session.hoard);
    }
    return ep_hoard_is_empty(session.hoard);
}

/* Further on, or to the hoard. False: not now. */
static bool take(const struct job_door *msg)
{
    int rc = 0;

    if (pass_on_kept() && show_has_room())
        pass_on(msg);
    else
        rc = ep_hoard_put(session.hoard, session.packet, session.packet_bytes);
    if (rc != 0)
        return false;
    session.packet_bytes = 0;
    return true;
}

static bool push_on(void);

/* False: it is output, for which there is no room now. */
static bool hear(void)
{
    struct job_door msg;
    uint32_t len_bytes = session.packet_bytes;

    if (job_door_decode(ov_rd_init(session.packet, len_bytes), &msg) != 0)
        msg.kind = 0;
    if (msg.kind == JOB_DOOR_OUTPUT)
        return take(&msg);
    session.packet_bytes = 0;
    if (msg.kind == JOB_DOOR_PULLED)
        session.events->on_live();
    else if (msg.kind == JOB_DOOR_REFUSED)
        session.events->on_error(msg.text);
    else if (msg.kind == JOB_DOOR_PUSHED && msg.is_over)
        session.events->on_pushed("nobody reads it", true);
    else if (msg.kind == JOB_DOOR_PUSHED && !push_on())
        session.events->on_pushed(NULL, false);
    return true;
}

/* A session that goes with something of ours unread leaves an error before
 * what it has said. */
static bool receive(void)
{
    ssize_t got;

    do {
        got = recv(session.at.fd, session.packet, JOB_DOOR_BYTES_MAX,
                   MSG_DONTWAIT);
    } while (got < 0 && (errno == EINTR || errno == ECONNRESET));
    session.packet_bytes = got > 0 ? (uint32_t)got : 0;
    if (got > 0)
        return true;
    if (got == 0 || errno != EAGAIN)
        session.is_over = true;
    return false;
}

static void look_if_lost(void)
{
    if (session.is_over && session.packet_bytes == 0 && pass_on_kept()) {
        event_del(session.reads);
        session.events->on_lost();
    }
}

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    (void)arg;
    for (int i = 0; i < PACKETS && session.packet_bytes == 0; i++) {
        if (!receive())
            break;
        if (!hear())
            event_del(session.reads); /* until there is room */
    }
    if (session.is_over)
        event_del(session.reads);
    look_if_lost();
}

void session_go_on(void)
{
    if (session.reads == NULL)
        return;
    (void)pass_on_kept();
    if (session.packet_bytes > 0 && !hear())
        return;
    if (!session.is_over)
        event_add(session.reads, NULL);
    look_if_lost();
}

static void on_change(void *arg)
{
    (void)arg;
    session_go_on();
}

static void on_empty(void *arg)
{
    (void)arg;
}

const char *session_open(struct event_base *base, struct ep_writer *writer,
                         const struct session_events *events)
{
    const struct ep_hoard_cfg hoard = {
        .writer = writer, .limit_bytes = FILE_BYTES, .on_change = on_change};
    const struct ep_outbox_cfg box = {.base = base,
                                      .fd = session.at.fd,
                                      .limit_bytes = UINT64_MAX / 2,
                                      .pool = &session.pool,
                                      .on_empty = on_empty};

    session.events = events;
    session.pool.limit_bytes = UINT64_MAX / 2;
    session.packet = malloc(JOB_DOOR_BYTES_MAX);
    session.reads =
        event_new(base, session.at.fd, EV_READ | EV_PERSIST, on_readable, NULL);
    if (session.packet == NULL || session.reads == NULL ||
        ep_hoard_open(&hoard, &session.hoard) != 0 ||
        ep_outbox_open(&box, &session.box) != 0 ||
        event_add(session.reads, NULL) != 0)
        return out_of_memory();
    return NULL;
}

/* --- what is asked for */

static struct topo_range numbers(struct topo_range ranks)
{
    return (struct topo_range){session.job.first + ranks.first,
                               session.job.first + ranks.last};
}

static void say(const struct job_door *msg, const void *mem, uint32_t len_bytes)
{
    uint8_t head[JOB_DOOR_HEAD_MAX];
    struct ov_wr wr = ov_wr_init(head, sizeof(head));

    job_door_encode(&wr, msg);
    (void)ep_outbox_put(session.box, head, (uint32_t)(wr.at - head), mem,
                        len_bytes);
}

static void say_ranges(const struct topo_ranges *ranks)
{
    static const struct job_door msg = {.kind = JOB_DOOR_RANGES};
    uint8_t mem[RANGES * JOB_DOOR_RANGE_BYTES];
    struct ov_wr wr = ov_wr_init(mem, sizeof(mem));

    for (uint32_t i = 0; i < ranks->count; i++) {
        struct topo_range range = numbers(ranks->items[i]);

        ov_wr_u32(&wr, range.first);
        ov_wr_u32(&wr, range.last);
        if (wr.at < wr.end && i + 1 < ranks->count)
            continue;
        say(&msg, mem, (uint32_t)(wr.at - mem));
        wr = ov_wr_init(mem, sizeof(mem));
    }
}

const char *session_pull(const struct topo_ranges *ranks, unsigned *channels)
{
    *channels &= session.job.channels;
    say_ranges(ranks);
    say(&(struct job_door){.kind = JOB_DOOR_PULL,
                           .channels = (uint8_t)*channels},
        NULL, 0);
    return NULL;
}

/* --- a push: first whom it is for, then its bytes */

/* As many ranges as a message takes. */
static void name_some(void)
{
    const struct topo_range all = {0, session.job.count - 1};
    const uint32_t count = session.ranks->count > 0 ? session.ranks->count : 1;
    const struct topo_range *items =
        session.ranks->count > 0 ? session.ranks->items : &all;
    const uint32_t room =
        (session.job.push_bytes - OV_PUSH_HEAD_BYTES) / OV_PUSH_RANGE_BYTES;
    struct topo_range some[RANGES];
    uint8_t mem[OV_PUSH_HEAD_BYTES + sizeof(some)];
    struct ov_wr wr = ov_wr_init(mem, sizeof(mem));
    uint16_t flags = session.named == 0 ? OV_PUSH_NEW : 0, n = 0;

    while (n < RANGES && n < room && session.named < count)
        some[n++] = numbers(items[session.named++]);
    session.is_named = session.named == count;
    if (!session.is_named)
        flags |= OV_PUSH_MORE;
    ov_push_encode(&wr, flags, some, n);
    say(&(struct job_door){.kind = JOB_DOOR_PUSH}, mem,
        (uint32_t)(wr.at - mem));
}

static void push_some(void)
{
    const uint32_t most = session.job.push_bytes - OV_PUSH_HEAD_BYTES;
    uint32_t len =
        session.left_bytes < most ? (uint32_t)session.left_bytes : most;
    uint8_t mem[JOB_DOOR_REST_MAX];
    struct ov_wr wr = ov_wr_init(mem, sizeof(mem));

    ov_push_encode(&wr, session.is_end ? OV_PUSH_CLOSE : 0, NULL, 0);
    ov_wr_bytes(&wr, session.mem, len);
    say(&(struct job_door){.kind = JOB_DOOR_PUSH}, mem,
        (uint32_t)(wr.at - mem));
    session.mem += len;
    session.left_bytes -= len;
    session.is_end = false;
}

/* False: all of it has gone. */
static bool push_on(void)
{
    if (!session.is_named)
        name_some();
    else if (session.left_bytes > 0 || session.is_end)
        push_some();
    else
        return false;
    return true;
}

const char *session_push(const struct topo_ranges *ranks, const void *mem,
                         size_t len_bytes)
{
    session.ranks = ranks;
    session.mem = mem;
    session.left_bytes = len_bytes;
    session.is_end = len_bytes == 0;
    (void)push_on();
    return NULL;
}

void session_leave(void)
{
    ep_outbox_close(session.box);
    session.box = NULL;
    ep_hoard_close(session.hoard);
    session.hoard = NULL;
    if (session.reads != NULL)
        event_free(session.reads);
    session.reads = NULL;
    ep_session_close(&session.at);
}

void session_close(void)
{
    session_leave();
    free(session.packet);
    for (uint32_t i = 0; session.hosts != NULL && i < session.job.count; i++) {
        if (i == 0 || session.hosts[i] != session.hosts[i - 1])
            free(session.hosts[i]);
    }
    free(session.hosts);
}
