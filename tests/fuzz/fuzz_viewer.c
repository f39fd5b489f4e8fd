/* A client that looks at a job says anything, while the launcher goes on: what
 * it pushes and asks for is of its job, and what it hears are messages.
 *
 * The bytes are pieces, each behind its length in two bytes. A piece is a
 * message of the client or, where its first byte is one of enum step, something
 * that the launcher tells.
 */
#include "tests/fuzz/fuzz.h"

#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <event2/event.h>

#include "endpoints/client/viewers.h"
#include "job/door.h"
#include "overlay/base/err.h"
#include "overlay/wire/push.h"

enum { BASE = 5, SIZE = 4, TICKET = 3, PUSH_BYTES = 256 };

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
};

struct play {
    struct event_base *base;
    struct ep_viewers *all;
    void *tap;
    struct ep_viewer *viewer; /* NULL: it is gone */
    int fds[2];               /* the session's, the client's */
    bool is_pushing;          /* pushed() is due */
    uint64_t next;            /* ranges of its set go on from here */
};

/* --- the launcher */

static void on_part(void *arg, uint32_t base, uint32_t index,
                    struct job_neighbours *out)
{
    (void)arg;
    (void)base;
    *out = (struct job_neighbours){
        .host = "host", .first_rank = index, .ranks = 1};
}

static bool is_of(struct topo_range range)
{
    return range.first >= BASE && range.first <= range.last &&
           range.last < BASE + SIZE;
}

static void on_push(void *arg, uint32_t base, uint32_t writer,
                    const uint8_t *mem, uint32_t len_bytes)
{
    struct play *play = arg;
    struct ov_push push;

    FUZZ_CHECK(base == BASE && writer == 1 && !play->is_pushing);
    FUZZ_CHECK(len_bytes <= PUSH_BYTES);
    FUZZ_CHECK(ov_push_decode(mem, len_bytes, &push) == 0);
    if ((push.flags & OV_PUSH_NEW) != 0)
        play->next = 0;
    for (unsigned i = 0; i < push.ranges; i++) {
        struct topo_range range = ov_push_range(&push);

        FUZZ_CHECK(is_of(range) && range.first >= play->next);
        play->next = (uint64_t)range.last + 1;
    }
    play->is_pushing = true;
}

static void on_left(void *arg, uint32_t base, uint32_t writer)
{
    (void)arg;
    FUZZ_CHECK(base == BASE && writer == 1);
}

static void on_pushers(void *arg, bool are_there)
{
    (void)arg;
    (void)are_there;
    FUZZ_CHECK(false); /* it is not about the run's own job */
}

static void on_back_over(void *arg)
{
    const struct play *play = arg;

    FUZZ_CHECK(!ep_viewers_tap.replays(play->tap));
}

static uint16_t on_replay(void *arg, const struct job_replay_wish *want)
{
    (void)arg;
    FUZZ_CHECK(want->count > 0 && want->bytes == 10);
    FUZZ_CHECK(want->channels != 0 && (want->channels & ~6) == 0);
    for (uint32_t i = 0; i < want->count; i++) {
        FUZZ_CHECK(is_of(want->ranges[i]));
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

static const struct ep_tap_events events = {.on_part = on_part,
                                            .on_back_over = on_back_over,
                                            .on_push = on_push,
                                            .on_left = on_left,
                                            .on_pushers = on_pushers,
                                            .on_replay = on_replay,
                                            .on_wanted = on_wanted};

static void tell_job(const struct play *play, enum ep_tap_event event)
{
    ep_viewers_tap.job(play->tap, &(struct ep_tap_job){.event = event,
                                                       .base = BASE,
                                                       .size = SIZE,
                                                       .nspace = "job",
                                                       .channels = 6,
                                                       .parts = SIZE,
                                                       .cache_bytes = 10});
}

/* A record of what the second byte names; bit 7: its last. */
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

    FUZZ_CHECK(!ep_viewers_tap.output(play->tap, &rec));
}

static void hear(const struct play *play, uint8_t what)
{
    const struct job_record rec = {.proc = what & 15,
                                   .channel = 1,
                                   .ticket = TICKET,
                                   .heard = 1 + (what >> 4)};

    FUZZ_CHECK(!ep_viewers_tap.output(play->tap, &rec));
}

static void step(struct play *play, const uint8_t *mem, uint32_t len_bytes)
{
    const uint8_t what = len_bytes > 1 ? mem[1] : 0;
    const uint32_t proc = what & 15;

    switch ((enum step)mem[0]) {
    case PUSHED:
        if (play->is_pushing) {
            play->is_pushing = false;
            ep_viewers_tap.pushed(play->tap, 1);
        }
        break;
    case STDIN:
        ep_viewers_tap.has_stdin(play->tap, proc, proc + (what >> 4 & 7),
                                 what < 128);
        break;
    case BEHIND:
        ep_viewers_tap.behind(play->tap, proc, what < 128);
        break;
    case OUTPUT:
    case PAST:
        give(play, what, mem + 2, len_bytes > 2 ? len_bytes - 2 : 0,
             mem[0] == PAST);
        break;
    case HEARD:
        hear(play, what);
        break;
    case EXIT:
        ep_viewers_tap.exit(play->tap, proc, 0);
        break;
    case LOST:
        ep_viewers_tap.lost(play->tap, proc, 1 + (what >> 4));
        break;
    case STARTED:
        tell_job(play, EP_TAP_JOB_STARTED);
        break;
    case OVER:
        tell_job(play, what < 128 ? EP_TAP_JOB_ENDED : EP_TAP_JOB_FORGOTTEN);
        break;
    }
}

/* --- the client */

static void on_cut(void *arg, const char *why)
{
    struct play *play = arg;

    FUZZ_CHECK(why == NULL);
    play->viewer = NULL;
}

/* Returns what is wrong with it, as the door does. */
static const char *say(const struct play *play, const uint8_t *mem,
                       uint32_t len_bytes)
{
    struct job_door msg;

    if (job_door_decode(ov_rd_init(mem, len_bytes), &msg) != 0)
        return "this makes no sense to the session";
    return ep_viewer_hear(play->viewer, &msg);
}

/* All that is there for it. */
static void listen_all(const struct play *play)
{
    uint8_t mem[JOB_DOOR_BYTES_MAX + 1];
    struct job_door msg;
    ssize_t got;

    event_base_loop(play->base, EVLOOP_NONBLOCK);
    while ((got = recv(play->fds[1], mem, sizeof(mem), MSG_DONTWAIT)) > 0) {
        FUZZ_CHECK(job_door_decode(ov_rd_init(mem, (size_t)got), &msg) == 0);
        if (msg.kind == JOB_DOOR_OUTPUT)
            FUZZ_CHECK(is_of((struct topo_range){msg.first, msg.first}) &&
                       (msg.channel == 1 || msg.channel == 2));
    }
}

static bool begin(struct play *play)
{
    static const struct ep_viewer_events viewer_events = {.on_cut = on_cut};
    char why[JOB_DOOR_TEXT_MAX];
    struct ep_tap_cfg cfg = {.nspace = "dvm",
                             .is_dvm = true,
                             .push_bytes = PUSH_BYTES,
                             .events = &events,
                             .arg = play};

    if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, play->fds) != 0)
        return false;
    cfg.base = play->base = event_base_new();
    cfg.self = play->all = ep_viewers_new();
    FUZZ_CHECK(play->base != NULL && play->all != NULL);
    play->tap = ep_viewers_tap.open(&cfg);
    tell_job(play, EP_TAP_JOB_BEGUN);
    tell_job(play, EP_TAP_JOB_STARTED);
    ep_viewers_tap.has_stdin(play->tap, BASE, BASE + SIZE - 1, true);
    play->viewer = ep_viewer_open(play->all, play->fds[0], "job",
                                  &viewer_events, play, why);
    FUZZ_CHECK(play->viewer != NULL);
    return true;
}

/* A client that is still there goes with the tap. */
static void end(struct play *play)
{
    ep_viewers_tap.close(play->tap);
    FUZZ_CHECK(play->viewer == NULL);
    ep_viewers_free(play->all);
    event_base_free(play->base);
    close(play->fds[0]);
    close(play->fds[1]);
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
