/* Writes tables and sentences about a run. */
#include "sim/report.h"

#include <inttypes.h>
#include <string.h>

#include "sim/figure.h"
#include "sim/measure.h"
#include "sim/session.h"
#include "sim/tally.h"

enum sim_end sim_report_end(const struct sim_world *w)
{
    if (w->end.why[0] != '\0')
        return SIM_END_BROKEN;
    if (!w->end.is_over)
        return SIM_END_STUCK;
    if (w->launcher->session.code == SIM_CODE_TIMEOUT)
        return SIM_END_TIME;
    return w->launcher->goodbye_ns > 0 && w->launcher->lost_ns == SIM_NEVER
               ? SIM_END_WELL
               : SIM_END_LOSS;
}

/* --- figures */

/* The latest time of any level; SIM_NEVER when no process read stdin. */
uint64_t sim_report_stdin_ns(const struct sim_world *w)
{
    uint64_t last_ns = SIM_NEVER;

    for (uint32_t i = 0; i < w->measure->levels; i++) {
        const struct sim_level *level = &w->measure->level[i];

        if (level->stdin_first_ns != SIM_NEVER &&
            (last_ns == SIM_NEVER || level->stdin_last_ns > last_ns))
            last_ns = level->stdin_last_ns;
    }
    return last_ns;
}

uint64_t sim_report_shown_ns(const struct sim_world *w)
{
    uint64_t last_ns = SIM_NEVER;

    for (uint32_t i = 0; i < w->measure->levels; i++) {
        const struct sim_level *level = &w->measure->level[i];

        if (level->shown_first_ns != SIM_NEVER &&
            (last_ns == SIM_NEVER || level->shown_last_ns > last_ns))
            last_ns = level->shown_last_ns;
    }
    return last_ns;
}

/* Computes bytes * 1e9 / ns. It does not overflow as long as the rate is below
 * 2^34 bytes a nanosecond. */
static uint64_t rate_of(uint64_t bytes, uint64_t ns)
{
    uint64_t rate;

    if (ns == 0)
        return 0;
    rate = bytes / ns * UINT64_C(1000000000);
    return rate + bytes % ns * (UINT64_C(1000000000) / 1000) / ns * 1000;
}

uint64_t sim_report_down_rate(const struct sim_world *w)
{
    uint64_t last_ns = sim_report_stdin_ns(w);

    if (last_ns == SIM_NEVER || last_ns <= w->measure->fed_first_ns)
        return 0;
    return rate_of(w->launcher->fed_bytes, last_ns - w->measure->fed_first_ns);
}

uint64_t sim_report_up_rate(const struct sim_world *w)
{
    uint64_t last_ns = sim_report_shown_ns(w);

    if (last_ns == SIM_NEVER || last_ns <= w->launcher->joined_ns)
        return 0;
    return rate_of(w->measure->shown_bytes, last_ns - w->launcher->joined_ns);
}

/* --- the parts of the report */

/* Counts the links of the plan between two switches, except those of a launcher
 * that is under no switch. */
static uint32_t count_crossings(const struct sim_world *w)
{
    const uint32_t *under = w->cfg.network.under;
    uint32_t crossings = 0;

    for (uint32_t n = 1; n < sim_nodes(w); n++) {
        uint32_t above = under[topo_tree_parent(&w->cfg.overlay.plan, n)];

        crossings += above != TOPO_NONE && above != under[n];
    }
    return crossings;
}

static void print_head(const struct sim_world *w, FILE *file)
{
    const struct sim_network *network = &w->cfg.network;
    const struct ov_cfg *overlay = &w->cfg.overlay;
    char a[SIM_FIGURE_BYTES], b[SIM_FIGURE_BYTES], c[SIM_FIGURE_BYTES];

    fprintf(file,
            "%u nodes, arity %u, %u levels below the launcher, seed %" PRIu64
            "\n",
            overlay->plan.nodes, overlay->plan.arity, w->measure->levels - 1,
            w->cfg.seed);
    fprintf(file, "ports %s, latency %s, overhead %s a message",
            sim_figure_rate(a, network->near.bandwidth),
            sim_figure_time(b, network->near.latency_ns),
            sim_figure_time(c, network->overhead_ns));
    if (network->switch_nodes > 0)
        fprintf(file, "; across switches of %u nodes", network->switch_nodes);
    if (network->under != NULL)
        fprintf(file, "; across switches (%u links of the tree)",
                count_crossings(w));
    if (network->switch_nodes > 0 || network->under != NULL)
        fprintf(file, " %s, %s", sim_figure_rate(a, network->far.bandwidth),
                sim_figure_time(b, network->far.latency_ns));
    fprintf(file, "\nframes of %s, a window of %u for stdin, %u frames up\n",
            sim_figure_bytes(a, overlay->frame_bytes),
            (unsigned)overlay->down_frames, (unsigned)overlay->up_frames);
}

static void print_levels(const struct sim_world *w, FILE *file)
{
    const uint64_t from_ns = w->launcher->joined_ns;

    fprintf(file, "\n%5s %8s  %10s %10s  %10s %10s  %7s %9s\n", "level",
            "nodes", "stdin from", "to", "shown from", "to", "held", "bytes");
    for (uint32_t i = 0; i < w->measure->levels; i++) {
        const struct sim_level *level = &w->measure->level[i];
        bool reads = level->stdin_first_ns != SIM_NEVER;
        bool shows = level->shown_first_ns != SIM_NEVER;
        char text[5][SIM_FIGURE_BYTES];

        fprintf(file, "%5u %8u  %10s %10s  %10s %10s  %7u %9s\n", i,
                level->nodes,
                sim_figure_time(text[0], reads ? level->stdin_first_ns - from_ns
                                               : SIM_NEVER),
                sim_figure_time(text[1], reads ? level->stdin_last_ns - from_ns
                                               : SIM_NEVER),
                sim_figure_time(text[2], shows ? level->shown_first_ns - from_ns
                                               : SIM_NEVER),
                sim_figure_time(text[3], shows ? level->shown_last_ns - from_ns
                                               : SIM_NEVER),
                level->held_frames_peak,
                sim_figure_bytes(text[4], level->held_bytes_peak));
    }
    fputs(
        "stdin: the first byte at a process of the level, the last at the last "
        "one;\nshown: the same of output, at the launcher's console; times "
        "from "
        "the launch on;\nheld: the most frames, and bytes, in one node of the "
        "level\n",
        file);
}

/* Writes how many heartbeats were sent. */
static void print_beats(const struct sim_world *w, FILE *file)
{
    const struct sim_measure *m = w->measure;
    uint64_t ms = w->end.at_ns / 1000000;
    char a[SIM_FIGURE_BYTES];

    if (m->beats == 0 || ms == 0)
        return;
    fprintf(
        file,
        "%-22s %" PRIu64 " frames, %" PRIu64 " a second in all, %" PRIu64
        ".%02u a node; the root's links %" PRIu64 ", %s\n",
        "heartbeats", m->beats, m->beats * 1000 / ms,
        m->beats * 1000 / ms / sim_nodes(w),
        (unsigned)(m->beats * 100000 / ms / sim_nodes(w) % 100),
        m->root_beats * 1000 / ms,
        sim_figure_rate(a, m->root_beats * OV_FRAME_HEAD_BYTES * 1000 / ms));
}

/* Writes what repair did, if there was anything to repair. */
static void print_repair(const struct sim_world *w, FILE *file)
{
    static const struct sim_tally none;

    if (memcmp(w->tally, &none, sizeof(none)) == 0)
        return;
    fputs("\nrepair\n", file);
    sim_tally_print(w->tally, file, false);
}

static void print_totals(const struct sim_world *w, FILE *file)
{
    const struct sim_measure *m = w->measure;
    uint64_t words = 0, word_frames = 0;
    char a[SIM_FIGURE_BYTES], b[SIM_FIGURE_BYTES];

    for (uint32_t i = 0; i < m->levels; i++) {
        words += m->level[i].link_bytes;
        word_frames += m->level[i].link_frames;
    }
    fprintf(file, "\n%-22s %s after the start\n", "all nodes joined",
            sim_figure_time(a, w->launcher->joined_ns));
    if (w->launcher->fed_bytes > 0)
        fprintf(file, "%-22s %s, %s\n", "stdin to everybody",
                sim_figure_bytes(a, w->launcher->fed_bytes),
                sim_figure_rate(b, sim_report_down_rate(w)));
    if (m->shown_bytes > 0)
        fprintf(file, "%-22s %s, %s\n", "output shown",
                sim_figure_bytes(a, m->shown_bytes),
                sim_figure_rate(b, sim_report_up_rate(w)));
    fprintf(file, "%-22s %s out, %s in\n", "the root's links",
            sim_figure_bytes(a, m->root_out_bytes),
            sim_figure_bytes(b, m->root_in_bytes));
    fprintf(file, "%-22s %" PRIu64 " frames, %s; of the root %" PRIu64 ", %s\n",
            "words (joins, acks)", word_frames, sim_figure_bytes(a, words),
            m->level[0].link_frames,
            sim_figure_bytes(b, m->level[0].link_bytes));
    print_beats(w, file);
    fprintf(file,
            "%-22s %" PRIu64 " steps, %" PRIu64 " frames, %" PRIu64
            " bytes a quiet leaf\n",
            "simulated", w->counts.steps, m->frames, sim_world_leaf_bytes(w));
}

static void print_events(const struct sim_world *w, FILE *file)
{
    const struct sim_launcher *l = w->launcher;
    char a[SIM_FIGURE_BYTES];

    if (l->stall_ns != SIM_NEVER)
        fprintf(file, "stall: from %s on everybody waits for rank %u\n",
                sim_figure_time(a, l->stall_ns), l->stall_rank);
    if (l->lost_ns != SIM_NEVER)
        fprintf(file,
                "loss: at %s node %u is declared lost, and the job %s; %u %s "
                "lost in all\n",
                sim_figure_time(a, l->lost_ns), l->lost,
                l->is_killed || l->session.code >= 0 ? "ends" : "goes on",
                l->given_up, l->given_up == 1 ? "is" : "are");
}

static void print_verdict(const struct sim_world *w, FILE *file)
{
    static const char *const words[] = {
        [SIM_END_WELL] = "ended well",
        [SIM_END_LOSS] = "ended by a loss, as it should",
        [SIM_END_TIME] = "was ended by its own limit of time",
        [SIM_END_STUCK] = "did not end within the limit",
        [SIM_END_BROKEN] = "a rule broke",
    };
    enum sim_end end = sim_report_end(w);
    bool is_broken = end == SIM_END_BROKEN;
    char a[SIM_FIGURE_BYTES];

    const char *how = words[end];

    if (end == SIM_END_STUCK && w->end.is_stopped)
        how = "was stopped by the limit of real time";
    else if (w->launcher->session.code == SIM_CODE_LAUNCH)
        how = "was given up, as not all nodes have joined in time";
    else if (w->launcher->goodbye_ns > 0 && !w->launcher->has_reached_all &&
             !is_broken)
        how = "ended before goodbye had reached all";
    else if (end == SIM_END_LOSS && !w->launcher->is_killed)
        how = "ended well for all others";
    fprintf(file, "\nthe run %s at %s\n", how,
            sim_figure_time(a, w->end.at_ns));
    if (is_broken)
        fprintf(file, "BROKEN: %s\n", w->end.why);
    fprintf(file, "  I1 bytes whole and in order  %s\n",
            is_broken ? "see above" : "held");
    fprintf(file, "  I2 memory within windows     %s\n",
            is_broken ? "see above" : "held");
    fprintf(file, "  I3 it ends, no healthy lost   %s\n",
            is_broken              ? "see above"
            : end == SIM_END_STUCK ? "not shown: stopped"
                                   : "held");
    fprintf(file, "  I5 trace digest              %016" PRIx64 "\n",
            w->counts.digest);
}

void sim_report_print(const struct sim_world *w, FILE *file)
{
    print_head(w, file);
    print_levels(w, file);
    print_totals(w, file);
    print_events(w, file);
    print_repair(w, file);
    print_verdict(w, file);
    if (sim_report_end(w) == SIM_END_STUCK)
        sim_report_waits(w, file, 10);
}

/* Says what a node is waiting for before it can end. */
static const char *wait_of(const struct sim_world *w, uint32_t n)
{
    const struct sim_process *p = &w->processes[n];

    if (!w->launcher->session.has_begun)
        return "for every node to join";
    if (!p->has_started)
        return "for the launch";
    if (p->eaten < p->seen)
        return "for its process to read";
    if (p->read < p->written)
        return "for room to send up";
    if (!p->has_end && p->is_target && !p->is_killed)
        return "for more stdin";
    if (!w->hosts[n].node.is_final)
        return "for the root to hear its last word";
    return "for goodbye";
}

void sim_report_waits(const struct sim_world *w, FILE *file, unsigned lines)
{
    uint32_t n = 1;

    fprintf(file, "who waits:\n");
    for (; n < sim_nodes(w) && lines > 0; lines--) {
        const char *what;
        uint32_t first;

        while (n < sim_nodes(w) && w->hosts[n].state != SIM_HOST_RUNS)
            n++;
        if (n == sim_nodes(w))
            return;
        first = n;
        what = wait_of(w, n);
        while (n < sim_nodes(w) && w->hosts[n].state == SIM_HOST_RUNS &&
               wait_of(w, n) == what)
            n++;
        if (n - first > 1)
            fprintf(file, "  nodes %u to %u wait %s\n", first, n - 1, what);
        else
            fprintf(file, "  node %u waits %s\n", first, what);
    }
    if (n < sim_nodes(w))
        fprintf(file, "  ...\n");
}
