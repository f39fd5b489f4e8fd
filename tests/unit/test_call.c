/* Calls: the gate of a parent and its callers find each other although
 * strangers use the same ports, and no caller without the key gets in. The
 * sockets are real loopback sockets; the ports are those that are free. */
#include <arpa/inet.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>
#include <event2/event.h>

#include "endpoints/boot/boot_env.h"
#include "endpoints/boot/call.h"
#include "endpoints/boot/caller.h"
#include "endpoints/boot/gate.h"
#include "endpoints/sys/why.h"
#include "overlay/base/err.h"

enum { STRANGERS = 3 };

static struct event_base *base;
static struct ep_boot_config config;
static int called_fd, answer_fd;
static uint32_t called_node;
static char answer_why[EP_BOOT_WHY_MAX];
static unsigned told;

static void on_call(void *arg, uint32_t node, int fd)
{
    (void)arg;
    called_node = node;
    called_fd = fd;
    told++;
}

static void on_answer(void *arg, int fd, const char *why)
{
    (void)arg;
    answer_fd = fd;
    strcpy(answer_why, why);
    told++;
}

static int enter(void **state)
{
    (void)state;
    base = event_base_new();
    config = (struct ep_boot_config){.tree = {.nodes = 4, .arity = 1},
                                     .launch_timeout_ms = 60000};
    assert_int_equal(ep_auth_generate(&config.auth), 0);
    for (uint32_t node = 1; node < 4; node++)
        assert_int_equal(ep_boot_add_host(&config, node, "127.0.0.1"), 0);
    called_fd = answer_fd = -1;
    told = 0;
    return base == NULL;
}

static int leave(void **state)
{
    (void)state;
    if (called_fd >= 0)
        close(called_fd);
    if (answer_fd >= 0)
        close(answer_fd);
    event_base_free(base);
    ep_boot_config_fini(&config);
    return 0;
}

static struct ep_gate *gate_of(uint32_t node, bool any_port)
{
    struct ep_gate_cfg cfg = {.base = base,
                              .auth = &config.auth,
                              .node = node,
                              .any_port = any_port,
                              .port_first = config.port_first,
                              .port_last = config.port_last,
                              .on_call = on_call};
    struct ep_gate *gate;
    char why[EP_WHY_MAX];

    assert_int_equal(ep_gate_open(&cfg, &gate, why), 0);
    return gate;
}

static struct ep_caller *caller_of(uint32_t node)
{
    struct ep_caller_cfg cfg = {.base = base,
                                .config = &config,
                                .node = node,
                                .parent = node - 1,
                                .on_answer = on_answer};
    struct ep_caller *caller;

    assert_int_equal(ep_caller_open(&cfg, &caller), 0);
    return caller;
}

static void run_until(unsigned wanted)
{
    while (told < wanted)
        assert_int_equal(event_base_loop(base, EVLOOP_ONCE), 0);
}

/* One end reads what the other writes: no byte was lost between the proof and
 * the text. */
static void assert_connected(void)
{
    char text[4] = "";
    struct pollfd ready = {.fd = called_fd, .events = POLLIN};

    assert_true(called_fd >= 0);
    assert_true(answer_fd >= 0);
    assert_int_equal(write(answer_fd, "abc", 3), 3);
    assert_int_equal(poll(&ready, 1, 60000), 1);
    assert_int_equal(read(called_fd, text, 3), 3);
    assert_string_equal(text, "abc");
}

/* Listens on the ports where the gate of the node would listen first; a port
 * that cannot be opened has a stranger already. */
static void occupy(uint32_t node, int fds[STRANGERS])
{
    struct ep_auth auth;

    assert_int_equal(ep_call_auth(&config.auth, &auth), 0);
    for (unsigned i = 0; i < STRANGERS; i++) {
        struct sockaddr_in addr = {.sin_family = AF_INET};

        addr.sin_addr.s_addr = htonl(INADDR_ANY);
        addr.sin_port = htons(ep_call_port(&auth, node, 0, 0, i));
        fds[i] = socket(AF_INET, SOCK_STREAM, 0);
        if (bind(fds[i], (struct sockaddr *)&addr, sizeof(addr)) == 0)
            assert_int_equal(listen(fds[i], 8), 0);
    }
}

static void child_finds_the_gate_of_its_parent(void **state)
{
    struct ep_gate *gate = gate_of(2, false);
    struct ep_caller *caller = caller_of(3);

    (void)state;
    run_until(2);
    assert_int_equal(called_node, 3);
    assert_connected();
    ep_caller_close(caller);
    ep_gate_close(gate);
}

/* The caller begins when there is no gate yet. */
static void child_waits_for_a_parent_that_comes_late(void **state)
{
    struct ep_caller *caller = caller_of(3);
    struct ep_gate *gate;

    (void)state;
    assert_int_equal(event_base_loop(base, EVLOOP_NONBLOCK), 0);
    gate = gate_of(2, false);
    run_until(2);
    assert_connected();
    ep_caller_close(caller);
    ep_gate_close(gate);
}

/* Strangers listen on the first ports: one that sends nothing, and gates of
 * other nodes of the session. */
static void strangers_at_the_ports_are_passed(void **state)
{
    int strangers[STRANGERS];
    struct ep_gate *gate;
    struct ep_caller *caller;

    (void)state;
    occupy(2, strangers);
    gate = gate_of(2, false);
    caller = caller_of(3);
    run_until(2);
    assert_int_equal(called_node, 3);
    assert_connected();
    ep_caller_close(caller);
    ep_gate_close(gate);
    for (unsigned i = 0; i < STRANGERS; i++)
        close(strangers[i]);
}

/* All gates share three ports: the key shows which gate is the parent's. */
static void gates_of_other_nodes_are_passed(void **state)
{
    struct ep_gate *gates[3];
    struct ep_caller *caller;
    struct ep_auth auth;

    (void)state;
    assert_int_equal(ep_call_auth(&config.auth, &auth), 0);
    config.port_first = ep_call_port(&auth, 2, 0, 0, 0);
    config.port_last = (uint16_t)(config.port_first + 7);
    if (config.port_last < config.port_first)
        config.port_first = (uint16_t)((config.port_last = 65535) - 7);
    for (uint32_t i = 0; i < 3; i++)
        gates[i] = gate_of(i, false);
    caller = caller_of(3);
    run_until(2);
    assert_int_equal(called_node, 3);
    assert_connected();
    ep_caller_close(caller);
    for (unsigned i = 0; i < 3; i++)
        ep_gate_close(gates[i]);
}

static void child_of_the_launcher_is_told_where_to_call(void **state)
{
    struct ep_gate *gate = gate_of(0, true);
    struct ep_caller *caller;

    (void)state;
    assert_int_equal(ep_gate_list(gate, &config), 0);
    assert_true(config.gates.count > 0);
    caller = caller_of(1);
    run_until(2);
    assert_int_equal(called_node, 1);
    assert_connected();
    ep_caller_close(caller);
    ep_gate_close(gate);
}

/* Connects to the gate; returns the socket when its greeting has arrived. */
static int visit(const struct ep_gate *gate)
{
    struct sockaddr_in addr = {.sin_family = AF_INET};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    struct pollfd ready = {.fd = fd, .events = POLLIN};

    assert_int_equal(ep_gate_list(gate, &config), 0);
    addr.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    addr.sin_port = htons((uint16_t)atoi(strrchr(config.gates.at[0], ':') + 1));
    assert_int_equal(connect(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
    while (poll(&ready, 1, 0) == 0)
        assert_int_equal(event_base_loop(base, EVLOOP_ONCE), 0);
    return fd;
}

/* The gate is delayed until the caller has given up: the gate reports the next
 * call, not the one that was given up. */
static void who_has_left_is_not_told(void **state)
{
    struct ep_auth_hello hello = {.node = 3, .target = 2, .attach = 1};
    uint8_t greeting[EP_CALL_GREETING_BYTES], said[EP_AUTH_HELLO_BYTES];
    struct ep_gate *gate = gate_of(2, false);
    struct ep_caller *caller;
    struct ep_auth auth;
    int fd = visit(gate);

    (void)state;
    assert_int_equal(recv(fd, greeting, sizeof(greeting), MSG_WAITALL),
                     sizeof(greeting));
    assert_int_equal(ep_call_auth(&config.auth, &auth), 0);
    ep_auth_hello_make(&auth, ep_call_nonce(greeting), &hello, said);
    ep_auth_fini(&auth);
    assert_int_equal(write(fd, said, sizeof(said)), sizeof(said));
    close(fd);
    caller = caller_of(3);
    run_until(2);
    assert_connected();
    ep_caller_close(caller);
    ep_gate_close(gate);
}

/* A caller with another key is turned away, and reports this when its time has
 * passed; the gate reports nothing. */
static void caller_with_another_key_is_turned_away(void **state)
{
    struct ep_gate *gate;
    struct ep_caller *caller;
    struct ep_auth mine = config.auth, other;

    (void)state;
    gate = gate_of(0, true);
    assert_int_equal(ep_gate_list(gate, &config), 0);
    assert_int_equal(ep_auth_generate(&other), 0);
    config.auth = other;
    config.launch_timeout_ms = 3000;
    caller = caller_of(1);
    run_until(1);
    assert_int_equal(answer_fd, -1);
    assert_int_equal(called_fd, -1);
    assert_non_null(strstr(answer_why, "another program answers there"));
    config.auth = mine;
    ep_caller_close(caller);
    ep_gate_close(gate);
}

static void caller_can_be_closed_at_any_time(void **state)
{
    (void)state;
    ep_caller_close(caller_of(3));
    ep_caller_close(NULL);
    ep_gate_close(NULL);
}

/* Ports are within the range, and each is tried once. */
static void ports_differ_and_keep_to_the_range(void **state)
{
    struct ep_auth auth;
    bool seen[8] = {false};
    unsigned count = 0;

    (void)state;
    assert_int_equal(ep_call_auth(&config.auth, &auth), 0);
    for (unsigned i = 0; ep_call_port(&auth, 5, 20000, 20007, i) != 0; i++) {
        uint16_t port = ep_call_port(&auth, 5, 20000, 20007, i);

        assert_in_range(port, 20000, 20007);
        assert_false(seen[port - 20000]);
        seen[port - 20000] = true;
        count++;
    }
    assert_int_equal(count, 8);
    assert_int_equal(ep_call_port(&auth, 5, 0, 0, EP_CALL_PORTS_MAX), 0);
    assert_memory_not_equal(auth.key, config.auth.key, sizeof(auth.key));
}

/* The memory of the environment no longer contains any byte of the text
 * afterwards. */
static void start_up_text_leaves_the_environment(void **state)
{
    enum { LEN = EP_BOOT_ENV_PIECE_BYTES + 1000 };
    struct text_buf text = {0}, taken;
    static char piece[EP_BOOT_ENV_PIECE_BYTES];
    char **entries, *value;

    (void)state;
    for (unsigned i = 0; i < LEN; i++)
        text_buf_add(&text, &"0123456789\n"[i % 11], 1);
    assert_int_equal(ep_boot_env_make(&text, &entries), 0);
    assert_non_null(entries[1]);
    assert_null(entries[2]);
    assert_int_equal(putenv(entries[0]), 0);
    assert_int_equal(putenv(entries[1]), 0);
    value = getenv("XYLEM_BOOT_0");
    assert_int_equal(ep_boot_env_take(&taken), 0);
    assert_int_equal(taken.len_bytes, LEN);
    assert_memory_equal(taken.at, text.at, LEN);
    assert_null(getenv("XYLEM_BOOT_0"));
    assert_null(getenv("XYLEM_BOOT_1"));
    for (unsigned i = 0; i < EP_BOOT_ENV_PIECE_BYTES; i++)
        assert_int_equal(value[i], 0);
    text_buf_fini(&taken);
    assert_int_equal(ep_boot_env_take(&taken), OV_ENOENT);
    for (unsigned i = 0; i <= EP_BOOT_ENV_PIECES_MAX; i++)
        text_buf_add(&text, piece, sizeof(piece));
    ep_boot_env_free(entries);
    assert_int_equal(ep_boot_env_make(&text, &entries), OV_EINVAL);
    assert_null(entries);
    text_buf_fini(&text);
}

#define T(name) cmocka_unit_test_setup_teardown(name, enter, leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(child_finds_the_gate_of_its_parent),
        T(child_waits_for_a_parent_that_comes_late),
        T(strangers_at_the_ports_are_passed),
        T(gates_of_other_nodes_are_passed),
        T(child_of_the_launcher_is_told_where_to_call),
        T(who_has_left_is_not_told),
        T(caller_with_another_key_is_turned_away),
        T(caller_can_be_closed_at_any_time),
        T(ports_differ_and_keep_to_the_range),
        T(start_up_text_leaves_the_environment),
    };

    return cmocka_run_group_tests_name("call", tests, NULL, NULL);
}
