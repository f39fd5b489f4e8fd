/* Fills the report of --stats with what the run, the hub and others have
 * counted. */
#include "endpoints/run/stats.h"

#include "endpoints/run/counts.h"
#include "endpoints/run/down.h"
#include "endpoints/run/exits.h"
#include "endpoints/run/impl.h"
#include "endpoints/run/nodes.h"
#include "endpoints/run/screen.h"
#include "endpoints/run/stats_json.h"
#include "endpoints/console/bar_set.h"
#include "endpoints/output/folds.h"
#include "endpoints/output/shelf.h"
#include "endpoints/sys/clock.h"
#include "endpoints/sys/usage.h"
#include "topo/tree.h"

/* What a daemon may hold of progress bars and lines (daemon/sieve.h, held.h,
 * last.h): for all, and for each process. */
enum {
    BARS_BYTES = 5 << 20,
    LINES_BYTES = 73 << 20,
    LINES_PROC_BYTES = 1536,
};

/* Sets how much memory the launcher and a daemon should need at most. It
 * includes processes of further jobs if there may have been any. */
static void set_bounds(const struct run *r, struct ep_stats *stats)
{
    uint32_t spare = r->jobs.made > 0 ? RUN_SPARE_PROCS : 0, most = 0;
    uint32_t procs_all = r->jobs.next_number > r->own.desc.size
                             ? r->jobs.next_number
                             : r->own.desc.size;

    for (uint32_t node = 1; node <= r->plan.nodes_count; node++) {
        uint32_t procs = job_on_node(&r->own.desc, node);

        if (procs > most)
            most = procs;
    }
    stats->launcher.rss_bound_bytes = ep_session_launcher_bytes(
        r->plan.nodes_count, procs_all, r->counts.repairs);
    if (r->options.by_rank)
        stats->launcher.rss_bound_bytes += EP_SHELF_BYTES;
    if (r->options.fold != EP_FOLD_NONE)
        stats->launcher.rss_bound_bytes +=
            EP_FOLDS_BYTES(r->options.fold, r->own.desc.size);
    if (ep_run_screen() != 0)
        stats->launcher.rss_bound_bytes += EP_BARS_BYTES;
    stats->daemons.rss_bound_bytes = ep_session_daemon_bytes(
        r->plan.nodes_per_daemon,
        (uint64_t)r->plan.nodes_per_daemon * (most + spare));
    if (r->own.desc.filter.keeps_last || r->jobs.have_bars)
        stats->daemons.rss_bound_bytes += BARS_BYTES;
    if (job_filter_has_rules(&r->own.desc.filter))
        stats->daemons.rss_bound_bytes +=
            LINES_BYTES +
            (uint64_t)LINES_PROC_BYTES * r->plan.nodes_per_daemon * most;
}

int ep_run_stats_write(struct run *r)
{
    char why[EP_WHY_MAX] = "";
    int rc;
    struct ep_hub_stats hub;
    struct ep_stats stats = {
        .nodes = r->plan.nodes_count,
        .procs = r->own.desc.size,
        .arity = r->plan.config.tree.arity,
        .depth = topo_tree_height(&r->plan.config.tree),
        .provider = ep_hub_provider(r->hub),
        .wall_s = (double)(ep_clock_ns() - r->plan.relaunch->start_ns) / 1e9,
        .stdin_bytes = ep_run_down_sent(r->down),
        .exit_code = ep_run_exit_code(r),
        .launcher = {.rss_peak_bytes = ep_usage_rss_peak_bytes(),
                     .cpu_s = (double)ep_usage_cpu_us() / 1e6},
        .lost_nodes = r->loss.places,
        .lost_count = r->loss.count,
        .proof = ep_proof_verdict(r->own.proof),
        .left = r->own.left,
    };

    ep_run_counts_fill(&r->counts, &stats);
    ep_hub_stats(r->hub, &hub);
    stats.frames.up += hub.frames_up;
    stats.frames.down += hub.frames_down;
    stats.refused_peers += hub.refused_peers;
    set_bounds(r, &stats);
    ep_run_exits_fill(&r->plan, &r->own.life, r->told.recent, &stats);
    rc = r->fds.stats < 0 ? ep_stats_write(r->options.stats, &stats, why)
                          : ep_stats_write_fd(r->fds.stats, &stats, why);
    r->fds.stats = -1;
    ep_run_exits_drop(&stats);
    if (rc == 0)
        return 0;
    ep_voice_say(&r->voice, "%s", why);
    return 1;
}
