/* When a daemon ends after its starter has gone: the test starts xylemd itself,
 * and runs hubs above it in the tree. Silence counts only after an hour and the
 * daemon gives up after two, so what ends soon does not end because of any time
 * limit. */
#include "config.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <event2/event.h>

#include <cmocka.h>

#include "endpoints/boot/boot.h"
#include "endpoints/hub/hub.h"
#include "endpoints/hub/session.h"
#include "tests/unit/rig.h"

enum { HEARTBEAT_MS = 3600 * 1000, NODE_INPUTS = 2 };

struct rig {
    struct event_base *base;
    struct event *output; /* the daemon's output is readable */
    struct ep_boot_config config;
    struct ep_hub *hub; /* the hub of the daemon's parent */
    uint32_t parent;
    pid_t pid;     /* the daemon's pid; 0: its end was waited for */
    int to, from;  /* the daemon's stdin, and its stdout */
    unsigned over; /* the daemon's stdout has ended */
    unsigned lost, joined;
};

static void on_read(void *arg, uint32_t index, uint16_t input,
                    uint32_t max_bytes, struct ov_read *read)
{
    (void)arg;
    (void)index;
    (void)input;
    (void)max_bytes;
    *read = (struct ov_read){.state = OV_INPUT_IDLE};
}

static void on_joined(void *arg)
{
    ((struct rig *)arg)->joined++;
}

static void on_lost(void *arg, uint32_t node)
{
    (void)node;
    ((struct rig *)arg)->lost++;
}

static const struct ep_hub_events events = {
    .on_read = on_read,
    .on_joined = on_joined,
    .on_lost = on_lost,
};

/* --- the daemon */

static void on_output(evutil_socket_t fd, short what, void *arg)
{
    struct rig *rig = arg;
    char mem[1024];

    (void)what;
    if (read(fd, mem, sizeof(mem)) == 0) {
        event_del(rig->output);
        rig->over++;
    }
}

/* Starts the daemon before this process has anything of a fabric that it could
 * inherit. This uses no fork(): libfabric 1.11 would end the child once one of
 * the tests has opened it. */
static void start_daemon(struct rig *rig)
{
    const char *top = getenv("top_builddir");
    char path[4096], *const argv[] = {path, "--boot", NULL};
    posix_spawn_file_actions_t actions;
    int to[2], from[2];

    snprintf(path, sizeof(path), "%s/commands/xylemd", top != NULL ? top : ".");
    assert_int_equal(pipe2(to, O_CLOEXEC) | pipe2(from, O_CLOEXEC), 0);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, to[0], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, from[1], STDOUT_FILENO);
    assert_int_equal(
        posix_spawn(&rig->pid, path, &actions, NULL, argv, environ), 0);
    posix_spawn_file_actions_destroy(&actions);
    close(to[0]);
    close(from[1]);
    rig->to = to[1];
    rig->from = from[0];
    rig->output =
        event_new(rig->base, rig->from, EV_READ | EV_PERSIST, on_output, rig);
    assert_non_null(rig->output);
    assert_int_equal(event_add(rig->output, NULL), 0);
}

static int start(void **state)
{
    struct rig *rig = calloc(1, sizeof(*rig));

    assert_non_null(rig);
    *state = rig;
    rig->base = event_base_new();
    assert_non_null(rig->base);
    start_daemon(rig);
    return 0;
}

static void leave_daemon(struct rig *rig)
{
    if (rig->to >= 0)
        close(rig->to);
    rig->to = -1;
}

static void close_hub(struct rig *rig)
{
    ep_hub_close(rig->hub);
    rig->hub = NULL;
}

static int stop(void **state)
{
    struct rig *rig = *state;

    leave_daemon(rig);
    if (rig->pid > 0) {
        kill(rig->pid, SIGKILL);
        waitpid(rig->pid, NULL, 0);
    }
    event_free(rig->output);
    close(rig->from);
    close_hub(rig);
    event_base_free(rig->base);
    ep_boot_config_fini(&rig->config);
    free(rig);
    return 0;
}

/* --- the daemon's parent, and the tree */

static void tell(struct rig *rig, struct text_buf *text)
{
    assert_false(text->bad);
    assert_int_equal(write(rig->to, text->at, text->len_bytes),
                     text->len_bytes);
    text_buf_fini(text);
}

static void configure(struct rig *rig, struct topo_tree tree, uint32_t node)
{
    struct ep_boot_config *config = &rig->config;
    struct ep_session_sizes sizes = ep_session_sizes(tree, 1);

    config->tree = tree;
    config->launcher = EP_LAUNCHER_SSH;
    config->heartbeat_ms = HEARTBEAT_MS;
    config->launch_timeout_ms = HEARTBEAT_MS;
    assert_int_equal(ep_auth_generate(&config->auth), 0);
    assert_int_equal(job_set_string(&config->interface, "lo"), 0);
    assert_int_equal(ep_session_pack(config, &sizes, NODE_INPUTS), 0);
    assert_int_equal(
        ep_boot_add_hosted(config, (struct topo_range){node, node}), 0);
    rig->parent = topo_tree_parent(&config->tree, node);
}

static void open_parent(struct rig *rig)
{
    struct ep_hub_cfg cfg = {
        .base = rig->base,
        .auth = &rig->config.auth,
        .nodes = &rig->parent,
        .nodes_count = 1,
        .events = &events,
        .arg = rig,
    };
    char why[EP_BOOT_WHY_MAX] = "";

    if (ep_session_open(&rig->config, &cfg, 0, &rig->hub, why))
        fail_msg("%s", why);
    ep_hub_start(rig->hub);
}

/* Sends the start-up text: the daemon hosts that node of the tree, and knows
 * where its parent is. */
static void boot(struct rig *rig, struct topo_tree tree, uint32_t node)
{
    char why[EP_BOOT_WHY_MAX] = "";
    struct text_buf text = {0};
    struct ep_boot_peer self;

    configure(rig, tree, node);
    open_parent(rig);
    assert_int_equal(ep_boot_encode(&rig->config, &text, why), 0);
    ep_hub_self(rig->hub, &self);
    ep_boot_peer_encode(&self, &text);
    tell(rig, &text);
}

/* True when the daemon's hello has come. Its parent has no parent itself, so
 * the daemon is only told that it was heard. */
static bool is_linked(const void *arg)
{
    const struct rig *rig = arg;
    struct ep_hub_stats stats;

    ep_hub_stats(rig->hub, &stats);
    return stats.transport.received_frames > 0;
}

static void boot_until_linked(struct rig *rig)
{
    boot(rig, (struct topo_tree){.nodes = 4, .arity = 2}, 3);
    rig_run_until_true(rig->base, is_linked, rig);
    assert_int_equal(rig->over, 0);
}

static bool has_joined(const void *arg)
{
    const struct rig *rig = arg;

    return rig->joined > 0;
}

static bool is_over(const void *arg)
{
    const struct rig *rig = arg;

    return rig->over > 0;
}

static void await_end(struct rig *rig)
{
    int status = -1;

    rig_run_until_true(rig->base, is_over, rig);
    assert_int_equal(waitpid(rig->pid, &status, 0), rig->pid);
    rig->pid = 0;
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 1);
}

/* --- the tests */

static void one_that_knows_nothing_ends(void **state)
{
    struct rig *rig = *state;

    leave_daemon(rig);
    await_end(rig);
}

/* The launch was given up after the daemon had linked to its parent and before
 * the root's word that it has joined: there is no job that could go on. */
static void one_that_has_not_joined_ends_behind_its_starter(void **state)
{
    struct rig *rig = *state;

    boot_until_linked(rig);
    leave_daemon(rig);
    await_end(rig);
}

/* The daemon's parent ends together with the starter, as usually both are the
 * same process. */
static void one_that_has_not_joined_ends_behind_its_parent(void **state)
{
    struct rig *rig = *state;

    boot_until_linked(rig);
    close_hub(rig);
    leave_daemon(rig);
    await_end(rig);
}

/* True when the root was asked, which shows that the daemon has noticed the end
 * of its starter. */
static bool was_asked(const void *arg)
{
    const struct rig *rig = arg;
    struct ep_hub_stats stats;

    ep_hub_stats(rig->hub, &stats);
    return stats.transport.rejected > 0;
}

static void one_that_has_joined_stays_with_the_root(void **state)
{
    struct rig *rig = *state;

    boot(rig, (struct topo_tree){.nodes = 2, .arity = 2}, 1);
    rig_run_until_true(rig->base, has_joined, rig);
    leave_daemon(rig);
    rig_run_until_true(rig->base, was_asked, rig);
    assert_int_equal(rig->over, 0);
    assert_int_equal(rig->lost, 0);
    assert_int_equal(ep_hub_look(rig->hub, 0, 0).children, 1);
    close_hub(rig);
    await_end(rig);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(one_that_knows_nothing_ends),
        TEST(one_that_has_not_joined_ends_behind_its_starter),
        TEST(one_that_has_not_joined_ends_behind_its_parent),
        TEST(one_that_has_joined_stays_with_the_root),
    };

    signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
