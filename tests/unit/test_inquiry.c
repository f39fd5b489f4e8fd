/* A root that refuses a node is gone when no other node is connected to it, and
 * not before. Three hubs run in one process on loopback: the root, node 1
 * beneath it and node 2 beneath that. A node that the root has to refuse is
 * given a port at which nothing listens. */
#include "config.h"

#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <event2/event.h>

#include <cmocka.h>

#include "endpoints/hub/hub.h"
#include "overlay/base/err.h"
#include "tests/unit/rig.h"

enum { HUBS = 3, LAST = 2 };

struct rig {
    struct event_base *base;
    struct ep_auth auth;
    struct ep_hub *hub[HUBS];
    unsigned joined, gone;
    int dead, mute; /* two sockets: one is only bound, one listens */
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
    (void)arg;
    (void)node;
}

static void on_end(void *arg, uint32_t index, enum ov_end why)
{
    (void)arg;
    (void)index;
    (void)why;
}

static void on_root_gone(void *arg)
{
    ((struct rig *)arg)->gone++;
}

static const struct ep_hub_events events = {
    .on_read = on_read,
    .on_joined = on_joined,
    .on_lost = on_lost,
    .on_end = on_end,
    .on_root_gone = on_root_gone,
};

static struct ep_hub *open_hub(struct rig *rig, uint32_t node)
{
    static const uint32_t numbers[HUBS] = {0, 1, 2};
    struct ep_hub_cfg cfg = {
        .base = rig->base,
        .auth = &rig->auth,
        .nodes = &numbers[node],
        .nodes_count = 1,
        .inputs = 1,
        .events = &events,
        .arg = rig,
        .overlay =
            ov_cfg_default((struct topo_tree){.nodes = HUBS, .arity = 1}),
    };
    char why[EP_WHY_MAX] = "";
    struct ep_hub *hub = NULL;

    cfg.transport = (struct ep_transport_cfg){
        .is_local = true,
        .frame_bytes = cfg.overlay.frame_bytes,
        .posted_receives = 4,
        .send_slots = cfg.overlay.send_slots,
        .unproved_ms = 5000,
    };
    assert_int_equal(ep_transport_load(NULL, &cfg.ops, why), 0);
    if (ep_hub_open(&cfg, &hub, why))
        fail_msg("%s", why);
    return hub;
}

static int bound(void)
{
    struct sockaddr_in any = {.sin_family = AF_INET,
                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    assert_true(fd >= 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&any, sizeof(any)), 0);
    return fd;
}

static void tell(struct rig *rig, uint32_t whom, uint32_t of)
{
    struct ep_boot_peer peer;

    ep_hub_self(rig->hub[of], &peer);
    assert_int_equal(ep_hub_peer(rig->hub[whom], &peer), 0);
}

/* Starts the hubs; all have joined, and know it. */
static int start(void **state)
{
    struct rig *rig = calloc(1, sizeof(*rig));

    assert_non_null(rig);
    *state = rig;
    rig->dead = bound();
    rig->mute = bound();
    assert_int_equal(listen(rig->mute, 1), 0);
    rig->base = event_base_new();
    assert_non_null(rig->base);
    assert_int_equal(ep_auth_generate(&rig->auth), 0);
    for (uint32_t i = 0; i < HUBS; i++) {
        rig->hub[i] = open_hub(rig, i);
        ep_hub_start(rig->hub[i]);
    }
    tell(rig, 1, 0);
    tell(rig, 2, 0);
    tell(rig, 2, 1);
    rig_run_until(rig->base, &rig->joined, 1);
    while (!ep_hub_look(rig->hub[LAST], 0, 0).is_attached)
        event_base_loop(rig->base, EVLOOP_ONCE);
    return 0;
}

static int stop(void **state)
{
    struct rig *rig = *state;

    for (unsigned i = 0; i < HUBS; i++)
        ep_hub_close(rig->hub[i]);
    close(rig->dead);
    close(rig->mute);
    event_base_free(rig->base);
    ep_auth_fini(&rig->auth);
    free(rig);
    return 0;
}

/* Makes a hub believe that a node listens at this socket. */
static void mislead(struct rig *rig, uint32_t whom, uint32_t of, int socket)
{
    struct sockaddr_in at;
    socklen_t len_bytes = sizeof(at);
    struct ep_boot_peer peer;

    assert_int_equal(getsockname(socket, (struct sockaddr *)&at, &len_bytes),
                     0);
    ep_hub_self(rig->hub[of], &peer);
    snprintf(peer.address, sizeof(peer.address), "127.0.0.1:%u",
             (unsigned)ntohs(at.sin_port));
    assert_int_equal(ep_hub_peer(rig->hub[whom], &peer), 0);
}

static uint64_t answered(const struct rig *rig, uint32_t who)
{
    struct ep_hub_stats stats;

    ep_hub_stats(rig->hub[who], &stats);
    return stats.transport.rejected;
}

static void turn(struct rig *rig)
{
    for (unsigned i = 0; i < 100; i++)
        event_base_loop(rig->base, EVLOOP_ONCE | EVLOOP_NONBLOCK);
}

/* The node's parent is connected to the root, and says so when it has dialled
 * the root; three seconds later it is asked again. */
static void who_is_refused_alone_goes_on(void **state)
{
    struct rig *rig = *state;

    mislead(rig, LAST, 0, rig->dead);
    ep_hub_ask_root(rig->hub[LAST]);
    while (answered(rig, 1) < 2)
        event_base_loop(rig->base, EVLOOP_ONCE);
    turn(rig);
    assert_true(answered(rig, 0) >= 2);
    assert_int_equal(rig->gone, 0);
}

/* A parent whose dial is refused counts as connected to the root as long as
 * their link is up. */
static void a_link_is_the_better_witness(void **state)
{
    struct rig *rig = *state;
    uint64_t start_ns = rig_now_ns();

    mislead(rig, LAST, 0, rig->dead);
    mislead(rig, 1, 0, rig->dead);
    ep_hub_ask_root(rig->hub[LAST]);
    while (answered(rig, 1) < 1)
        event_base_loop(rig->base, EVLOOP_ONCE);
    turn(rig);
    assert_true(rig_now_ns() - start_ns >= UINT64_C(900000000));
    assert_int_equal(answered(rig, 0), 0);
    assert_int_equal(rig->gone, 0);
}

/* When all nodes are refused none waits: a node that asks makes the other one
 * ask. */
static void all_know_at_once_of_a_dead_root(void **state)
{
    struct rig *rig = *state;
    uint64_t start_ns = rig_now_ns();

    ep_hub_close(rig->hub[0]);
    rig->hub[0] = NULL;
    ep_hub_ask_root(rig->hub[LAST]);
    rig_run_until(rig->base, &rig->gone, 2);
    print_message("# both know after %.3f s\n",
                  (double)(rig_now_ns() - start_ns) / 1e9);
    assert_int_equal(rig->gone, 2);
}

/* A node that does not answer is waited for, three seconds, and no longer. */
static void silence_is_no_answer(void **state)
{
    struct rig *rig = *state;
    uint64_t start_ns = rig_now_ns();

    mislead(rig, LAST, 0, rig->dead);
    mislead(rig, LAST, 1, rig->mute);
    ep_hub_ask_root(rig->hub[LAST]);
    rig_run_until(rig->base, &rig->gone, 1);
    assert_true(rig_now_ns() - start_ns >= UINT64_C(2900000000));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(who_is_refused_alone_goes_on),
        TEST(a_link_is_the_better_witness),
        TEST(all_know_at_once_of_a_dead_root),
        TEST(silence_is_no_answer),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
