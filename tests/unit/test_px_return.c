/* What was redirected and not taken: the launcher's side, with a helper that
 * the test itself is. */
#include "pmix_api/host.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>
#include <event2/event.h>

#include "pmix_api/host_back.h"
#include "pmix_api/host_impl.h"
#include "pmix_api/host_salvage.h"
#include "pmix_api/wire.h"

enum {
    RANKS = 4,
    STDOUT = 1,
    SEEN_MAX = 4096,
    KIB = 1024,
    MIB = 1 << 20,
};

/* An output, or another word: then `len_bytes` is what it names. */
struct seen {
    uint8_t kind;
    uint32_t rank, len_bytes;
    uint8_t first; /* byte */
};

struct seens {
    struct seen all[SEEN_MAX];
    unsigned count;
};

struct rig {
    struct event_base *base;
    struct px_host *host;
    struct px_share share; /* the helper's */
    int fd;
    struct seens helper; /* has been told so */
    struct seens back;   /* given to the console */
    unsigned returned;
    unsigned untaken; /* of `back` */
};

static uint64_t read_bytes; /* of files */

/* In the place of libc's. */
ssize_t pread(int fd, void *mem, size_t len, off_t at)
{
    ssize_t got = syscall(SYS_pread64, fd, mem, len, at);

    read_bytes += got > 0 ? (size_t)got : 0;
    return got;
}

static void note(struct seens *seens, struct seen seen)
{
    assert_true(seens->count < SEEN_MAX);
    seens->all[seens->count++] = seen;
}

/* --- the launcher's events */

static void on_part(void *arg, uint32_t base, uint32_t index,
                    struct job_neighbours *out)
{
    (void)arg;
    (void)base;
    (void)index;
    *out = (struct job_neighbours){
        .host = "here", .program = "it", .ranks = RANKS};
}

static void on_cookie(void *arg, uint64_t cookie)
{
    (void)arg;
    (void)cookie;
}

static void on_returned(void *arg, uint64_t cookie)
{
    struct rig *rig = arg;

    (void)cookie;
    rig->returned++;
}

static bool on_back(void *arg, const struct job_record *output)
{
    struct rig *rig = arg;

    note(&rig->back, (struct seen){.rank = output->proc,
                                   .len_bytes = output->len_bytes,
                                   .first = *output->mem});
    rig->untaken++;
    return true;
}

static void on_over(void *arg)
{
    (void)arg;
}

static bool on_wanted(void *arg)
{
    (void)arg;
    return false;
}

static uint16_t on_replay(void *arg, const struct job_replay_wish *want)
{
    (void)arg;
    (void)want;
    return 1;
}

static void on_text(void *arg, const char *text)
{
    (void)arg;
    (void)text;
}

static void on_writable(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    assert_int_equal(px_queue_pump(arg), 0);
    px_queue_wake(arg);
}

/* --- the helper */

static void hear(struct rig *rig, const struct px_msg *msg)
{
    const struct px_output *o = &msg->output;
    const uint8_t *mem;

    if (msg->kind == PX_STOP)
        note(&rig->helper,
             (struct seen){.kind = PX_STOP, .len_bytes = msg->id});
    if (msg->kind != PX_OUTPUT)
        return;
    mem =
        o->is_shared ? px_share_look(&rig->share, o->at, o->len_bytes) : o->mem;
    note(&rig->helper, (struct seen){.kind = PX_OUTPUT,
                                     .rank = o->rank,
                                     .len_bytes = o->len_bytes,
                                     .first = o->len_bytes > 0 ? *mem : 0});
    if (o->is_shared)
        px_share_free(&rig->share, o->at + o->len_bytes);
}

static bool hear_packet(struct rig *rig)
{
    static uint8_t mem[PX_PACKET_BYTES_MAX];
    ssize_t got = recv(rig->fd, mem, sizeof(mem), MSG_DONTWAIT);
    struct ov_rd rd = ov_rd_init(mem, got > 0 ? (size_t)got : 0);
    struct px_msg msg;

    while (ov_rd_left(&rd) > 0) {
        assert_int_equal(px_msg_decode(&rd, &msg), 0);
        hear(rig, &msg);
    }
    return got > 0;
}

/* Until nothing is left to be said. */
static void talk(struct rig *rig)
{
    do {
        assert_int_equal(px_queue_pump(rig->host), 0);
    } while (hear_packet(rig));
}

static void pull(struct rig *rig, uint32_t id, bool redirects,
                 uint32_t cache_bytes)
{
    const struct px_pull told = {.id = id,
                                 .last = RANKS - 1,
                                 .channels = 1 << STDOUT,
                                 .redirects = redirects,
                                 .cache_bytes = cache_bytes};

    px_pulls_told(rig->host, &told);
}

static const struct seen *last_of(const struct seens *seens)
{
    assert_true(seens->count > 0);
    return &seens->all[seens->count - 1];
}

static uint64_t bytes_of(const struct seens *seens)
{
    uint64_t bytes = 0;

    for (unsigned i = 0; i < seens->count; i++)
        bytes += seens->all[i].len_bytes;
    return bytes;
}

static unsigned count_of(const struct seens *seens, uint8_t kind)
{
    unsigned count = 0;

    for (unsigned i = 0; i < seens->count; i++)
        count += seens->all[i].kind == kind;
    return count;
}

/* --- the console */

/* So many bytes that are all `fill`. */
static void write_some(struct rig *rig, uint32_t rank, uint8_t fill,
                       uint32_t len_bytes)
{
    static uint8_t mem[256][MIB];

    assert_true(len_bytes <= sizeof(mem[fill]));
    memset(mem[fill], fill, len_bytes);
    assert_true(px_host_output(
        rig->host, &(struct job_record){.proc = rank,
                                        .channel = STDOUT,
                                        .is_redirected = px_host_redirects(
                                            rig->host, rank, STDOUT),
                                        .mem = mem[fill],
                                        .len_bytes = len_bytes}));
}

/* It takes all that it gets. */
static void take_all(struct rig *rig)
{
    event_base_loop(rig->base, EVLOOP_NONBLOCK);
    while (rig->untaken > 0) {
        rig->untaken--;
        px_host_took_back(rig->host);
        event_base_loop(rig->base, EVLOOP_NONBLOCK);
    }
}

static void helper_dies(struct rig *rig)
{
    px_salvage_take(rig->host);
    px_pulls_clear(rig->host);
    px_queue_clear(rig->host);
}

/* --- beginning and end */

static const struct px_host_events events = {
    .on_part = on_part,
    .on_released = on_cookie,
    .on_gone = on_cookie,
    .on_returned = on_returned,
    .on_back = on_back,
    .on_back_over = on_over,
    .on_flushed = on_over,
    .on_replay = on_replay,
    .on_wanted = on_wanted,
    .on_say = on_text,
    .on_note = on_text,
};

/* As after px_process_start(). */
static void connect_both(struct rig *rig)
{
    struct px_host *host = rig->host;
    int fds[2], fd;

    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, fds), 0);
    host->fd = fds[0];
    rig->fd = fds[1];
    assert_int_equal(px_share_make(&host->share, &fd), 0);
    assert_int_equal(px_share_take(&rig->share, fd), 0);
    close(fd);
    snprintf(host->folder, sizeof(host->folder), "%s/helper-XXXXXX",
             getenv("TMPDIR"));
    assert_non_null(mkdtemp(host->folder));
    host->writes = event_new(rig->base, host->fd, EV_WRITE, on_writable, host);
    host->phase = PX_HOST_START;
    px_jobs_begin(host);
    talk(rig);
}

static int open_rig(void **state)
{
    struct rig *rig = calloc(1, sizeof(*rig));
    struct px_host_cfg cfg = {.path = "",
                              .mark = "",
                              .nspace = "it",
                              .size = RANKS,
                              .apps = 1,
                              .parts = 1,
                              .cache_bytes = KIB,
                              .events = &events,
                              .arg = rig};

    assert_non_null(rig);
    rig->base = cfg.base = event_base_new();
    assert_non_null(rig->base);
    assert_int_equal(px_host_open(&cfg, &rig->host), 0);
    connect_both(rig);
    *state = rig;
    return 0;
}

static int close_rig(void **state)
{
    struct rig *rig = *state;

    px_host_close(rig->host);
    px_share_close(&rig->share);
    close(rig->fd);
    event_base_free(rig->base);
    free(rig);
    return 0;
}

/* --- tests */

/* While what is older is to come back: the end of another pull, or one that
 * falls behind, does not let it overtake. */
static void what_waits_goes_behind_what_is_older(void **state)
{
    struct rig *rig = *state;

    pull(rig, 1, true, 0);
    pull(rig, 2, false, 0);
    pull(rig, 3, true, 0);
    talk(rig);
    write_some(rig, 0, 'a', KIB);
    px_back_stop(rig->host, 1);
    px_pulls_ended(rig->host, &(struct px_end){.id = 2});
    px_pulls_behind(rig->host, 3);
    assert_int_equal(rig->returned, 0);
    talk(rig);
    assert_int_equal(count_of(&rig->helper, PX_OUTPUT), 1);
    assert_int_equal(last_of(&rig->helper)->kind, PX_STOP);
}

/* Without a helper nothing comes back of it. */
static void what_waits_is_returned_without_a_helper(void **state)
{
    struct rig *rig = *state;

    px_share_close(&rig->host->share); /* nothing is kept */
    pull(rig, 1, true, 0);
    talk(rig);
    write_some(rig, 0, 'a', KIB);
    px_back_stop(rig->host, 1);
    helper_dies(rig);
    assert_int_equal(rig->returned, 1);
}

/* Some of what has come goes, and the pull falls behind in the middle of an
 * output. */
static void fall_behind(struct rig *rig)
{
    pull(rig, 1, true, 0);
    talk(rig);
    write_some(rig, 0, 'a', MIB - 100 * KIB);
    write_some(rig, 0, 'b', 400 * KIB);
    assert_int_equal(px_queue_pump(rig->host), 0);
    assert_true(rig->host->items->sent_bytes > 0);
    px_pulls_behind(rig->host, 1);
}

/* The rest of it goes to the tool as well; when the helper dies before that, or
 * later, all of it comes back. */
static void the_rest_is_not_lost(void **state)
{
    struct rig *rig = *state;

    fall_behind(rig);
    talk(rig);
    assert_int_equal(bytes_of(&rig->helper), MIB + 300 * KIB);
    helper_dies(rig);
    take_all(rig);
    assert_int_equal(bytes_of(&rig->back), MIB + 300 * KIB);
    assert_int_equal(rig->returned, 0);
}

static void the_rest_is_not_lost_at_once(void **state)
{
    struct rig *rig = *state;

    fall_behind(rig);
    helper_dies(rig);
    take_all(rig);
    assert_int_equal(bytes_of(&rig->back), MIB + 300 * KIB);
    assert_int_equal(rig->returned, 0);
}

/* One that is over, or has fallen behind, has nothing of what came later: that
 * comes back when another one dies that had it. */
static void what_came_later_is_not_elsewhere(void **state)
{
    struct rig *rig = *state;

    pull(rig, 1, true, 0);
    pull(rig, 2, true, 0);
    pull(rig, 3, true, 0);
    talk(rig);
    write_some(rig, 0, 'a', KIB);
    talk(rig);
    px_back_stop(rig->host, 1);
    px_pulls_behind(rig->host, 2);
    write_some(rig, 0, 'b', KIB);
    talk(rig);
    assert_true(
        px_salvage_pull(rig->host, &(struct px_end){.id = 3, .is_kept = true}));
    take_all(rig);
    assert_int_equal(rig->back.count, 1);
    assert_int_equal(last_of(&rig->back)->first, 'b');
}

static void give_turn(struct rig *rig, uint32_t rank)
{
    const struct job_record turn = {
        .proc = rank, .channel = STDOUT, .ticket = 1, .is_turn = true};

    px_host_output(rig->host, &turn);
}

/* With output from before a tool gets each channel at its turn: what comes
 * behind the last one it has, and not before. */
static void what_comes_behind_the_turns_is_elsewhere(void **state)
{
    struct rig *rig = *state;

    pull(rig, 1, true, 0);
    pull(rig, 2, true, KIB);
    write_some(rig, 0, 'a', KIB);
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        give_turn(rig, rank);
        write_some(rig, RANKS - 1, (uint8_t)('b' + rank), KIB);
    }
    talk(rig);
    assert_true(
        px_salvage_pull(rig->host, &(struct px_end){.id = 1, .is_kept = true}));
    take_all(rig);
    assert_int_equal(last_of(&rig->back)->first, 'b' + RANKS - 2);
}

static unsigned stops(struct rig *rig)
{
    talk(rig);
    return count_of(&rig->helper, PX_STOP);
}

/* One after another: the helper gives nothing back of a pull before all of
 * those that were over before has been taken, which the launcher gives back
 * itself, or another one's end has come. */
static void one_comes_back_after_another(void **state)
{
    struct rig *rig = *state;
    const struct px_end first = {.id = 1, .is_kept = true};

    pull(rig, 1, true, 0);
    talk(rig);
    for (unsigned i = 0; i <= PX_BACK_MAX; i++)
        write_some(rig, 0, 'a', KIB);
    for (uint32_t id = 2; id <= 4; id++)
        pull(rig, id, true, 0);
    for (uint32_t id = 1; id <= 3; id++)
        px_back_stop(rig->host, id);
    assert_int_equal(stops(rig), 1);
    assert_true(px_salvage_pull(rig->host, &first));
    event_base_loop(rig->base, EVLOOP_NONBLOCK);
    assert_int_equal(rig->back.count, PX_BACK_MAX);
    assert_int_equal(stops(rig), 1);
    take_all(rig);
    assert_int_equal(rig->back.count, PX_BACK_MAX + 1);
    assert_int_equal(stops(rig), 2);
    px_back_stop(rig->host, 4);
    assert_int_equal(stops(rig), 2);
    px_pulls_ended(rig->host, &(struct px_end){.id = 2});
    assert_int_equal(stops(rig), 3);
    assert_int_equal(last_of(&rig->helper)->len_bytes, 3);
}

/* Nobody reads the console, and one helper after another dies with tools: what
 * is kept has little memory, as that of many tools that live. */
static void what_comes_back_has_little_memory(void **state)
{
    struct rig *rig = *state;
    uint64_t sum = 0;

    for (unsigned helper = 0; helper < 8; helper++) {
        for (uint32_t id = 1; id <= 3; id++)
            pull(rig, id, true, 0);
        talk(rig);
        write_some(rig, 0, 'a', KIB);
        helper_dies(rig);
    }
    for (struct px_host_pull *it = rig->host->salvage.pulls; it != NULL;
         it = it->next)
        sum += it->journal.spool.near.cap_bytes;
    assert_in_range(sum, MIB, 10 * MIB);
}

/* What another tool has is passed over without being read, and some at a time:
 * the launcher has other things to do. */
static void what_is_elsewhere_is_passed_over(void **state)
{
    struct rig *rig = *state;
    unsigned turns = 0;

    pull(rig, 1, true, 0);
    pull(rig, 2, true, 0);
    talk(rig);
    for (unsigned i = 0; i < 8; i++) {
        write_some(rig, 0, 'a', MIB);
        talk(rig);
    }
    for (unsigned i = 0; i < SEEN_MAX / 2; i++)
        write_some(rig, 1, 'b', 1);
    talk(rig);
    read_bytes = 0;
    assert_true(
        px_salvage_pull(rig->host, &(struct px_end){.id = 1, .is_kept = true}));
    for (; rig->host->salvage.pulls != NULL; turns++)
        event_base_loop(rig->base, EVLOOP_ONCE);
    assert_int_equal(rig->back.count, 0);
    assert_in_range(turns, 2, SEEN_MAX);
    assert_in_range(read_bytes, 1, 2 * MIB);
}

/* The helper dies: what the one had read, and the other one not, does not come
 * back; all else does, once. */
static void what_another_has_read_stays_there(void **state)
{
    struct rig *rig = *state;

    pull(rig, 1, true, 0);
    pull(rig, 2, true, 0);
    talk(rig);
    for (unsigned i = 0; i < 4; i++)
        write_some(rig, 0, (uint8_t)('a' + i), KIB);
    talk(rig);
    px_share_settle(&rig->share, 0, 1, (struct px_share_state){KIB, KIB});
    px_share_settle(&rig->share, 1, 2,
                    (struct px_share_state){3 * KIB, 3 * KIB});
    helper_dies(rig);
    take_all(rig);
    assert_int_equal(rig->back.count, 1);
    assert_int_equal(last_of(&rig->back)->first, 'd');
}

static void what_another_has_read_stays_there_whole(void **state)
{
    struct rig *rig = *state;

    pull(rig, 1, true, 0);
    talk(rig);
    write_some(rig, 0, 'a', KIB);
    pull(rig, 2, true, 0);
    talk(rig);
    write_some(rig, 0, 'b', KIB);
    talk(rig);
    px_share_settle(&rig->share, 0, 1, (struct px_share_state){0, 0});
    px_share_settle(&rig->share, 1, 2,
                    (struct px_share_state){2 * KIB, 2 * KIB});
    helper_dies(rig);
    take_all(rig);
    assert_int_equal(rig->back.count, 1);
    assert_int_equal(last_of(&rig->back)->first, 'a');
    assert_null(rig->host->salvage.pulls);
}

#define TEST(what) cmocka_unit_test_setup_teardown(what, open_rig, close_rig)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_waits_goes_behind_what_is_older),
        TEST(what_waits_is_returned_without_a_helper),
        TEST(the_rest_is_not_lost),
        TEST(the_rest_is_not_lost_at_once),
        TEST(what_came_later_is_not_elsewhere),
        TEST(what_comes_behind_the_turns_is_elsewhere),
        TEST(one_comes_back_after_another),
        TEST(what_comes_back_has_little_memory),
        TEST(what_is_elsewhere_is_passed_over),
        TEST(what_another_has_read_stays_there),
        TEST(what_another_has_read_stays_there_whole),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
