/* The hub over the real transport: addresses, and how a node finds out that the
 * root is gone. Two hubs run in one process, the root and node 1, on
 * loopback. */
#include "config.h"

#include "endpoints/hub/hub.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <event2/event.h>

#include <cmocka.h>

#include "overlay/base/err.h"
#include "tests/unit/rig.h"

enum { ROOT, NODE, HUBS };

struct rig {
    struct event_base *base;
    struct ep_auth auth;
    struct ep_hub *hub[HUBS];
    unsigned joined, gone, lost, refused;
    uint16_t reason; /* the reason of the last refusal */
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

static void on_consume(void *arg, uint32_t index, const struct ov_act *act,
                       const struct ov_slice *slice)
{
    (void)arg;
    (void)index;
    (void)act;
    (void)slice;
    fail_msg("nothing is sent here");
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

static void on_end(void *arg, uint32_t index, enum ov_end why)
{
    (void)index;
    (void)why;
    ((struct rig *)arg)->lost++;
}

static void on_refused(void *arg, uint32_t index, uint32_t parent,
                       uint16_t reason)
{
    struct rig *rig = arg;

    (void)index;
    assert_int_equal(parent, 0);
    rig->refused++;
    rig->reason = reason;
}

static void on_root_gone(void *arg)
{
    ((struct rig *)arg)->gone++;
}

static const struct ep_hub_events events = {
    .on_read = on_read,
    .on_consume = on_consume,
    .on_joined = on_joined,
    .on_lost = on_lost,
    .on_end = on_end,
    .on_refused = on_refused,
    .on_root_gone = on_root_gone,
};

static struct ep_hub *open_hub(struct rig *rig, uint32_t node)
{
    static const uint32_t numbers[HUBS] = {ROOT, NODE};
    struct ep_hub_cfg cfg = {
        .base = rig->base,
        .auth = &rig->auth,
        .nodes = &numbers[node],
        .nodes_count = 1,
        .inputs = 1,
        .events = &events,
        .arg = rig,
        .overlay = ov_cfg_default((struct topo_tree){.nodes = 2, .arity = 1}),
    };
    char why[EP_WHY_MAX] = "";
    struct ep_hub *hub = NULL;

    cfg.transport = (struct ep_transport_cfg){
        .is_local = true,
        .frame_bytes = cfg.overlay.frame_bytes,
        .posted_receives = 4,
        .send_slots = cfg.overlay.send_slots,
    };
    assert_int_equal(ep_transport_load(NULL, &cfg.ops, why), 0);
    if (ep_hub_open(&cfg, &hub, why))
        fail_msg("%s", why);
    return hub;
}

static int start(void **state)
{
    struct rig *rig = calloc(1, sizeof(*rig));

    assert_non_null(rig);
    *state = rig;
    rig->base = event_base_new();
    assert_non_null(rig->base);
    assert_int_equal(ep_auth_generate(&rig->auth), 0);
    for (uint32_t i = 0; i < HUBS; i++)
        rig->hub[i] = open_hub(rig, i);
    return 0;
}

static int stop(void **state)
{
    struct rig *rig = *state;

    for (unsigned i = 0; i < HUBS; i++)
        ep_hub_close(rig->hub[i]);
    event_base_free(rig->base);
    ep_auth_fini(&rig->auth);
    free(rig);
    return 0;
}

/* Node 1 is told where the root listens after it has begun to look for the
 * root. */
static void join(struct rig *rig)
{
    struct ep_boot_peer root;

    for (unsigned i = 0; i < HUBS; i++)
        ep_hub_start(rig->hub[i]);
    assert_null(ep_hub_address(rig->hub[NODE], 0));
    assert_false(ep_hub_was_linked(rig->hub[NODE], 0));
    ep_hub_self(rig->hub[ROOT], &root);
    assert_int_equal(ep_hub_peer(rig->hub[NODE], &root), 0);
    rig_run_until(rig->base, &rig->joined, 1);
    assert_true(ep_hub_was_linked(rig->hub[NODE], 0));
    assert_string_equal(ep_hub_address(rig->hub[NODE], 0), root.address);
}

static uint64_t rejected(const struct rig *rig)
{
    struct ep_hub_stats stats;

    ep_hub_stats(rig->hub[ROOT], &stats);
    assert_int_equal(stats.refused_peers, 0);
    return stats.transport.rejected;
}

/* The root answers each probe; it calls no callback for it and does not count a
 * refused peer. One probe is under way at a time, so when the third is answered
 * the answers to two have come. */
static void a_root_that_lives_is_not_gone(void **state)
{
    struct rig *rig = *state;

    join(rig);
    while (rejected(rig) < 3) {
        ep_hub_ask_root(rig->hub[NODE]);
        event_base_loop(rig->base, EVLOOP_ONCE);
    }
    assert_int_equal(rig->gone, 0);
    assert_int_equal(rig->refused, 0);
}

/* A launcher that is about to end says so, though it still listens. */
static void a_root_that_leaves_says_so(void **state)
{
    struct rig *rig = *state;

    join(rig);
    ep_hub_leave(rig->hub[ROOT]);
    ep_hub_ask_root(rig->hub[NODE]);
    rig_run_until(rig->base, &rig->gone, 1);
    assert_true(rejected(rig) >= 1);
    assert_int_equal(rig->gone, 1);
}

/* Nothing listens at the address any longer: the system refuses the
 * connection. */
static void a_dead_root_is_gone(void **state)
{
    struct rig *rig = *state;

    join(rig);
    ep_hub_close(rig->hub[ROOT]);
    rig->hub[ROOT] = NULL;
    ep_hub_ask_root(rig->hub[NODE]);
    rig_run_until(rig->base, &rig->gone, 1);
    assert_int_equal(rig->gone, 1);
}

/* Before the first link a refusal by the system may come from a firewall: the
 * node goes on trying. */
static void a_root_never_reached_is_not_gone(void **state)
{
    struct rig *rig = *state;
    struct ep_boot_peer root;
    struct ep_hub_stats stats;

    ep_hub_self(rig->hub[ROOT], &root);
    ep_hub_close(rig->hub[ROOT]);
    rig->hub[ROOT] = NULL;
    ep_hub_start(rig->hub[NODE]);
    assert_int_equal(ep_hub_peer(rig->hub[NODE], &root), 0);
    ep_hub_ask_root(rig->hub[NODE]);
    /* The root comes back at another address. */
    rig->hub[ROOT] = open_hub(rig, 0);
    ep_hub_start(rig->hub[ROOT]);
    for (unsigned i = 0; i < 20; i++)
        event_base_loop(rig->base, EVLOOP_ONCE | EVLOOP_NONBLOCK);
    ep_hub_self(rig->hub[ROOT], &root);
    assert_int_equal(ep_hub_peer(rig->hub[NODE], &root), 0);
    rig_run_until(rig->base, &rig->joined, 1);
    assert_int_equal(rig->gone, 0);
    ep_hub_stats(rig->hub[ROOT], &stats);
    assert_int_equal(stats.refused_peers, 0);
}

/* A node that has left ignores everything: frames, words of its owner,
 * addresses. All buffers are given back, otherwise closing would fail. */
static void who_has_left_is_deaf(void **state)
{
    struct rig *rig = *state;
    struct ep_boot_peer self;
    struct ov_buf *buf = ep_hub_buf(rig->hub[ROOT]);

    join(rig);
    assert_non_null(buf);
    ep_hub_leave(rig->hub[NODE]);
    ep_hub_ready(rig->hub[NODE], 0, 0);
    ep_hub_consumed(rig->hub[NODE], 0, 0, 1, 0);
    ep_hub_ask_root(rig->hub[NODE]);
    ep_hub_self(rig->hub[ROOT], &self);
    assert_int_equal(ep_hub_peer(rig->hub[NODE], &self), 0);
    ep_hub_leave(rig->hub[ROOT]);
    ep_hub_down(rig->hub[ROOT], 0, buf, 8, 0);
    for (unsigned i = 0; i < 100; i++)
        event_base_loop(rig->base, EVLOOP_ONCE | EVLOOP_NONBLOCK);
    assert_int_equal(rig->gone, 0);
    assert_int_equal(rejected(rig), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_root_that_lives_is_not_gone),
        TEST(a_root_that_leaves_says_so),
        TEST(a_dead_root_is_gone),
        TEST(a_root_never_reached_is_not_gone),
        TEST(who_has_left_is_deaf),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
