/* Sizes and times: each rule of the check, and that the defaults keep every
 * rule. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "overlay/base/err.h"
#include "overlay/cfg.h"
#include "overlay/wire/frame.h"

static struct ov_cfg good(void)
{
    return ov_cfg_default((struct topo_tree){.nodes = 100, .arity = 8});
}

/* Returns the rule that the configuration breaks, or "good". */
static const char *fault(const struct ov_cfg *cfg)
{
    const char *why = "unset";
    int rc = ov_cfg_check(cfg, &why);

    assert_int_equal(rc, why == NULL ? 0 : OV_EINVAL);
    return why == NULL ? "good" : why;
}

/* Every arity and heartbeat that the programs accept has legal defaults. */
static void defaults_keep_every_rule(void **state)
{
    static const uint64_t beats_ns[] = {100000000, 1000000000, 10000000000,
                                        3600000000000};

    (void)state;
    for (uint32_t arity = 1; arity <= TOPO_ARITY_MAX; arity++) {
        struct ov_cfg cfg =
            ov_cfg_default((struct topo_tree){.nodes = 1, .arity = arity});

        assert_string_equal(fault(&cfg), "good");
        assert_int_equal(cfg.children_max, 2 * arity);
    }
    for (size_t i = 0; i < sizeof(beats_ns) / sizeof(beats_ns[0]); i++) {
        struct ov_cfg cfg = good();

        ov_times_set(&cfg.times, beats_ns[i]);
        assert_string_equal(fault(&cfg), "good");
        assert_true(cfg.times.heartbeat_ns == beats_ns[i]);
    }
}

#define BREAKS(change, rule)                                                   \
    do {                                                                       \
        struct ov_cfg c = good();                                              \
        change;                                                                \
        assert_string_equal(fault(&c), rule);                                  \
    } while (0)
#define KEEPS(change) BREAKS(change, "good")

/* One field at a time is set to each of its limits, and just beyond it. */
static void each_size_has_its_edges(void **state)
{
    const char *frame = "a frame must have from 4 KiB to 1 MiB";
    const char *up = "up_window_bytes must be at least frame_bytes plus 4096";
    const char *kept = "kept_max must be more than 4";
    const char *pieces = "batch_pieces must be from 1 to 16";
    const char *windows = "up_frames must be at least 1, down_frames and "
                          "control_frames at least 2";
    const char *slots = "data_slots must be at least 1 and below send_slots, "
                        "and send_slots at most 32";
    const char *product =
        "children_max plus 2, times up_frames, must be below 65535";
    const char *streams = "streams_max must be from 2 to 16";

    (void)state;
    BREAKS(c.plan.nodes = 0, "a tree must have at least one node");
    KEEPS(c.plan.nodes = UINT32_MAX);
    BREAKS(c.plan.arity = 0, "the arity must be from 1 to 1024");
    BREAKS(c.plan.arity = 1025, "the arity must be from 1 to 1024");
    BREAKS(c.frame_bytes = OV_FRAME_BYTES_MIN - 1, frame);
    KEEPS(c.frame_bytes = OV_FRAME_BYTES_MIN);
    KEEPS((c.frame_bytes = OV_FRAME_BYTES_MAX, c.up_window_bytes = 4 << 20));
    BREAKS(
        (c.frame_bytes = OV_FRAME_BYTES_MAX + 1, c.up_window_bytes = 4 << 20),
        frame);
    BREAKS(c.up_window_bytes = c.frame_bytes + OV_RESERVE_BYTES - 1, up);
    KEEPS(c.up_window_bytes = c.frame_bytes + OV_RESERVE_BYTES);
    BREAKS(c.kept_max = OV_KEPT_RESERVE, kept);
    KEEPS(c.kept_max = OV_KEPT_RESERVE + 1);
    BREAKS(c.batch_pieces = 0, pieces);
    KEEPS(c.batch_pieces = 1);
    BREAKS(c.batch_pieces = OV_PIECES_MAX + 1, pieces);
    BREAKS(c.up_frames = 0, windows);
    KEEPS(c.up_frames = 1);
    BREAKS(c.down_frames = 1, windows);
    KEEPS(c.down_frames = 2);
    BREAKS(c.control_frames = 1, windows);
    KEEPS(c.control_frames = 2);
    BREAKS(c.streams_max = 1, streams);
    KEEPS(c.streams_max = 2);
    KEEPS(c.streams_max = OV_STREAMS_MAX);
    BREAKS(c.streams_max = OV_STREAMS_MAX + 1, streams);
    BREAKS(c.children_max = 7, "children_max must be at least the arity");
    KEEPS(c.children_max = 8);
    BREAKS((c.children_max = 255, c.up_frames = 255), product);
    KEEPS((c.children_max = 254, c.up_frames = 255));
    BREAKS(c.records_max = 0, "records_max must be at least 1");
    KEEPS(c.records_max = 1);
    BREAKS(c.send_slots = OV_SEND_SLOTS_MAX + 1, slots);
    KEEPS(c.send_slots = OV_SEND_SLOTS_MAX);
    BREAKS(c.data_slots = 0, slots);
    BREAKS(c.data_slots = c.send_slots, slots);
    KEEPS(c.data_slots = (uint16_t)(c.send_slots - 1));
}

/* attempt < let-go < heartbeat, adoption >= 3 heartbeats + let-go, give-up
 * beyond adoption; each comparison is tested at its limit. */
static void timers_keep_their_order(void **state)
{
    const char *zero = "the attempt, refused, ack, base and stall times must "
                       "not be zero";

    (void)state;
    BREAKS(c.times.attempt_ns = c.times.letgo_ns,
           "the attempt time must be shorter than the let-go time");
    KEEPS(c.times.attempt_ns = c.times.letgo_ns - 1);
    BREAKS(c.times.letgo_ns = c.times.heartbeat_ns,
           "the let-go time must be shorter than the heartbeat time");
    BREAKS(c.times.adoption_ns =
               3 * c.times.heartbeat_ns + c.times.letgo_ns - 1,
           "the adoption time must be at least three heartbeat times plus the "
           "let-go time");
    KEEPS(c.times.adoption_ns = 3 * c.times.heartbeat_ns + c.times.letgo_ns);
    BREAKS(c.times.giveup_ns = c.times.adoption_ns,
           "the give-up time must be longer than the adoption time");
    KEEPS(c.times.giveup_ns = c.times.adoption_ns + 1);
    BREAKS(c.times.launch_ns = c.times.giveup_ns - 1,
           "the launch time must be at least the give-up time");
    KEEPS(c.times.launch_ns = 100 * c.times.giveup_ns);
    BREAKS(c.times.attempt_ns = 0, zero);
    BREAKS(c.times.refused_ns = 0, zero);
    BREAKS(c.times.ack_ns = 0, zero);
    BREAKS(c.times.base_ns = 0, zero);
    BREAKS(c.times.stall_ns = 0, zero);
    BREAKS(ov_times_set(&c.times, 0), "the attempt time must be shorter than "
                                      "the let-go time");
    BREAKS(ov_times_set(&c.times, 3), zero);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_keep_every_rule),
        cmocka_unit_test(each_size_has_its_edges),
        cmocka_unit_test(timers_keep_their_order),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
