/* Strangers connect to the listener: sockets that send nothing, garbage or half
 * a request neither disturb a link nor keep descriptors. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "overlay/base/err.h"
#include "tests/unit/fabric_rig.h"

enum {
    STRANGERS_MAX = 2000,
    REQUEST_MAX = 512,
    UNPROVED_MS = 1000,
    NEVER_MS = 600000,
    FLOOD = 400
};

extern char **environ;

static struct {
    int fds[STRANGERS_MAX];
    unsigned count;
    unsigned ended; /* how many of the first sockets have ended */
} strangers;

static int set_up(void **state)
{
    strangers.count = strangers.ended = 0;
    *state = calloc(1, sizeof(struct rig));
    return *state == NULL;
}

static void strangers_close(void)
{
    while (strangers.count > 0)
        close(strangers.fds[--strangers.count]);
    strangers.ended = 0;
}

static int tear_down(void **state)
{
    strangers_close();
    rig_close(*state);
    free(*state);
    return 0;
}

static void open_rig(struct rig *rig, uint32_t unproved_ms)
{
    struct ep_transport_cfg cfgs[2] = {rig_cfg(rig, 0), rig_cfg(rig, 1)};

    cfgs[1].unproved_ms = unproved_ms;
    rig_open(rig, cfgs, 2);
}

static struct sockaddr_in address_of(const char *text)
{
    struct sockaddr_in to = {.sin_family = AF_INET};
    char host[EP_ADDR_MAX];

    snprintf(host, sizeof(host), "%s", text);
    to.sin_port = htons((uint16_t)atoi(strchr(host, ':') + 1));
    *strchr(host, ':') = '\0';
    assert_int_equal(inet_pton(AF_INET, host, &to.sin_addr), 1);
    return to;
}

/* Connects without waiting and sends len_bytes, which the system keeps until
 * the connection is made; the listener's queue may be full for a while. */
static void stranger_come(struct rig *rig, const void *bytes, size_t len_bytes)
{
    struct sockaddr_in to = address_of(rig->ops->address(rig->sides[1].t));
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_true(fd >= 0);
    strangers.fds[strangers.count++] = fd;
    assert_int_equal(connect(fd, (const struct sockaddr *)&to, sizeof(to)), 0);
    if (len_bytes > 0)
        assert_int_equal(send(fd, bytes, len_bytes, MSG_NOSIGNAL), len_bytes);
}

/* Records what a dial of ours sends first, as a stranger could have recorded
 * it. */
static size_t record_request(struct rig *rig, uint8_t *bytes)
{
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in at = {.sin_family = AF_INET};
    socklen_t at_bytes = sizeof(at);
    uint8_t cm[EP_CM_MAX] = {0};
    char address[EP_ADDR_MAX];
    struct ep_conn *conn;
    struct pollfd ready;
    ssize_t len;
    int fd;

    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_int_equal(bind(listener, (struct sockaddr *)&at, sizeof(at)), 0);
    assert_int_equal(listen(listener, 1), 0);
    getsockname(listener, (struct sockaddr *)&at, &at_bytes);
    snprintf(address, sizeof(address), "127.0.0.1:%u", ntohs(at.sin_port));
    assert_int_equal(
        rig->ops->dial(rig->sides[0].t, address, cm, sizeof(cm), NULL, &conn),
        0);
    fd = accept(listener, NULL, NULL);
    ready = (struct pollfd){.fd = fd, .events = POLLIN};
    while (poll(&ready, 1, 0) == 0)
        event_base_loop(rig->base, EVLOOP_ONCE | EVLOOP_NONBLOCK);
    len = recv(fd, bytes, REQUEST_MAX, 0);
    assert_true(len > (ssize_t)sizeof(cm));
    rig->ops->drop(conn, false);
    close(fd);
    close(listener);
    return (size_t)len;
}

/* Sends frames both ways while strangers connect. */
static void keep_talking(struct rig_side *side, struct ep_conn *conn,
                         struct ov_buf *buf)
{
    (void)rig_send(side, conn, side->frames, buf->len_bytes);
    rig_put(side, buf);
}

static uint64_t shut_count(struct rig *rig)
{
    struct ep_transport_stats stats;

    rig->ops->stats(rig->sides[1].t, &stats);
    return stats.silent_shut;
}

static unsigned fds_least;

/* True when the other side of the socket has closed it. */
static bool is_ended(int fd)
{
    uint8_t rest[REQUEST_MAX];
    ssize_t len;

    do
        len = recv(fd, rest, sizeof(rest), MSG_DONTWAIT);
    while (len > 0);
    return len == 0 || (errno != EAGAIN && errno != EINTR);
}

/* True when the strangers were disconnected, and only their own ends are still
 * open in this process. */
static bool are_strangers_gone(struct rig *rig)
{
    (void)rig;
    while (strangers.ended < strangers.count &&
           is_ended(strangers.fds[strangers.ended]))
        strangers.ended++;
    return strangers.ended == strangers.count &&
           rig_fds() <= fds_least + strangers.count;
}

/* Returns the number of links that can have both ends in this process, under
 * its limit on descriptors. */
static unsigned crowd(void)
{
    struct rlimit limit;

    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    limit.rlim_cur = limit.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
    return limit.rlim_cur > 3 * STRANGERS_MAX ? STRANGERS_MAX
                                              : (unsigned)limit.rlim_cur / 3;
}

/* Lets strangers connect while a link carries frames; then all of their sockets
 * are closed by the listener although the strangers keep theirs. */
static void invite(struct rig *rig, const void *bytes, size_t len_bytes,
                   unsigned count)
{
    struct rig_side *a = &rig->sides[0], *b = &rig->sides[1];
    unsigned frames;

    a->on_frame = b->on_frame = keep_talking;
    (void)rig_link(rig);
    fds_least = rig_fds();
    assert_int_equal(rig_send(a, a->conns[0], 0, 1000), 0);
    for (unsigned i = 0; i < count; i++) {
        stranger_come(rig, bytes, len_bytes);
        event_base_loop(rig->base, EVLOOP_ONCE | EVLOOP_NONBLOCK);
    }
    frames = b->frames;
    rig_wait(rig, &b->frames, frames + 1000);
    rig_until(rig, are_strangers_gone);
    assert_int_equal(a->downs + b->downs, 0);
    frames = b->frames;
    rig_wait(rig, &b->frames, frames + 1000);
}

static void silent_strangers_are_shut_while_links_go_on(void **state)
{
    struct rig *rig = *state;
    unsigned count = crowd();

    open_rig(rig, UNPROVED_MS);
    invite(rig, NULL, 0, count);
    assert_int_equal(shut_count(rig), count);
}

static void strangers_with_garbage_are_gone_while_links_go_on(void **state)
{
    struct rig *rig = *state;
    uint8_t garbage[64];
    unsigned seed = 20240811;

    for (size_t i = 0; i < sizeof(garbage); i++)
        garbage[i] = (uint8_t)rand_r(&seed);
    open_rig(rig, UNPROVED_MS);
    invite(rig, garbage, sizeof(garbage), crowd());
}

/* A genuine request is cut at each byte; a provider that waited for the rest
 * would hold up everything. */
static void half_a_request_holds_nothing_up(void **state)
{
    struct rig *rig = *state;
    uint8_t request[REQUEST_MAX];
    size_t len_bytes;

    open_rig(rig, UNPROVED_MS);
    len_bytes = record_request(rig, request);
    for (size_t cut = 1; cut < len_bytes; cut++)
        stranger_come(rig, request, cut);
    invite(rig, request, len_bytes / 2, 200);
    assert_int_equal(rig->sides[1].requests, 1);
}

/* A genuine request is cut at each byte before the last one of the private
 * data's share: providers send head and data separately, the head being the
 * shorter part. The rest follows when the listener has had every chance to read
 * the first part. */
static void a_request_in_two_parts_reaches_the_owner(void **state)
{
    struct rig *rig = *state;
    struct rig_side *b = &rig->sides[1];
    uint8_t request[REQUEST_MAX];
    size_t len_bytes;

    open_rig(rig, NEVER_MS);
    b->answer = RIG_REJECT;
    len_bytes = record_request(rig, request);
    for (size_t cut = 1; cut <= EP_CM_MAX; cut++) {
        unsigned requests = b->requests;

        stranger_come(rig, request, cut);
        for (unsigned i = 0; i < 20; i++)
            event_base_loop(rig->base, EVLOOP_ONCE | EVLOOP_NONBLOCK);
        assert_int_equal(b->requests, requests);
        assert_int_equal(send(strangers.fds[strangers.count - 1], request + cut,
                              len_bytes - cut, MSG_NOSIGNAL),
                         len_bytes - cut);
        rig_wait(rig, &b->requests, requests + 1);
    }
}

/* A recorded request reaches the owner, who refuses it. */
static void recorded_requests_are_for_the_owner_to_refuse(void **state)
{
    struct rig *rig = *state;
    uint8_t request[REQUEST_MAX];
    size_t len_bytes;

    open_rig(rig, UNPROVED_MS);
    len_bytes = record_request(rig, request);
    (void)rig_link(rig);
    rig->sides[1].answer = RIG_REJECT;
    fds_least = rig_fds();
    for (unsigned i = 0; i < 100; i++)
        stranger_come(rig, request, len_bytes);
    rig_wait(rig, &rig->sides[1].requests, 101);
    rig_until(rig, are_strangers_gone);
    assert_int_equal(rig->sides[1].downs, 0);
}

/* The length is larger than what came, or larger than a request may be. */
static void a_request_with_a_bad_length_never_reaches_the_owner(void **state)
{
    struct rig *rig = *state;
    uint8_t request[REQUEST_MAX];
    size_t len_bytes, at;

    open_rig(rig, UNPROVED_MS);
    len_bytes = record_request(rig, request);
    at = len_bytes - EP_CM_MAX - 1;
    assert_int_equal(request[at], EP_CM_MAX);
    for (unsigned i = EP_CM_MAX + 1; i < 256; i += 20) {
        request[at] = (uint8_t)i;
        stranger_come(rig, request, len_bytes);
    }
    fds_least = rig_fds() - strangers.count;
    rig_until(rig, are_strangers_gone);
    assert_int_equal(rig->sides[1].requests, 0);
}

/* Strangers that disconnect by themselves leave nothing to sweep. */
static void strangers_that_leave_are_not_counted(void **state)
{
    struct rig *rig = *state;

    open_rig(rig, NEVER_MS);
    (void)rig_link(rig);
    fds_least = rig_fds();
    for (unsigned i = 0; i < 100; i++)
        stranger_come(rig, NULL, 0);
    strangers_close();
    rig_until(rig, are_strangers_gone);
    assert_int_equal(shut_count(rig), 0);
}

/* Connects as stranger_come() does, from the port that the stranger had the
 * last time. */
static void stranger_again(struct rig *rig, struct sockaddr_in *from)
{
    struct sockaddr_in to = address_of(rig->ops->address(rig->sides[1].t));
    struct linger reset = {.l_onoff = 1};
    socklen_t from_bytes = sizeof(*from);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;

    assert_true(fd >= 0);
    strangers.fds[strangers.count++] = fd;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
    assert_int_equal(bind(fd, (struct sockaddr *)from, sizeof(*from)), 0);
    assert_int_equal(connect(fd, (const struct sockaddr *)&to, sizeof(to)), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)from, &from_bytes), 0);
}

/* The stranger has the port, and here the descriptor, of one that was shut
 * before. */
static void a_stranger_that_comes_again_is_shut_again(void **state)
{
    struct sockaddr_in from = {.sin_family = AF_INET};
    struct rig *rig = *state;

    open_rig(rig, 50);
    fds_least = rig_fds();
    for (unsigned i = 1; i <= 3; i++) {
        stranger_again(rig, &from);
        rig_until(rig, are_strangers_gone);
        assert_int_equal(shut_count(rig), i);
        strangers_close();
    }
}

static bool are_many_shut(struct rig *rig)
{
    return shut_count(rig) >= FLOOD / 2;
}

/* Holds silent connections until it is killed. */
static int flood_main(const char *address)
{
    struct sockaddr_in to = address_of(address);

    prctl(PR_SET_PDEATHSIG, SIGKILL); /* kills this child when the test fails */
    for (unsigned i = 0; i < FLOOD; i++) {
        int fd = socket(AF_INET, SOCK_STREAM, 0);

        if (connect(fd, (const struct sockaddr *)&to, sizeof(to)) != 0)
            return 1;
    }
    for (;;)
        pause();
}

/* There are far more strangers than descriptors: links go on, the strangers are
 * accepted in turns and disconnected early, and then a newcomer gets in. */
static void running_out_of_descriptors_is_survived(void **state)
{
    struct rig *rig = *state;
    struct rig_side *a = &rig->sides[0], *b = &rig->sides[1];
    char self[4096] = "", address[EP_ADDR_MAX];
    char *argv[] = {self, address, NULL};
    struct rlimit limit, low;
    pid_t pid;

    open_rig(rig, UNPROVED_MS);
    a->on_frame = b->on_frame = keep_talking;
    (void)rig_link(rig);
    assert_int_equal(rig_send(a, a->conns[0], 0, 1000), 0);
    snprintf(address, sizeof(address), "%s", rig->ops->address(b->t));
    assert_true(readlink("/proc/self/exe", self, sizeof(self) - 1) > 0);
    assert_int_equal(posix_spawn(&pid, self, NULL, NULL, argv, environ), 0);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    low = limit;
    fds_least = rig_fds();
    low.rlim_cur = fds_least + 50;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
    rig_until(rig, are_many_shut);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    rig_until(rig, are_strangers_gone);
    (void)rig_link(rig);
    assert_int_equal(a->downs + b->downs, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        TEST(silent_strangers_are_shut_while_links_go_on),
        TEST(strangers_with_garbage_are_gone_while_links_go_on),
        TEST(half_a_request_holds_nothing_up),
        TEST(a_request_in_two_parts_reaches_the_owner),
        TEST(recorded_requests_are_for_the_owner_to_refuse),
        TEST(a_request_with_a_bad_length_never_reaches_the_owner),
        TEST(strangers_that_leave_are_not_counted),
        TEST(a_stranger_that_comes_again_is_shut_again),
        TEST(running_out_of_descriptors_is_survived),
    };

    if (argc == 2 && strchr(argv[1], ':'))
        return flood_main(argv[1]);
    if (argc == 2)
        cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
