/* The port for tools: which connections become tools, and which are closed
 * before. */
#include "config.h"

#include "endpoints/client/tools.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "overlay/base/err.h"
#include "tests/unit/rig.h"
#include "tests/unit/tcp_rig.h"

#define HEAD "0123456789abcdef"
#define HERE "127.0.0.1"

enum {
    PART = 3, /* the bytes of a head that come first */
    LONG_MS = 1000 * RIG_LIMIT_S,
    SHORT_MS = 20,
    CALM_MS = 200,
    TURNS_MAX = 20, /* the most turns of a loop that does not spin in the
                     * meantime */
    OTHER_USER = 65534,
    MANY = EP_TOOLS_HEADS_MAX + 1,
};

struct place {
    struct event_base *base;
    struct ep_tools *tools;
    unsigned handed_on, notes;
    int fd; /* the last connection that was passed on */
    uid_t uid;
    char note[256]; /* the last note */
    bool closes;    /* on_tool closes the port */
};

static void close_tools(struct place *place)
{
    ep_tools_close(place->tools);
    place->tools = NULL;
}

static void on_tool(void *arg, int fd, uid_t uid)
{
    struct place *place = arg;

    if (place->fd >= 0)
        close(place->fd);
    place->handed_on++;
    place->fd = fd;
    place->uid = uid;
    if (place->closes)
        close_tools(place);
}

static void on_note(void *arg, const char *text)
{
    struct place *place = arg;

    place->notes++;
    snprintf(place->note, sizeof(place->note), "%s", text);
}

static struct ep_tools_cfg of(struct place *place, const char *address,
                              unsigned head_ms)
{
    return (struct ep_tools_cfg){.base = place->base,
                                 .address = address,
                                 .head_ms = head_ms,
                                 .allows_user = true,
                                 .on_tool = on_tool,
                                 .on_note = on_note,
                                 .arg = place};
}

static void begin_with(struct place *place, unsigned head_ms, bool allows_user)
{
    struct ep_tools_cfg cfg;

    *place = (struct place){.fd = -1, .base = event_base_new()};
    assert_non_null(place->base);
    cfg = of(place, HERE, head_ms);
    cfg.allows_user = allows_user;
    assert_int_equal(ep_tools_open(&cfg, &place->tools), 0);
}

static void begin(struct place *place, unsigned head_ms)
{
    begin_with(place, head_ms, true);
}

static void end(struct place *place)
{
    close_tools(place);
    event_base_free(place->base);
    if (place->fd >= 0)
        close(place->fd);
}

static int dial(const struct place *place)
{
    int fd = tcp_rig_dial(HERE, ep_tools_port(place->tools));

    assert_true(fd >= 0);
    return fd;
}

static void say(int fd, const char *text, size_t len)
{
    assert_int_equal(send(fd, text, len, MSG_NOSIGNAL), len);
}

/* Connects and sends the first bytes of a head. */
static int dial_and_say(const struct place *place, size_t len)
{
    int fd = dial(place);

    say(fd, HEAD, len);
    return fd;
}

static bool is_closed(const void *arg)
{
    char byte;
    ssize_t got = recv(*(const int *)arg, &byte, 1, MSG_DONTWAIT);

    return got == 0 || (got < 0 && errno != EAGAIN);
}

static void on_rung(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    *(bool *)arg = true;
}

/* Turns the loop until this much time has passed; returns the number of
 * turns. */
static unsigned count_turns(const struct place *place, unsigned ms)
{
    const struct timeval time = {.tv_usec = (suseconds_t)ms * 1000};
    bool is_over = false;
    struct event *timer = event_new(place->base, -1, 0, on_rung, &is_over);
    unsigned turns = 0;

    event_add(timer, &time);
    while (!is_over) {
        event_base_loop(place->base, EVLOOP_ONCE);
        turns++;
    }
    event_free(timer);
    return turns;
}

static int option(int fd, int level, int name)
{
    int value = -1;
    socklen_t len = sizeof(value);

    assert_int_equal(getsockopt(fd, level, name, &value, &len), 0);
    return value;
}

/* --- connections that are passed on */

/* The socket is as accept() would return it, and all bytes that were sent can
 * be read. */
static void a_tool_is_handed_on_unread(void **state)
{
    char mem[64];
    struct place place;
    int fd;

    (void)state;
    begin(&place, LONG_MS);
    fd = dial(&place);
    say(fd, HEAD "and more", 24);
    rig_run_until(place.base, &place.handed_on, 1);
    assert_int_equal(place.uid, geteuid());
    assert_int_equal(recv(place.fd, mem, sizeof(mem), 0), 24);
    assert_memory_equal(mem, HEAD "and more", 24);
    assert_int_equal(fcntl(place.fd, F_GETFD), FD_CLOEXEC);
    assert_int_equal(fcntl(place.fd, F_GETFL) & O_NONBLOCK, 0);
    assert_int_equal(option(place.fd, IPPROTO_TCP, TCP_NODELAY), 1);
    assert_int_equal(option(place.fd, SOL_SOCKET, SO_RCVLOWAT), 1);
    assert_int_equal(place.notes, 0);
    close(fd);
    end(&place);
}

/* While the second part is missing the loop sleeps. */
static void a_head_may_come_in_two_parts(void **state)
{
    struct place place;
    int fd;

    (void)state;
    begin(&place, LONG_MS);
    fd = dial_and_say(&place, PART);
    assert_in_range(count_turns(&place, CALM_MS), 1, TURNS_MAX);
    assert_int_equal(place.handed_on, 0);
    say(fd, &HEAD[PART], sizeof(HEAD) - 1 - PART);
    rig_run_until(place.base, &place.handed_on, 1);
    close(fd);
    end(&place);
}

static void a_tool_may_come_by_ipv6(void **state)
{
    struct place place = {.fd = -1, .base = event_base_new()};
    struct ep_tools_cfg cfg = of(&place, "::1", LONG_MS);
    int rc = ep_tools_open(&cfg, &place.tools), fd;

    (void)state;
    if (rc != 0) {
        assert_int_equal(rc, OV_ESYS);
        end(&place);
        skip();
    }
    fd = tcp_rig_dial("::1", ep_tools_port(place.tools));
    assert_true(fd >= 0);
    say(fd, HEAD, sizeof(HEAD) - 1);
    rig_run_until(place.base, &place.handed_on, 1);
    assert_int_equal(place.uid, geteuid());
    close(fd);
    end(&place);
}

/* --- connections that are closed */

static void who_does_not_say_a_head_is_closed(void **state)
{
    struct place place;
    int silent, partly;

    (void)state;
    begin(&place, SHORT_MS);
    silent = dial(&place);
    partly = dial_and_say(&place, PART);
    rig_run_until_true(place.base, is_closed, &silent);
    rig_run_until_true(place.base, is_closed, &partly);
    assert_int_equal(place.handed_on, 0);
    assert_int_equal(place.notes, 0);
    close(silent);
    close(partly);
    end(&place);
}

/* A peer that leaves before it sends anything is dropped without a note. */
static void who_has_gone_is_nobody(void **state)
{
    struct place place;
    int fd;

    (void)state;
    begin(&place, LONG_MS);
    for (int i = 0; i < MANY; i++)
        close(i % 2 == 0 ? dial(&place) : dial_and_say(&place, PART));
    fd = dial_and_say(&place, PART);
    assert_in_range(count_turns(&place, CALM_MS), 1, MANY + TURNS_MAX);
    assert_int_equal(shutdown(fd, SHUT_WR), 0);
    rig_run_until_true(place.base, is_closed, &fd);
    assert_int_equal(place.handed_on, 0);
    assert_int_equal(place.notes, 0);
    close(fd);
    end(&place);
}

/* All have connected before the loop runs. The first has begun to send, so the
 * second is closed to make room for the last one; all others are let in. */
static void the_oldest_silent_one_makes_way(void **state)
{
    struct place place;
    int fds[MANY];

    (void)state;
    begin(&place, LONG_MS);
    for (int i = 0; i < MANY; i++)
        fds[i] = i == 0 ? dial_and_say(&place, PART) : dial(&place);
    rig_run_until_true(place.base, is_closed, &fds[1]);
    say(fds[0], &HEAD[PART], sizeof(HEAD) - 1 - PART);
    for (int i = 2; i < MANY; i++)
        say(fds[i], HEAD, sizeof(HEAD) - 1);
    rig_run_until(place.base, &place.handed_on, MANY - 1);
    for (int i = 0; i < MANY; i++)
        close(fds[i]);
    end(&place);
}

/* Then one more connection waits in the kernel, until one of them is closed. */
static void who_has_begun_to_speak_stays(void **state)
{
    struct place place;
    int fds[MANY];

    (void)state;
    begin(&place, LONG_MS);
    for (int i = 0; i < MANY; i++)
        fds[i] = dial_and_say(&place,
                              i < MANY - 1 ? (size_t)PART : sizeof(HEAD) - 1);
    assert_in_range(count_turns(&place, CALM_MS), 1, MANY + TURNS_MAX);
    assert_int_equal(place.handed_on, 0);
    for (int i = 0; i < MANY - 1; i++)
        say(fds[i], &HEAD[PART], sizeof(HEAD) - 1 - PART);
    rig_run_until(place.base, &place.handed_on, MANY);
    for (int i = 0; i < MANY; i++)
        close(fds[i]);
    end(&place);
}

/* Each connection is closed, and one note is given. */
static void who_is_not_allowed_is_closed(void **state)
{
    struct place place;
    int fds[2];

    (void)state;
    begin_with(&place, LONG_MS, false);
    for (int i = 0; i < 2; i++)
        fds[i] = dial_and_say(&place, sizeof(HEAD) - 1);
    for (int i = 0; i < 2; i++) {
        rig_run_until_true(place.base, is_closed, &fds[i]);
        close(fds[i]);
    }
    assert_int_equal(place.handed_on, 0);
    assert_int_equal(place.notes, 1);
    assert_string_equal(
        place.note,
        "a PMIx tool was refused: its user may not connect (--pmix-allow)");
    end(&place);
}

/* Connects as another user. The exit code is 0 when the connection was
 * closed. */
static void be_another(uint16_t port)
{
    char byte;
    int fd;

    if (setuid(OTHER_USER) != 0)
        _exit(1);
    fd = tcp_rig_dial(HERE, port);
    if (fd < 0 || send(fd, HEAD, sizeof(HEAD) - 1, MSG_NOSIGNAL) < 0)
        _exit(2);
    _exit(recv(fd, &byte, 1, 0) > 0 ? 3 : 0);
}

static void another_user_is_closed(void **state)
{
    struct place place;
    int status = -1;
    pid_t pid;

    (void)state;
    if (geteuid() != 0)
        skip();
    begin(&place, LONG_MS);
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0)
        be_another(ep_tools_port(place.tools));
    rig_run_until(place.base, &place.notes, 1);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    assert_int_equal(place.handed_on, 0);
    end(&place);
}

/* --- errors */

/* Sets the limit so that the lowest free number of a descriptor is beyond
 * it. */
static struct rlimit leave_no_descriptor(void)
{
    struct rlimit was, none;
    int fd = dup(STDERR_FILENO);

    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &was), 0);
    none = was;
    none.rlim_cur = (rlim_t)fd;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    return was;
}

/* One note is given, the loop sleeps between two attempts, and the connection
 * that has waited is let in. */
static void without_a_descriptor_they_wait(void **state)
{
    struct place place;
    struct rlimit was;
    int fd;

    (void)state;
    begin(&place, LONG_MS);
    /* the port has everything that it needs */
    event_base_loop(place.base, EVLOOP_NONBLOCK);
    fd = dial_and_say(&place, sizeof(HEAD) - 1);
    was = leave_no_descriptor();
    assert_in_range(count_turns(&place, 3 * EP_TOOLS_REST_MS), 1, TURNS_MAX);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &was), 0);
    assert_int_equal(place.handed_on, 0);
    assert_int_equal(place.notes, 1);
    rig_run_until(place.base, &place.handed_on, 1);
    assert_int_equal(place.notes, 1);
    close(fd);
    end(&place);
}

static void all_may_be_closed_when_a_tool_comes(void **state)
{
    struct place place;
    int others, fd;

    (void)state;
    begin(&place, LONG_MS);
    place.closes = true;
    others = dial_and_say(&place, PART);
    fd = dial_and_say(&place, sizeof(HEAD) - 1);
    rig_run_until(place.base, &place.handed_on, 1);
    assert_true(is_closed(&others));
    assert_false(is_closed(&fd));
    close(others);
    close(fd);
    end(&place);
}

static void what_is_no_address_is_refused(void **state)
{
    static const char *const texts[] = {"", "localhost", "[::1]", "1.2.3",
                                        "127.0.0.1:80"};
    struct place place = {.fd = -1, .base = event_base_new()};
    struct ep_tools_cfg cfg;

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        cfg = of(&place, texts[i], LONG_MS);
        assert_int_equal(ep_tools_open(&cfg, &place.tools), OV_EINVAL);
        assert_null(place.tools);
    }
    cfg = of(&place, "192.0.2.1", LONG_MS); /* an address of no machine */
    assert_int_equal(ep_tools_open(&cfg, &place.tools), OV_ESYS);
    assert_int_equal(errno, EADDRNOTAVAIL);
    assert_null(place.tools);
    end(&place);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tool_is_handed_on_unread),
        cmocka_unit_test(a_head_may_come_in_two_parts),
        cmocka_unit_test(a_tool_may_come_by_ipv6),
        cmocka_unit_test(who_does_not_say_a_head_is_closed),
        cmocka_unit_test(who_has_gone_is_nobody),
        cmocka_unit_test(the_oldest_silent_one_makes_way),
        cmocka_unit_test(who_has_begun_to_speak_stays),
        cmocka_unit_test(who_is_not_allowed_is_closed),
        cmocka_unit_test(another_user_is_closed),
        cmocka_unit_test(without_a_descriptor_they_wait),
        cmocka_unit_test(all_may_be_closed_when_a_tool_comes),
        cmocka_unit_test(what_is_no_address_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
