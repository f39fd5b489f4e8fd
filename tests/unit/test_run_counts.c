/* The counters of a run, and where in the report they are. */
#include "endpoints/run/counts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "endpoints/run/stats_json.h"

/* Three reports of two daemons: all numbers differ, and so do their sums. */
static void words_of_daemons_are_summed_but_for_the_peak(void **state)
{
    static const struct job_usage words[] = {
        {.rss_peak_bytes = 500,
         .cpu_us = 1000000,
         .refused_peers = 1,
         .frames_up = 10,
         .frames_down = 100,
         .daemons = 1,
         .lines_in_pieces = 3},
        {.rss_peak_bytes = 900,
         .cpu_us = 2000000,
         .refused_peers = 4,
         .frames_up = 20,
         .frames_down = 200,
         .daemons = 1},
        {.rss_peak_bytes = 700, .cpu_us = 500000, .lines_in_pieces = 5},
    };
    struct run_counts counts = {0};
    struct ep_stats stats = {0};

    (void)state;
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        ep_run_counts_usage(&counts, &words[i]);
    ep_run_counts_fill(&counts, &stats);
    assert_int_equal(stats.daemons.count, 2);
    assert_int_equal(stats.daemons.rss_peak_bytes_max, 900);
    assert_float_equal(stats.daemons.cpu_s_sum, 3.5, 1e-9);
    assert_int_equal(stats.daemons.lines_in_pieces, 8);
    assert_int_equal(stats.frames.up, 30);
    assert_int_equal(stats.frames.down, 300);
    assert_int_equal(stats.refused_peers, 5);
}

static void repairs_are_counted_and_the_longest_is_kept(void **state)
{
    struct run_counts counts = {0};
    struct ep_stats stats = {0};

    (void)state;
    ep_run_counts_repair(&counts, 250000);
    ep_run_counts_repair(&counts, 1500000);
    ep_run_counts_repair(&counts, 1000000);
    ep_run_counts_fill(&counts, &stats);
    assert_int_equal(stats.repairs.count, 3);
    assert_float_equal(stats.repairs.longest_s, 1.5, 1e-9);
}

static void bytes_and_the_launch_stand_in_their_places(void **state)
{
    const struct run_counts counts = {
        .launch_ns = 2500000000,
        .output_bytes = {[OV_CHANNEL_STDOUT] = 2,
                         [OV_CHANNEL_STDERR] = 3,
                         [OV_CHANNEL_STDDIAG] = 4},
    };
    struct ep_stats stats = {0};

    (void)state;
    ep_run_counts_fill(&counts, &stats);
    assert_float_equal(stats.launch_s, 2.5, 1e-9);
    assert_int_equal(stats.stdout_bytes, 2);
    assert_int_equal(stats.stderr_bytes, 3);
    assert_int_equal(stats.stddiag_bytes, 4);
}

/* Where nothing was counted, the report stays as it was. */
static void what_comes_from_elsewhere_stays(void **state)
{
    static const uint32_t lost = 7;
    const struct ep_stats before = {
        .nodes = 1,
        .procs = 2,
        .arity = 3,
        .depth = 4,
        .provider = "tcp",
        .wall_s = 5,
        .exit_code = 6,
        .launcher = {.rss_peak_bytes = 7, .rss_bound_bytes = 8, .cpu_s = 9},
        .daemons = {.rss_bound_bytes = 10},
        .lost_nodes = &lost,
        .lost_count = 1,
    };
    const struct run_counts counts = {0};
    struct ep_stats stats;

    (void)state;
    memcpy(&stats, &before, sizeof(stats));
    ep_run_counts_fill(&counts, &stats);
    assert_memory_equal(&stats, &before, sizeof(stats));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_of_daemons_are_summed_but_for_the_peak),
        cmocka_unit_test(repairs_are_counted_and_the_longest_is_kept),
        cmocka_unit_test(bytes_and_the_launch_stand_in_their_places),
        cmocka_unit_test(what_comes_from_elsewhere_stays),
    };

    return cmocka_run_group_tests_name("run_counts", tests, NULL, NULL);
}
