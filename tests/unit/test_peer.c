/* The kernel tells which user holds the other end of a connection. */
#include "endpoints/sys/peer.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "overlay/base/err.h"
#include "tests/unit/tcp_rig.h"

enum { OTHER_USER = 65534 };

struct place {
    struct ep_peers peers;
    int listener;
    uint16_t port;
};

/* Opens a listener; false: this machine has no such address. */
static bool begin(struct place *place, const char *address)
{
    struct sockaddr_storage at;
    socklen_t len = tcp_rig_address(address, 0, &at);

    place->listener = socket(at.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (place->listener < 0)
        return false;
    if (bind(place->listener, (const struct sockaddr *)&at, len) != 0) {
        close(place->listener);
        return false;
    }
    assert_int_equal(listen(place->listener, 8), 0);
    assert_int_equal(getsockname(place->listener, (struct sockaddr *)&at, &len),
                     0);
    place->port = ntohs(at.ss_family == AF_INET6
                            ? ((const struct sockaddr_in6 *)&at)->sin6_port
                            : ((const struct sockaddr_in *)&at)->sin_port);
    assert_int_equal(ep_peers_open(&place->peers), 0);
    return true;
}

static void end(struct place *place)
{
    ep_peers_close(&place->peers);
    close(place->listener);
}

/* A socket that the test holds belongs to the test's user, and to no user once
 * it is closed. */
static void try_own(const char *address)
{
    struct place place;
    struct ep_peer peer;
    int fd, came;

    if (!begin(&place, address))
        skip();
    fd = tcp_rig_dial(address, place.port);
    came = accept(place.listener, NULL, NULL);
    assert_true(fd >= 0 && came >= 0);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(ep_peers_ask(&place.peers, came, &peer), 0);
        assert_int_equal(peer.uid, geteuid());
        assert_int_equal(peer.unread_bytes, i);
        assert_int_equal(write(came, "x", 1), 1);
    }
    assert_int_equal(ep_peers_ask(&place.peers, fd, &peer), 0);
    close(fd);
    peer.uid = OTHER_USER;
    assert_int_equal(ep_peers_ask(&place.peers, came, &peer), OV_ENOENT);
    assert_int_equal(peer.uid, OTHER_USER);
    close(came);
    end(&place);
}

static void it_is_our_own_until_it_is_closed(void **state)
{
    (void)state;
    try_own("127.0.0.1");
}

static void the_same_holds_for_ipv6(void **state)
{
    (void)state;
    try_own("::1");
}

/* The child holds the socket until it is told to end. */
static void it_is_that_of_another_user(void **state)
{
    struct place place;
    int gate[2], came;
    struct ep_peer peer = {0};
    char byte;
    pid_t pid;

    (void)state;
    if (geteuid() != 0)
        skip();
    assert_true(begin(&place, "127.0.0.1"));
    assert_int_equal(pipe(gate), 0);
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        close(gate[1]);
        _exit(setuid(OTHER_USER) != 0 ||
              tcp_rig_dial("127.0.0.1", place.port) < 0 ||
              read(gate[0], &byte, 1) != 0);
    }
    close(gate[0]);
    came = accept(place.listener, NULL, NULL);
    assert_true(came >= 0);
    assert_int_equal(ep_peers_ask(&place.peers, came, &peer), 0);
    assert_int_equal(peer.uid, OTHER_USER);
    close(gate[1]);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    assert_int_equal(ep_peers_ask(&place.peers, came, &peer), OV_ENOENT);
    close(came);
    end(&place);
}

static void what_is_no_connection_is_nobodys(void **state)
{
    struct place place;
    int fds[2];
    struct ep_peer peer;

    (void)state;
    assert_true(begin(&place, "127.0.0.1"));
    assert_int_equal(ep_peers_ask(&place.peers, place.listener, &peer),
                     OV_ENOENT);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
    assert_int_equal(ep_peers_ask(&place.peers, fds[0], &peer), OV_ESYS);
    assert_int_equal(ep_peers_ask(&place.peers, -1, &peer), OV_ESYS);
    close(fds[0]);
    close(fds[1]);
    end(&place);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_our_own_until_it_is_closed),
        cmocka_unit_test(the_same_holds_for_ipv6),
        cmocka_unit_test(it_is_that_of_another_user),
        cmocka_unit_test(what_is_no_connection_is_nobodys),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
