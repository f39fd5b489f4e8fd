/* A client that looks at a job or starts one, and a client that watches, send
 * anything, while the launcher goes on. What the first client pushes and asks
 * for belongs to its job, and both receive valid messages only.
 *
 * The input is pieces, each with its length in two bytes before it. A piece is
 * a message of the client or, when its first byte is a member of enum step, a
 * report of the launcher.
 */
#include "tests/fuzz/fuzz.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <event2/event.h>

#include "endpoints/client/viewers.h"
#include "endpoints/sys/writer.h"
#include "endpoints/client/watchers.h"
#include "job/door.h"
#include "overlay/base/err.h"
#include "overlay/wire/push.h"

enum {
    BASE = 5, /* the first process number of the job that exists */
    SIZE = 4,
    LAST = 15, /* the last number of a process */
    TICKET = 3,
    PUSH_BYTES = 256,
    SIGNALS = 64,
};

enum step {
    PUSHED = 0x80,
    STDIN,
    BEHIND,
    OUTPUT,
    PAST,
    HEARD,
    EXIT,
    LOST,
    OVER,
    STARTED,
    FAILED,
    ASKS,   /* the client is replaced by one that starts a job */
    SPAWNS, /* the launcher's answer to a request for a job: a refusal, or any
             * larger value: the job begins */
    AGAIN,
    WATCHES, /* the rest of the piece is a message of the client that watches */
    BEGINS,  /* processes were started */
    BREAKS,  /* like OUTPUT, but the end of a channel of a lost node */
    WRITTEN, /* the oldest text of the watcher was written */
};

struct play {
    struct event_base *base;
    struct ep_writer *files;
    struct ep_viewers *all;
    struct ep_viewer *viewer;   /* NULL: the client has left */
    struct ep_watcher *watcher; /* NULL: the client has left */
    int fds[2], watch_fds[2];   /* the socket's two ends: the session's, the
                                 * client's */
    uint32_t texts, written;    /* how many texts the watcher has sent, and how
                                 * many were written */
    bool is_signal;        /* the last message of the client was a signal */
    bool is_pushing;       /* ep_viewers_pushed() is still to be called */
    uint64_t next;         /* the next range of the client's set must not
                            * begin before this number */
    struct topo_range job; /* the processes of the client's own job; first
                            * 0: it has no job */
    uint32_t spawned;      /* the first process number of the next job */
    uint32_t writer;       /* the number under which the client pushes */
    uint8_t refusal;
    bool is_held, is_over;
    bool is_telling; /* a call to the tap is under way, during which few
                      * callbacks may come */
};

/* --- the launcher */

static void on_part(void *arg, uint32_t base, uint32_t index,
                    struct job_neighbours *out)
{
    (void)arg;
    (void)base;
    *out = (struct job_neighbours){
        .host = "host", .program = "program", .first_rank = index, .ranks = 1};
}

static bool is_of(const struct play *play, struct topo_range range)
{
    return play->job.first > 0 && range.first >= play->job.first &&
           range.first <= range.last && range.last <= play->job.last;
}

static bool is_job(const struct play *play, const struct topo_range *range)
{
    return range->first == play->job.first && range->last == play->job.last;
}

static void on_push(void *arg, uint32_t base, uint32_t writer,
                    const uint8_t *mem, uint32_t len_bytes)
{
    struct play *play = arg;
    struct ov_push push;

    FUZZ_CHECK(base == play->job.first && writer == play->writer);
    FUZZ_CHECK(!play->is_pushing && !play->is_telling);
    FUZZ_CHECK(len_bytes <= PUSH_BYTES);
    FUZZ_CHECK(ov_push_decode(mem, len_bytes, &push) == 0);
    if ((push.flags & OV_PUSH_NEW) != 0)
        play->next = 0;
    for (unsigned i = 0; i < push.ranges; i++) {
        struct topo_range range = ov_push_range(&push);

        FUZZ_CHECK(is_of(play, range) && range.first >= play->next);
        play->next = (uint64_t)range.last + 1;
    }
    play->is_pushing = true;
}

static void on_left(void *arg, uint32_t base, uint32_t writer)
{
    const struct play *play = arg;

    FUZZ_CHECK(base == play->job.first && writer == play->writer);
}

static void on_pushers(void *arg, bool are_there)
{
    (void)arg;
    (void)are_there;
    FUZZ_CHECK(false); /* Only pushes to the run's own job lead to this call. */
}

static void on_back_over(void *arg)
{
    const struct play *play = arg;

    FUZZ_CHECK(!ep_viewers_replays(play->all));
}

static uint16_t on_replay(void *arg, const struct job_replay_wish *want)
{
    const struct play *play = arg;

    FUZZ_CHECK(want->count > 0 && want->bytes <= 10);
    FUZZ_CHECK(want->channels != 0 && (want->channels & ~6) == 0);
    for (uint32_t i = 0; i < want->count; i++) {
        FUZZ_CHECK(is_of(play, want->ranges[i]));
        FUZZ_CHECK(i == 0 ||
                   want->ranges[i - 1].last + 1 < want->ranges[i].first);
    }
    return TICKET;
}

static bool on_wanted(void *arg)
{
    (void)arg;
    return true;
}

static void on_hold(void *arg, const struct topo_range *range, bool is_held)
{
    struct play *play = arg;

    FUZZ_CHECK(is_job(play, range) && !play->is_telling);
    FUZZ_CHECK(play->is_held != is_held);
    play->is_held = is_held;
}

static bool on_signal(void *arg, int signo, const struct topo_range *ranges,
                      uint32_t count)
{
    const struct play *play = arg;

    FUZZ_CHECK(!play->is_telling && signo >= 1 && signo <= SIGNALS);
    FUZZ_CHECK(count > 0);
    for (uint32_t i = 0; i < count; i++)
        FUZZ_CHECK(ranges[i].first <= ranges[i].last &&
                   (i == 0 || ranges[i - 1].last < ranges[i].first));
    if (play->is_signal)
        return true;
    FUZZ_CHECK(count == 1 && is_job(play, ranges));
    FUZZ_CHECK(play->job.first != BASE && !play->is_over);
    return true;
}

/* Refuses every fourth text. */
static bool on_log(void *arg, uint32_t token, uint8_t channel, const char *text,
                   uint32_t len_bytes)
{
    struct play *play = arg;

    FUZZ_CHECK(token > play->texts && (channel == 1 || channel == 2));
    play->texts = token;
    FUZZ_CHECK(text != NULL && len_bytes <= 64 * 1024);
    return token % 4 != 0;
}

static void on_note(void *arg, const char *text)
{
    (void)arg;
    FUZZ_CHECK(text[0] != '\0');
}

static void tell_job(struct play *play, enum ep_client_event event,
                     uint32_t base, uint32_t size)
{
    play->is_telling = true;
    ep_viewers_job(play->all, &(struct ep_client_job){.event = event,
                                                      .base = base,
                                                      .size = size,
                                                      .nspace = "job",
                                                      .channels = 6,
                                                      .apps = 1,
                                                      .parts = size,
                                                      .cache_bytes = 10,
                                                      .step = "exec",
                                                      .subject = "it",
                                                      .err = ENOENT});
    play->is_telling = false;
}

static bool on_spawn(void *arg, const struct ep_client_spawn *spawn,
                     struct ep_client_spawned *out, char *why)
{
    struct play *play = arg;
    const uint32_t size = 1 + spawn->apps_count % SIZE;

    FUZZ_CHECK(play->job.first == 0 && !play->is_telling);
    FUZZ_CHECK(spawn->apps_count > 0);
    for (uint32_t i = 0; i < spawn->apps_count; i++)
        FUZZ_CHECK(spawn->apps[i].program.argv[0] != NULL);
    snprintf(why, EP_CLIENT_WHY_MAX, "no");
    out->refusal = play->refusal < EP_CLIENT_LATER
                       ? (enum ep_client_refusal)play->refusal
                       : EP_CLIENT_LATER;
    if (play->refusal <= EP_CLIENT_LATER || play->spawned + size > LAST + 1)
        return false;
    *out = (struct ep_client_spawned){
        .base = play->spawned, .size = size, .parts = size, .cache_bytes = 10};
    play->spawned += size;
    play->job = (struct topo_range){out->base, out->base + size - 1};
    play->writer++;
    play->is_over = false;
    tell_job(play, EP_CLIENT_JOB_BEGUN, out->base, size);
    return true;
}

static const struct ep_client_events events = {.on_part = on_part,
                                               .on_back_over = on_back_over,
                                               .on_push = on_push,
                                               .on_left = on_left,
                                               .on_pushers = on_pushers,
                                               .on_replay = on_replay,
                                               .on_wanted = on_wanted,
                                               .on_hold = on_hold,
                                               .on_signal = on_signal,
                                               .on_spawn = on_spawn,
                                               .on_log = on_log,
                                               .on_say = on_note,
                                               .on_note = on_note};

/* Gives a record for the process and channel in the second byte; bit 7: the
 * record is the channel's last. */
static void give(const struct play *play, uint8_t what, const uint8_t *mem,
                 uint32_t len_bytes, bool is_past)
{
    const struct job_record rec = {.mem = len_bytes > 0 ? mem : NULL,
                                   .len_bytes = len_bytes,
                                   .proc = what & 15,
                                   .channel = what >> 4 & 7,
                                   .ticket = is_past ? TICKET : 0,
                                   .is_turn = is_past && what >= 128,
                                   .is_end = !is_past && what >= 128,
                                   .before_bytes = is_past ? len_bytes % 3 : 0};

    FUZZ_CHECK(!ep_viewers_output(play->all, &rec));
}

static void cut(const struct play *play, uint8_t what)
{
    const struct job_record rec = {.proc = what & 15,
                                   .channel = what >> 4 & 7,
                                   .is_end = true,
                                   .is_cut = true};

    FUZZ_CHECK(!ep_viewers_output(play->all, &rec));
}

static void hear(const struct play *play, uint8_t what)
{
    const struct job_record rec = {.proc = what & 15,
                                   .channel = 1,
                                   .ticket = TICKET,
                                   .heard = 1 + (what >> 4)};

    FUZZ_CHECK(!ep_viewers_output(play->all, &rec));
}

static void on_cut(void *arg, const char *why)
{
    struct play *play = arg;

    FUZZ_CHECK(why == NULL || play->job.first == 0);
    play->viewer = NULL;
}

static const struct ep_viewer_events viewer_events = {.on_cut = on_cut};

/* The tap disconnects the watcher when the tap closes, or when the watcher does
 * not read. */
static void on_watcher_cut(void *arg, const char *why)
{
    struct play *play = arg;

    FUZZ_CHECK(why == NULL);
    play->watcher = NULL;
}

static const struct ep_watcher_events watcher_events = {.on_cut =
                                                            on_watcher_cut};

/* Passes on a message of the watcher. Like the door, this closes a watcher that
 * sends something wrong; then another one connects. */
static void watch(struct play *play, const uint8_t *mem, uint32_t len_bytes)
{
    struct job_door msg;
    const char *why = "";

    if (job_door_decode(ov_rd_init(mem, len_bytes), &msg) != 0)
        return;
    play->is_signal = true;
    why = ep_watcher_hear(play->watcher, &msg);
    play->is_signal = false;
    if (why == NULL)
        return;
    ep_watcher_close(play->watcher);
    play->watcher =
        ep_watcher_open(ep_viewers_watchers(play->all), play->watch_fds[0],
                        &watcher_events, play, &why);
    FUZZ_CHECK(play->watcher != NULL);
}

static void ask(struct play *play)
{
    ep_viewer_close(play->viewer);
    FUZZ_CHECK(!play->is_held);
    play->is_pushing = false;
    play->next = 0;
    play->job = (struct topo_range){0, 0};
    play->viewer = ep_viewer_ask(play->all, play->fds[0], &viewer_events, play);
    FUZZ_CHECK(play->viewer != NULL);
}

/* Reports a change in the life of the client's job. */
static void live(struct play *play, enum ep_client_event event)
{
    play->is_over |=
        event == EP_CLIENT_JOB_ENDED || event == EP_CLIENT_JOB_FORGOTTEN;
    if (play->job.first > 0)
        tell_job(play, event, play->job.first,
                 play->job.last - play->job.first + 1);
}

/* Does what the loop would do, outside of any call of the launcher, so that it
 * may call the launcher. */
static bool act(struct play *play, const uint8_t *mem, uint32_t len_bytes)
{
    const uint8_t kind = mem[0], what = len_bytes > 1 ? mem[1] : 0;

    if (kind == WATCHES)
        watch(play, mem + 1, len_bytes - 1);
    else if (kind == ASKS)
        ask(play);
    else if (kind == SPAWNS)
        play->refusal = what;
    else if (kind == AGAIN)
        ep_viewers_again(play->all);
    else
        return false;
    return true;
}

static void start(const struct play *play, uint32_t number, uint32_t count)
{
    static const uint32_t pids[8] = {1, 2, 3, 4, 5, 6, 7, 8};

    ep_viewers_started(play->all, number, pids, count);
}

static void step(struct play *play, const uint8_t *mem, uint32_t len_bytes)
{
    const uint8_t what = len_bytes > 1 ? mem[1] : 0;
    const uint32_t proc = what & 15;

    if (act(play, mem, len_bytes))
        return;
    play->is_telling = true;
    switch ((enum step)mem[0]) {
    case PUSHED:
        if (play->is_pushing) {
            play->is_pushing = false;
            ep_viewers_pushed(play->all, play->writer);
        }
        break;
    case STDIN:
        ep_viewers_has_stdin(play->all, proc, proc + (what >> 4 & 7),
                             what < 128);
        break;
    case BEHIND:
        ep_viewers_behind(play->all, proc, what < 128);
        break;
    case OUTPUT:
    case PAST:
        give(play, what, mem + 2, len_bytes > 2 ? len_bytes - 2 : 0,
             mem[0] == PAST);
        break;
    case HEARD:
        hear(play, what);
        break;
    case BEGINS:
        start(play, proc, 1 + (what >> 4 & 7));
        break;
    case BREAKS:
        cut(play, what);
        break;
    case WRITTEN:
        ep_viewers_logged(play->all, ++play->written);
        break;
    case EXIT:
        ep_viewers_exit(play->all, proc, what >> 4, (struct job_span){0});
        break;
    case LOST:
        ep_viewers_lost(play->all, proc, 1 + (what >> 4));
        break;
    case STARTED:
        live(play, EP_CLIENT_JOB_STARTED);
        break;
    case FAILED:
        live(play, EP_CLIENT_JOB_FAILED);
        break;
    case OVER:
        live(play, what < 128 ? EP_CLIENT_JOB_ENDED : EP_CLIENT_JOB_FORGOTTEN);
        break;
    case ASKS:
    case SPAWNS:
    case AGAIN:
    case WATCHES:
        break;
    }
    play->is_telling = false;
}

/* --- the client */

/* Passes on a message of the client. Returns what is wrong with it, as the door
 * does. */
static const char *say(const struct play *play, const uint8_t *mem,
                       uint32_t len_bytes)
{
    struct job_door msg;

    if (job_door_decode(ov_rd_init(mem, len_bytes), &msg) != 0)
        return "the session cannot understand this client";
    return ep_viewer_hear(play->viewer, &msg);
}

/* Reads all messages that have arrived at this socket, and checks them. */
static void listen_to(const struct play *play, int fd)
{
    uint8_t mem[JOB_DOOR_BYTES_MAX + 1];
    struct job_door msg;
    ssize_t got;

    while ((got = recv(fd, mem, sizeof(mem), MSG_DONTWAIT)) > 0) {
        FUZZ_CHECK(job_door_decode(ov_rd_init(mem, (size_t)got), &msg) == 0);
        if (msg.kind == JOB_DOOR_OUTPUT)
            FUZZ_CHECK(fd == play->fds[1] &&
                       is_of(play, (struct topo_range){msg.first, msg.first}) &&
                       (msg.channel == 1 || msg.channel == 2));
    }
}

static void listen_all(const struct play *play)
{
    event_base_loop(play->base, EVLOOP_NONBLOCK);
    listen_to(play, play->fds[1]);
    listen_to(play, play->watch_fds[1]);
}

static bool begin(struct play *play)
{
    char why[JOB_DOOR_TEXT_MAX];
    struct ep_client_cfg cfg = {.nspace = "dvm",
                                .is_dvm = true,
                                .size = 1,
                                .apps = 1,
                                .parts = 1,
                                .push_bytes = PUSH_BYTES,
                                .events = &events,
                                .arg = play};

    const char *wrong;

    if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, play->fds) != 0)
        return false;
    FUZZ_CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, play->watch_fds) == 0);
    cfg.base = play->base = event_base_new();
    play->all = ep_viewers_new();
    FUZZ_CHECK(play->base != NULL && play->all != NULL);
    FUZZ_CHECK(ep_writer_open(play->base, &play->files) == 0);
    cfg.writer = play->files;
    FUZZ_CHECK(ep_viewers_open(play->all, &cfg) == 0);
    play->job = (struct topo_range){BASE, BASE + SIZE - 1};
    play->spawned = BASE + SIZE;
    play->writer = 1;
    tell_job(play, EP_CLIENT_JOB_BEGUN, BASE, SIZE);
    tell_job(play, EP_CLIENT_JOB_STARTED, BASE, SIZE);
    ep_viewers_has_stdin(play->all, BASE, BASE + SIZE - 1, true);
    play->viewer = ep_viewer_open(play->all, play->fds[0], "job",
                                  &viewer_events, play, why);
    play->watcher =
        ep_watcher_open(ep_viewers_watchers(play->all), play->watch_fds[0],
                        &watcher_events, play, &wrong);
    FUZZ_CHECK(play->viewer != NULL && play->watcher != NULL);
    return true;
}

/* Ends the run. A client that has a job is closed together with the tap. */
static void end(struct play *play)
{
    ep_viewers_close(play->all);
    if (play->viewer != NULL) {
        FUZZ_CHECK(play->job.first == 0);
        ep_viewer_close(play->viewer);
    }
    FUZZ_CHECK(play->watcher == NULL);
    ep_viewers_free(play->all);
    ep_writer_close(play->files, true);
    event_base_free(play->base);
    for (unsigned i = 0; i < 2; i++) {
        close(play->fds[i]);
        close(play->watch_fds[i]);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *mem, size_t len_bytes)
{
    struct play play = {.viewer = NULL};
    struct ov_rd rd = ov_rd_init(mem, len_bytes);

    if (!begin(&play))
        return 0;
    while (play.viewer != NULL && ov_rd_left(&rd) > 2) {
        size_t len = ov_rd_u16(&rd);
        const uint8_t *piece = rd.at;

        if (len > ov_rd_left(&rd))
            len = ov_rd_left(&rd);
        rd.at += len;
        if (len > 0 && piece[0] >= PUSHED) {
            step(&play, piece, (uint32_t)len);
        } else if (say(&play, piece, (uint32_t)len) != NULL) {
            ep_viewer_close(play.viewer);
            play.viewer = NULL;
        }
        listen_all(&play);
    }
    end(&play);
    return 0;
}
