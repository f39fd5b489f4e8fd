/* The connection to a session's door, in the event loop. */
#include "commands/attach/session.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <event2/event.h>

#include "commands/attach/entrance.h"
#include "commands/attach/words.h"
#include "endpoints/client/outbox.h"
#include "endpoints/sys/hoard.h"
#include "overlay/base/err.h"
#include "overlay/wire/push.h"

enum {
    PACKETS = 64,  /* the most packets that one turn of the event loop reads */
    RANGES = 1000, /* the most ranges in one message */
    CHANNELS = 1 << TEXT_CHANNEL_STDOUT | 1 << TEXT_CHANNEL_STDERR |
               1 << TEXT_CHANNEL_STDDIAG
};

static struct {
    struct entrance in;
    const struct session_events *events;
    struct event *reads;   /* owned: the socket is readable */
    struct ep_outbox *box; /* owned: messages to the session */
    struct ep_outbox_pool pool;
    struct ep_hoard *hoard; /* owned: output that show has no room for */
    uint8_t *packet;        /* owned: memory for a packet that was received and
                               not yet handled */
    uint32_t packet_bytes;  /* 0: no packet is waiting */
    bool is_over;           /* no more packets are received */
    bool is_unsaved_told;
    /* The current push, which continues with each PUSHED. */
    const struct topo_ranges *ranks;
    const uint8_t *mem;
    size_t left_bytes;
    uint32_t named; /* how many ranges of the set were sent so far */
    bool is_end, is_named;
    char why[JOB_DOOR_TEXT_MAX + 64];
} session = {.in = {.at = {.fd = -1}}};

/* --- before the loop */

static const char *tell_job(const char *why, struct show_job *out)
{
    *out = (struct show_job){
        .nspace = session.in.job.text,
        .size = session.in.job.count,
        .channels = session.in.job.channels & CHANNELS,
        .hosts = (const char *const *)session.in.hosts,
    };
    return why;
}

const char *session_attach(struct ep_session *connection, const char *nspace,
                           struct show_job *out)
{
    return tell_job(entrance_attach(&session.in, connection, nspace), out);
}

const char *session_spawn(struct ep_session *connection,
                          const struct job_request *request,
                          struct show_job *out, struct job_door *answer)
{
    return tell_job(entrance_spawn(&session.in, connection, request, answer),
                    out);
}

/* --- what the session sends */

static struct show_output output_of(const struct job_door *msg)
{
    return (struct show_output){
        .rank = msg->first - session.in.job.first,
        .channel = msg->channel,
        .is_end = msg->is_end,
        .dropped_bytes = msg->dropped_bytes,
        .before_bytes = msg->before_bytes,
        .mem = msg->rest.at,
        .len_bytes = ov_rd_left(&msg->rest),
    };
}

static void pass_on(const struct job_door *msg)
{
    const struct show_output output = output_of(msg);

    session.events->on_output(&output);
}

static void fail(uint32_t lost_bytes, int err)
{
    snprintf(
        session.why, sizeof(session.why),
        "up to %" PRIu32
        " bytes of output cannot be read back from their temporary file: %s",
        lost_bytes, strerror(err));
    session.events->on_error(session.why);
}

/* Passes on output from the hoard. True when all of it was passed on. */
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
            fail(len_bytes, errno);
        if (rc == 0 || rc == OV_ESYS)
            ep_hoard_drop(session.hoard);
    }
    return ep_hoard_is_empty(session.hoard);
}

/* Reports, once, that output can no longer be saved in the file: the hoard
 * keeps what it has, and further output stays with the session. */
static void tell_unsaved(void)
{
    const int err = ep_hoard_errno(session.hoard);

    if (err != 0 && !session.is_unsaved_told)
        words_say("output is read too slowly: its buffer is full, and no file "
                  "in TMPDIR or /var/tmp can hold more (%s)",
                  strerror(err));
    session.is_unsaved_told |= err != 0;
}

/* Passes a piece of output on, or puts it into the hoard. False: there is no
 * room now. */
static bool take_output(const struct job_door *msg)
{
    const struct show_output output = output_of(msg);
    int rc = 0;

    if (pass_on_kept() && show_has_room())
        pass_on(msg);
    else
        rc = ep_hoard_put(session.hoard, session.packet, session.packet_bytes);
    if (rc == OV_EFULL)
        tell_unsaved();
    if (rc != 0)
        return false;
    if (session.events->on_heard != NULL)
        session.events->on_heard(&output);
    session.packet_bytes = 0;
    return true;
}

static bool push_on(void);

/* Handles a message about the job that we have started. */
static void hear_of_own(const struct job_door *msg)
{
    if (msg->kind == JOB_DOOR_STARTED)
        session.events->on_started();
    else if (msg->kind == JOB_DOOR_UNSTARTED)
        session.events->on_unstarted(msg);
    else if (msg->kind == JOB_DOOR_SIGNALLED)
        session.events->on_signalled();
    else if (msg->kind == JOB_DOOR_FIRST)
        session.events->on_first(msg, msg->first - session.in.job.first);
    else if (msg->kind == JOB_DOOR_NOTE)
        session.events->on_note(msg);
    else if (msg->kind == JOB_DOOR_STALLED || msg->kind == JOB_DOOR_RANGES)
        session.events->on_stalled(msg, session.in.job.first);
    else if (msg->kind == JOB_DOOR_ENDED)
        session.events->on_ended(msg);
}

/* Handles one message. False: it is output for which there is no room now. */
static bool hear_message(void)
{
    struct job_door msg;
    uint32_t len_bytes = session.packet_bytes;

    if (job_door_decode(ov_rd_init(session.packet, len_bytes), &msg) != 0)
        msg.kind = 0;
    if (msg.kind == JOB_DOOR_OUTPUT)
        return take_output(&msg);
    session.packet_bytes = 0;
    if (msg.kind == JOB_DOOR_PULLED && session.events->on_live != NULL)
        session.events->on_live();
    else if (msg.kind == JOB_DOOR_REFUSED)
        session.events->on_error(msg.text);
    else if (msg.kind == JOB_DOOR_PUSHED && (msg.is_over || !push_on()))
        session.events->on_pushed(msg.is_over);
    else if (session.in.has_spawned)
        hear_of_own(&msg);
    return true;
}

/* Handles the messages that came before the event loop began. False: there is
 * no room now. */
static bool receive_early(void)
{
    struct entrance_early *early = entrance_pop(&session.in);

    if (early == NULL)
        return false;
    memcpy(session.packet, early->mem, early->len_bytes);
    session.packet_bytes = early->len_bytes;
    free(early);
    return true;
}

static bool receive_packet(void)
{
    int rc;

    if (receive_early())
        return true;
    rc = ep_session_receive(&session.in.at, 0, session.packet,
                            &session.packet_bytes);
    session.is_over = rc == OV_ECLOSED;
    return rc == 0;
}

/* Reads on when there is room again. Early messages are handled here, too,
 * because they do not make the socket readable. */
static void read_on(void)
{
    event_add(session.reads, NULL);
    if (session.in.first != NULL)
        event_active(session.reads, EV_READ, 0);
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
        if (!receive_packet())
            break;
        if (!hear_message())
            event_del(session.reads); /* reads nothing until there is room
                                         again */
    }
    if (session.is_over)
        event_del(session.reads);
    else if (session.packet_bytes == 0)
        read_on();
    look_if_lost();
}

void session_go_on(void)
{
    if (session.reads == NULL)
        return;
    (void)pass_on_kept();
    if (session.packet_bytes > 0 && !hear_message())
        return;
    if (!session.is_over)
        read_on();
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
                         uint64_t file_bytes,
                         const struct session_events *events)
{
    const struct ep_hoard_cfg hoard = {
        .writer = writer, .limit_bytes = file_bytes, .on_change = on_change};
    const struct ep_outbox_cfg box = {.base = base,
                                      .fd = session.in.at.fd,
                                      .limit_bytes = UINT64_MAX / 2,
                                      .pool = &session.pool,
                                      .on_empty = on_empty};

    session.events = events;
    session.pool.limit_bytes = UINT64_MAX / 2;
    session.packet = malloc(JOB_DOOR_BYTES_MAX);
    session.reads = event_new(base, session.in.at.fd, EV_READ | EV_PERSIST,
                              on_readable, NULL);
    if (session.packet == NULL || session.reads == NULL ||
        ep_hoard_open(&hoard, &session.hoard) != 0 ||
        ep_outbox_open(&box, &session.box) != 0)
        return ov_strerror(OV_ENOMEM);
    read_on();
    return NULL;
}

/* --- requests to the session */

static struct topo_range numbers(struct topo_range ranks)
{
    return (struct topo_range){session.in.job.first + ranks.first,
                               session.in.job.first + ranks.last};
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

void session_pull(const struct topo_ranges *ranks, unsigned channels)
{
    say_ranges(ranks);
    say(&(struct job_door){.kind = JOB_DOOR_PULL,
                           .channels = (uint8_t)channels,
                           .cache_bytes = JOB_CACHE_UNSAID},
        NULL, 0);
}

void session_signal(int signo)
{
    say(&(struct job_door){.kind = JOB_DOOR_SIGNAL, .status = signo}, NULL, 0);
}

/* --- pushing: first the set of ranks, then the bytes */

/* Sends as many ranges as fit in a message. */
static void name_some(void)
{
    const struct topo_range all = {0, session.in.job.count - 1};
    const uint32_t count = session.ranks->count > 0 ? session.ranks->count : 1;
    const struct topo_range *items =
        session.ranks->count > 0 ? session.ranks->items : &all;
    const uint32_t room =
        (session.in.job.push_bytes - OV_PUSH_HEAD_BYTES) / OV_PUSH_RANGE_BYTES;
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
    const uint32_t most = session.in.job.push_bytes - OV_PUSH_HEAD_BYTES;
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

/* Sends the next part of a push. False: all parts were sent. */
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

void session_push(const struct topo_ranges *ranks, const void *mem,
                  size_t len_bytes)
{
    session.ranks = ranks;
    session.mem = mem;
    session.left_bytes = len_bytes;
    session.is_end = len_bytes == 0;
    (void)push_on();
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
    ep_session_close(&session.in.at);
}

void session_close(void)
{
    session_leave();
    free(session.packet);
    session.packet = NULL;
    entrance_close(&session.in);
}
