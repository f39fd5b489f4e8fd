/* Sizes of a session keep to the bounds of memory, whatever the tree. */
#include "endpoints/hub/session.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "overlay/base/err.h"
#include "overlay/cfg.h"

enum {
    MIB = 1 << 20,
    LIBRARIES_BYTES = 14 * MIB, /* of the 32 MiB: code, libfabric, and frames in
                                 * flight */
    CHILDREN_MAX = 256,         /* more children are refused before anything
                                 * starts */
};

/* Returns the bytes that a node with this many children may hold in frames and
 * records. */
static uint64_t held_bytes(const struct ep_session_sizes *sizes,
                           uint64_t children)
{
    uint64_t frames = (children + 1) * sizes->posted_receives +
                      children * sizes->up_frames + sizes->down_frames;

    return frames * sizes->frame_bytes + sizes->up_window_bytes;
}

static void no_node_holds_more_than_its_bound(void **state)
{
    (void)state;
    for (uint32_t arity = 1; arity <= CHILDREN_MAX; arity++) {
        struct topo_tree tree = {.nodes = 100000, .arity = arity};
        struct ep_session_sizes sizes = ep_session_sizes(tree, 1);

        assert_true(held_bytes(&sizes, arity) <= 32 * MIB - LIBRARIES_BYTES);
    }
}

static void further_nodes_of_a_daemon_take_a_mebibyte_each(void **state)
{
    (void)state;
    for (uint32_t arity = 1; arity <= CHILDREN_MAX; arity++) {
        struct topo_tree tree = {.nodes = 1001, .arity = arity};
        struct ep_session_sizes sizes = ep_session_sizes(tree, 500);

        /* A node has one child on average. */
        assert_true(held_bytes(&sizes, 1) <= MIB);
    }
}

/* The parts of the budget fit into it: frames and unfinished lines of a daemon,
 * besides code and libraries. Each bound grows only with what it is said to
 * depend on; adopted nodes count up to the number that the launcher accepts. */
static void bounds_are_what_the_documents_say(void **state)
{
    struct topo_tree tree = {.nodes = 100000, .arity = 4};
    struct ep_session_sizes sizes = ep_session_sizes(tree, 1);

    (void)state;
    assert_true(held_bytes(&sizes, 11) + EP_SESSION_TAILS_BYTES + 6 * MIB <=
                ep_session_daemon_bytes(1, 0));
    assert_int_equal(ep_session_daemon_bytes(1, 0), 32 * MIB);
    assert_int_equal(ep_session_daemon_bytes(9, 100),
                     40 * MIB + UINT64_C(350) * 1024);
    assert_int_equal(ep_session_launcher_bytes(0, 0, 0), 32 * MIB);
    assert_int_equal(ep_session_launcher_bytes(1024, 2048, 1024), 70 * MIB);
    assert_int_equal(ep_session_launcher_bytes(0, 0, 4096),
                     ep_session_launcher_bytes(0, 0, 10000));
}

/* Small trees get large frames; the core accepts all sizes that are chosen. */
static void what_is_chosen_is_usable(void **state)
{
    (void)state;
    assert_int_equal(
        ep_session_sizes((struct topo_tree){.nodes = 33, .arity = 4}, 1)
            .frame_bytes,
        128 * 1024);
    for (uint32_t arity = 1; arity <= CHILDREN_MAX; arity++) {
        for (uint32_t shared = 1; shared <= 500; shared += 499) {
            struct topo_tree tree = {.nodes = 1001, .arity = arity};
            struct ep_session_sizes sizes = ep_session_sizes(tree, shared);
            struct ov_cfg cfg = ov_cfg_default(tree);
            const char *why = NULL;

            cfg.frame_bytes = sizes.frame_bytes;
            cfg.up_window_bytes = sizes.up_window_bytes;
            cfg.up_frames = sizes.up_frames;
            cfg.down_frames = sizes.down_frames;
            assert_int_equal(ov_cfg_check(&cfg, &why), 0);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_node_holds_more_than_its_bound),
        cmocka_unit_test(further_nodes_of_a_daemon_take_a_mebibyte_each),
        cmocka_unit_test(bounds_are_what_the_documents_say),
        cmocka_unit_test(what_is_chosen_is_usable),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
