/* Collects the figures of a run. */
#include "sim/summary.h"

#include <string.h>

static uint64_t since(uint64_t at_ns, uint64_t from_ns)
{
    return at_ns == SIM_NEVER ? SIM_NEVER : at_ns - from_ns;
}

static void add_levels(const struct sim_world *w, struct sim_summary *s)
{
    s->levels = w->measure->levels;
    for (uint32_t i = 0; i < s->levels; i++) {
        const struct sim_level *level = &w->measure->level[i];

        s->level[i] = *level;
        s->word_frames += level->link_frames;
        s->word_bytes += level->link_bytes;
        if (level->held_frames_peak > s->held_frames_peak)
            s->held_frames_peak = level->held_frames_peak;
        if (level->held_bytes_peak > s->held_bytes_peak)
            s->held_bytes_peak = level->held_bytes_peak;
    }
}

void sim_summary_make(const struct sim_world *w, struct sim_summary *summary)
{
    const struct sim_launcher *l = w->launcher;

    *summary = (struct sim_summary){
        .nodes = sim_nodes(w),
        .arity = w->cfg.overlay.plan.arity,
        .seed = w->cfg.seed,
        .stdin_bytes = w->cfg.job.stdin_bytes,
        .out_bytes = w->cfg.job.out_bytes,
        .end = sim_report_end(w),
        .is_stopped = w->end.is_stopped,
        .joined_ns = l->joined_ns,
        .stdin_ns = since(sim_report_stdin_ns(w), l->joined_ns),
        .shown_ns = since(sim_report_shown_ns(w), l->joined_ns),
        .end_ns = w->end.at_ns,
        .down_rate = sim_report_down_rate(w),
        .up_rate = sim_report_up_rate(w),
        .root_out_bytes = w->measure->root_out_bytes,
        .root_in_bytes = w->measure->root_in_bytes,
        .up = w->measure->up,
        .root_ack_bytes = w->measure->root_ack_bytes,
        .leaf_bytes = sim_world_leaf_bytes(w),
        .steps = w->counts.steps,
        .frames = w->measure->frames,
        .beats = w->measure->beats,
        .root_beats = w->measure->root_beats,
        .repair = *w->tally,
        .digest = w->counts.digest,
        .stall_ns = l->stall_ns,
        .stall_rank = l->stall_rank,
        .lost_ns = l->lost_ns,
        .lost = l->lost,
        .given_up = l->given_up,
    };
    memcpy(summary->why, w->end.why, sizeof(summary->why));
    add_levels(w, summary);
}
