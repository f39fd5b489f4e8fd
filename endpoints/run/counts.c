/* Counts what happens in a run, for the report of --stats. */
#include "endpoints/run/counts.h"

#include "endpoints/run/stats_json.h"

void ep_run_counts_usage(struct run_counts *counts,
                         const struct job_usage *usage)
{
    struct job_usage *all = &counts->daemons;

    if (usage->rss_peak_bytes > all->rss_peak_bytes)
        all->rss_peak_bytes = usage->rss_peak_bytes;
    all->cpu_us += usage->cpu_us;
    all->refused_peers += usage->refused_peers;
    all->frames_up += usage->frames_up;
    all->frames_down += usage->frames_down;
    all->daemons += usage->daemons;
    all->lines_in_pieces += usage->lines_in_pieces;
}

void ep_run_counts_repair(struct run_counts *counts, uint64_t away_us)
{
    counts->repairs++;
    if (away_us > counts->repair_us_max)
        counts->repair_us_max = away_us;
}

void ep_run_counts_fill(const struct run_counts *counts, struct ep_stats *stats)
{
    const struct job_usage *daemons = &counts->daemons;

    stats->launch_s = (double)counts->launch_ns / 1e9;
    stats->stdout_bytes = counts->output_bytes[OV_CHANNEL_STDOUT];
    stats->stderr_bytes = counts->output_bytes[OV_CHANNEL_STDERR];
    stats->stddiag_bytes = counts->output_bytes[OV_CHANNEL_STDDIAG];
    stats->daemons.count = (uint32_t)daemons->daemons;
    stats->daemons.rss_peak_bytes_max = daemons->rss_peak_bytes;
    stats->daemons.cpu_s_sum = (double)daemons->cpu_us / 1e6;
    stats->daemons.lines_in_pieces = daemons->lines_in_pieces;
    stats->frames.up = daemons->frames_up;
    stats->frames.down = daemons->frames_down;
    stats->repairs.count = counts->repairs;
    stats->repairs.longest_s = (double)counts->repair_us_max / 1e6;
    stats->refused_peers = daemons->refused_peers;
}
