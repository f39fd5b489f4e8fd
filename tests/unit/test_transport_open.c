/* Loading, opening and closing the transport: its effects on the process, the
 * choice of provider, interface and port, and the messages for the user. */
#include <dlfcn.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "overlay/base/err.h"
#include "tests/unit/fabric_rig.h"

/* Flags of sigaction() that mean something outside of libc. */
enum {
    SIGNALS = 65,
    FLAGS = SA_NOCLDSTOP | SA_NOCLDWAIT | SA_SIGINFO | SA_RESTART | SA_ONSTACK |
            SA_NODEFER
};

static void on_signal(int sig)
{
    (void)sig;
}

static void save_signals(struct sigaction *all)
{
    for (int sig = 1; sig < SIGNALS; sig++)
        (void)sigaction(sig, NULL, &all[sig]);
}

/* This must be the first test, as libfabric is not loaded before it. One signal
 * that the libraries use has a handler of ours, the others have their
 * default. */
static void loading_leaves_signals_and_environment_alone(void **state)
{
    struct sigaction before[SIGNALS] = {0}, after[SIGNALS] = {0};
    struct sigaction ours = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    struct rig *rig = *state;

    sigaction(SIGTERM, &ours, NULL);
    setenv("HFI_NO_BACKTRACE", "7", 1);
    unsetenv("IPATH_NO_BACKTRACE");
    save_signals(before);
    rig_open_pair(rig);
    save_signals(after);
    for (int sig = 1; sig < SIGNALS; sig++) {
        assert_ptr_equal(after[sig].sa_handler, before[sig].sa_handler);
        assert_int_equal(after[sig].sa_flags & FLAGS,
                         before[sig].sa_flags & FLAGS);
    }
    assert_string_equal(getenv("HFI_NO_BACKTRACE"), "7");
    assert_null(getenv("IPATH_NO_BACKTRACE"));
    assert_null(getenv("FI_TCP_MAX_RX_SIZE"));
    signal(SIGTERM, SIG_DFL);
    unsetenv("HFI_NO_BACKTRACE");
}

static void the_module_is_loaded_once(void **state)
{
    (void)state;
    assert_ptr_equal(rig_load(), rig_load());
}

/* Returns what open() returns for cfg, and checks that there is an error
 * message. */
static int try_open(struct rig *rig, const struct ep_transport_cfg *cfg)
{
    unsigned fds = rig_fds();
    int rc;

    rig->why[0] = '\0';
    rc = rig->ops->open(cfg, &rig->sides[0].t, rig->why);
    if (rc == 0)
        return 0;
    assert_true(strlen(rig->why) > 0);
    assert_int_equal(rig_fds(), fds);
    rig->sides[0].t = NULL;
    return rc;
}

static void assert_why(const struct rig *rig, const char *part)
{
    if (strstr(rig->why, part) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", rig->why, part);
}

static void an_unknown_provider_is_told_with_those_there(void **state)
{
    struct rig *rig = *state;
    struct ep_transport_cfg cfg = rig_cfg(rig, 0);

    cfg.provider = "sebulba";
    assert_int_equal(try_open(rig, &cfg), OV_EINVAL);
    assert_why(rig, "\"sebulba\"");
    assert_why(rig, " tcp");
    assert_why(rig, "--provider");
}

/* The provider net exists up to libfabric 1.17 only; later it is unknown. */
static void a_provider_that_burns_a_processor_is_refused(void **state)
{
    struct rig *rig = *state;
    struct ep_transport_cfg cfg = rig_cfg(rig, 0);

    cfg.provider = "net";
    assert_int_equal(try_open(rig, &cfg), OV_EINVAL);
    assert_why(rig, "net");
    assert_why(rig, "tcp");
}

static void without_a_name_the_provider_is_the_users_or_ours(void **state)
{
    struct rig *rig = *state;
    struct ep_transport_cfg cfg = rig_cfg(rig, 0);
    const char *was = getenv("FI_PROVIDER");

    if (was)
        skip();
    cfg.provider = NULL;
    assert_int_equal(try_open(rig, &cfg), 0);
    if (access("/sys/class/infiniband", F_OK) != 0)
        assert_string_equal(rig->ops->provider(rig->sides[0].t), "tcp");
    rig->ops->close(rig->sides[0].t);
    setenv("FI_PROVIDER", "sebulba", 1);
    assert_int_equal(try_open(rig, &cfg), OV_EINVAL);
    assert_why(rig, "sebulba");
    setenv("FI_PROVIDER", "sebulba,tcp", 1);
    assert_int_equal(try_open(rig, &cfg), 0);
    assert_string_equal(rig->ops->provider(rig->sides[0].t), "tcp");
    unsetenv("FI_PROVIDER");
}

static void an_interface_goes_by_name_address_or_network(void **state)
{
    static const char *const good[] = {"lo", "127.0.0.1", "127.0.0.0/8",
                                       "127.255.3.4/1"};
    static const char *const bad[] = {"",           "lo/8",     "nosuch0",
                                      "240.0.0.1",  "1.2.3.4/", "1.2.3.4/33",
                                      "127.0.0.1/x"};
    struct rig *rig = *state;
    struct ep_transport_cfg cfg = rig_cfg(rig, 0);

    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        cfg.interface = good[i];
        if (try_open(rig, &cfg))
            fail_msg("%s: %s", good[i], rig->why);
        assert_memory_equal(rig->ops->address(rig->sides[0].t), "127.", 4);
        rig->ops->close(rig->sides[0].t);
        rig->sides[0].t = NULL;
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        cfg.interface = bad[i];
        if (try_open(rig, &cfg) != OV_EINVAL)
            fail_msg("\"%s\" was taken", bad[i]);
        assert_why(rig, " lo");
        assert_why(rig, bad[i]);
    }
}

/* This test needs IPv6, which not every container has. */
static void links_go_over_ipv6(void **state)
{
    struct rig *rig = *state;
    struct ep_transport_cfg cfgs[2] = {rig_cfg(rig, 0), rig_cfg(rig, 1)};

    cfgs[0].interface = cfgs[1].interface = "::1";
    if (try_open(rig, &cfgs[0])) {
        assert_why(rig, "::1");
        skip();
    }
    rig->ops->close(rig->sides[0].t);
    rig_open(rig, cfgs, 2);
    assert_memory_equal(rig->ops->address(rig->sides[0].t), "[::1]:", 6);
    (void)rig_link(rig);
}

/* Link-local addresses mean nothing without an interface, which the text for
 * the peer does not name. */
static void links_go_over_link_local_addresses(void **state)
{
    struct rig *rig = *state;
    struct ep_transport_cfg cfgs[2] = {rig_cfg(rig, 0), rig_cfg(rig, 1)};

    cfgs[0].interface = cfgs[1].interface = "fe80::/10";
    if (try_open(rig, &cfgs[0])) {
        assert_why(rig, "fe80::/10");
        skip();
    }
    rig->ops->close(rig->sides[0].t);
    rig_open(rig, cfgs, 2);
    assert_memory_equal(rig->ops->address(rig->sides[0].t), "[fe80:", 6);
    assert_null(strchr(rig->ops->address(rig->sides[0].t), '%'));
    (void)rig_link(rig);
}

static uint16_t port_of(struct rig *rig, unsigned side)
{
    const char *address = rig->ops->address(rig->sides[side].t);

    return (uint16_t)atoi(strrchr(address, ':') + 1);
}

static void a_full_port_range_is_named(void **state)
{
    struct rig *rig = *state;
    struct ep_transport_cfg cfg = rig_cfg(rig, 0), other = rig_cfg(rig, 1);
    char range[32];
    uint16_t port;

    assert_int_equal(rig->ops->open(&other, &rig->sides[1].t, rig->why), 0);
    port = port_of(rig, 1);
    cfg.port_first = cfg.port_last = port;
    assert_int_equal(try_open(rig, &cfg), OV_EINVAL);
    snprintf(range, sizeof(range), "%u-%u", port, port);
    assert_why(rig, range);
    assert_why(rig, "--port-range");
    cfg.port_last = (uint16_t)(port < 65000 ? port + 500 : 65535);
    cfg.port_first = (uint16_t)(cfg.port_last - 500);
    assert_int_equal(try_open(rig, &cfg), 0);
    assert_in_range(port_of(rig, 0), cfg.port_first, cfg.port_last);
    assert_int_not_equal(port_of(rig, 0), port);
}

static void nonsense_in_the_configuration_is_refused(void **state)
{
    struct rig *rig = *state;
    struct ep_transport_cfg cfg = rig_cfg(rig, 0);

    cfg.port_first = 2000;
    cfg.port_last = 1000;
    assert_int_equal(try_open(rig, &cfg), OV_EINVAL);
    assert_why(rig, "2000-1000");
    cfg = rig_cfg(rig, 0);
    cfg.posted_receives = 1;
    assert_int_equal(try_open(rig, &cfg), OV_EINVAL);
    cfg = rig_cfg(rig, 0);
    cfg.send_slots = 0;
    assert_int_equal(try_open(rig, &cfg), OV_EINVAL);
    cfg = rig_cfg(rig, 0);
    cfg.frame_bytes = 0;
    assert_int_equal(try_open(rig, &cfg), OV_EINVAL);
}

/* Everything is open that a transport can open: links that are up, one in the
 * middle of a dial, and a request without an answer. */
static void closing_gives_back_all_descriptors(void **state)
{
    struct rig *rig = *state;
    unsigned fds = 0;

    for (unsigned turn = 0; turn < 3; turn++) {
        struct ep_conn *conn;

        rig_open_pair(rig);
        for (unsigned i = 0; i < 70; i++)
            (void)rig_link(rig);
        rig->sides[1].answer = RIG_HOLD;
        for (unsigned i = 0; i < 5; i++)
            assert_int_equal(rig->ops->dial(rig->sides[0].t,
                                            rig->ops->address(rig->sides[1].t),
                                            NULL, 0, NULL, &conn),
                             0);
        if (turn > 0)
            rig_wait(rig, &rig->sides[1].held_count, 5);
        rig_close(rig);
        if (turn == 0) /* libfabric keeps what it opens first */
            fds = rig_fds();
        assert_int_equal(rig_fds(), fds);
    }
}

#define TEST(name)                                                             \
    cmocka_unit_test_setup_teardown(name, rig_set_up, rig_tear_down)

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        TEST(loading_leaves_signals_and_environment_alone),
        TEST(the_module_is_loaded_once),
        TEST(an_unknown_provider_is_told_with_those_there),
        TEST(a_provider_that_burns_a_processor_is_refused),
        TEST(without_a_name_the_provider_is_the_users_or_ours),
        TEST(an_interface_goes_by_name_address_or_network),
        TEST(links_go_over_ipv6),
        TEST(links_go_over_link_local_addresses),
        TEST(a_full_port_range_is_named),
        TEST(nonsense_in_the_configuration_is_refused),
        TEST(closing_gives_back_all_descriptors),
    };

    if (argc == 2)
        cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
