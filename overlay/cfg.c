/* The default sizes and times of a session, and the check of a
 * configuration. */
#include "overlay/cfg.h"

#include <stddef.h>

#include "overlay/base/err.h"
#include "overlay/wire/frame.h"

#define MS UINT64_C(1000000)

struct ov_cfg ov_cfg_default(struct topo_tree plan)
{
    struct ov_cfg cfg = {
        .plan = plan,
        .frame_bytes = 64 * 1024,
        .up_window_bytes = 256 * 1024,
        .kept_max = 256,
        .batch_pieces = OV_PIECES_MAX,
        .up_frames = 4,
        .standing_max = (uint16_t)plan.arity,
        .lent_frames = 4,
        .down_frames = 16,
        .control_frames = 8,
        .streams_max = 4,
        .children_max = (uint16_t)(2 * plan.arity),
        .send_slots = 8,
        .data_slots = 4,
        .records_max = 4096,
        .share_ns = 20 * MS,
        .times = {.ack_ns = 20 * MS, .base_ns = 5 * MS, .stall_ns = 10000 * MS},
    };

    ov_times_set(&cfg.times, 10000 * MS);
    return cfg;
}

static const char *size_fault(const struct ov_cfg *cfg)
{
    if (cfg->plan.nodes < 1)
        return "a tree must have at least one node";
    if (cfg->plan.arity < 1 || cfg->plan.arity > TOPO_ARITY_MAX)
        return "the arity must be from 1 to 1024";
    if (cfg->frame_bytes < OV_FRAME_BYTES_MIN ||
        cfg->frame_bytes > OV_FRAME_BYTES_MAX)
        return "a frame must have from 4 KiB to 1 MiB";
    if (cfg->up_window_bytes < cfg->frame_bytes + OV_RESERVE_BYTES)
        return "up_window_bytes must be at least frame_bytes plus 4096";
    if (cfg->kept_max <= OV_KEPT_RESERVE)
        return "kept_max must be more than 4";
    if (cfg->batch_pieces < 1 || cfg->batch_pieces > OV_PIECES_MAX)
        return "batch_pieces must be from 1 to 16";
    if (cfg->up_frames < 1 || cfg->down_frames < 2 || cfg->control_frames < 2)
        return "up_frames must be at least 1, down_frames and "
               "control_frames at least 2";
    if (cfg->standing_max < 1 || cfg->lent_frames < 1)
        return "standing_max and lent_frames must be at least 1";
    if (cfg->streams_max < 2 || cfg->streams_max > OV_STREAMS_MAX)
        return "streams_max must be from 2 to 16";
    if (cfg->children_max < cfg->plan.arity)
        return "children_max must be at least the arity";
    if ((cfg->children_max + 2u) * cfg->up_frames >= UINT16_MAX)
        return "children_max plus 2, times up_frames, must be below 65535";
    if (cfg->records_max < 1)
        return "records_max must be at least 1";
    if (cfg->send_slots > OV_SEND_SLOTS_MAX || cfg->data_slots < 1 ||
        cfg->data_slots >= cfg->send_slots)
        return "data_slots must be at least 1 and below send_slots, and "
               "send_slots at most 32";
    return NULL;
}

int ov_cfg_check(const struct ov_cfg *cfg, const char **why)
{
    *why = size_fault(cfg);
    if (*why == NULL)
        *why = ov_times_fault(&cfg->times);
    return *why == NULL ? 0 : OV_EINVAL;
}
