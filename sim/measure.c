/* Counts times, bytes and peaks. */
#include "sim/measure.h"

#include <stdlib.h>

#include "overlay/base/err.h"
#include "overlay/wire/item.h"
#include "overlay/wire/shared.h"

static struct sim_level *level_of(const struct sim_world *w, uint32_t n)
{
    return &w->measure->level[w->hosts[n].level];
}

int sim_measure_open(struct sim_world *w)
{
    struct sim_measure *m = calloc(1, sizeof(*m));

    if (m == NULL)
        return OV_ENOMEM;
    w->measure = m;
    m->link_bytes = calloc(sim_nodes(w), sizeof(*m->link_bytes));
    if (m->link_bytes == NULL)
        return OV_ENOMEM;
    m->fed_first_ns = SIM_NEVER;
    for (uint32_t n = 0; n < sim_nodes(w); n++) {
        struct sim_level *level = level_of(w, n);

        if (w->hosts[n].level >= m->levels)
            m->levels = w->hosts[n].level + 1u;
        level->nodes++;
        level->stdin_first_ns = SIM_NEVER;
        level->shown_first_ns = SIM_NEVER;
    }
    return 0;
}

void sim_measure_close(struct sim_world *w)
{
    if (w->measure != NULL)
        free(w->measure->link_bytes);
    free(w->measure);
}

void sim_measure_fed(struct sim_world *w)
{
    struct sim_measure *m = w->measure;

    if (m->fed_first_ns == SIM_NEVER)
        m->fed_first_ns = w->queue.now_ns;
    m->fed_last_ns = w->queue.now_ns;
}

/* The bytes of words of nodes in a plain frame of records, with their heads. */
static uint64_t plain_words_of(const struct sim_load *load)
{
    struct ov_up_at at = ov_up_begin(load->head, load->len_bytes);
    uint64_t bytes = 0;
    struct ov_record rec;

    while (at.left > 0) {
        ov_up_next(load->head, load->len_bytes, &at, &rec);
        if (rec.channel == OV_CHANNEL_STATE)
            bytes += OV_RECORD_HEAD_BYTES + rec.len_bytes;
    }
    return bytes;
}

/* The bytes of words of nodes in a SHARED frame, with their heads. Assumes that
 * a run of words has one line, which no other run shares. */
static uint64_t shared_words_of(const struct sim_load *load)
{
    struct ov_frame_head head;
    struct ov_shared shared;
    struct ov_run run;
    struct ov_rd rd;
    uint64_t bytes = 0;
    uint32_t len_bytes;

    OV_ASSERT(ov_frame_head_decode(load->head, load->len_bytes, &head) == 0);
    OV_ASSERT(ov_shared_decode(load->head, &head, &shared) == 0);
    rd = ov_rd_init(load->head + shared.runs_off,
                    shared.lines_off - shared.runs_off);
    for (uint32_t i = 0; i < shared.runs; i++) {
        OV_ASSERT(ov_run_decode(&rd, &run) == 0);
        if (run.channel != OV_CHANNEL_STATE)
            continue;
        ov_shared_line(load->head, &shared, run.line, &len_bytes);
        bytes += ov_run_bytes(&run) + OV_LINE_END_BYTES + len_bytes;
    }
    return bytes;
}

static void count_up(struct sim_world *w, uint32_t n,
                     const struct sim_load *load)
{
    struct sim_loads *up = &w->measure->up;
    uint64_t words = load->head[0] == OV_FRAME_UP ? plain_words_of(load)
                                                  : shared_words_of(load);

    up->frames++;
    up->word_bytes += words;
    up->output_bytes += load->len_bytes - words;
    w->measure->link_bytes[n] += load->len_bytes - words;
    if (w->measure->link_bytes[n] > up->link_bytes_most)
        up->link_bytes_most = w->measure->link_bytes[n];
}

static uint64_t acks_of(const struct sim_load *load)
{
    struct ov_rd rd = ov_rd_init(load->head + OV_FRAME_HEAD_BYTES,
                                 load->head_bytes - OV_FRAME_HEAD_BYTES);
    uint64_t bytes = 0;
    struct ov_item item;

    while (ov_rd_left(&rd) > 0 && ov_item_next(&rd, &item) == 0)
        bytes += item.kind == OV_ITEM_ACK ? OV_ACK_BYTES : 0;
    return bytes;
}

void sim_measure_send(struct sim_world *w, uint32_t n, uint32_t peer,
                      const struct sim_load *load)
{
    struct sim_measure *m = w->measure;
    struct sim_level *level = level_of(w, n);

    m->frames++;
    if (ov_frame_is_up(load->head[0])) {
        level->up_bytes += load->len_bytes;
        if (peer == 0)
            count_up(w, n, load);
    } else if (load->head[0] == OV_FRAME_DOWN) {
        level->down_bytes += load->len_bytes;
    } else {
        level->link_bytes += load->len_bytes;
        level->link_frames++;
        if (n == 0)
            m->root_ack_bytes += acks_of(load);
    }
    if (load->len_bytes == OV_FRAME_HEAD_BYTES) {
        m->beats++;
        m->root_beats += n == 0 || peer == 0;
    }
    if (n == 0)
        m->root_out_bytes += load->len_bytes;
    else if (peer == 0)
        m->root_in_bytes += load->len_bytes;
}

void sim_measure_stdin(struct sim_world *w, uint32_t n, uint32_t len_bytes)
{
    struct sim_level *level = level_of(w, n);

    if (len_bytes == 0)
        return;
    level->stdin_bytes += len_bytes;
    if (w->step.now_ns < level->stdin_first_ns)
        level->stdin_first_ns = w->step.now_ns;
    if (w->step.now_ns > level->stdin_last_ns)
        level->stdin_last_ns = w->step.now_ns;
}

void sim_measure_shown(struct sim_world *w, uint32_t source, uint32_t len_bytes)
{
    struct sim_level *level = level_of(w, source);

    if (len_bytes == 0)
        return;
    w->measure->shown_bytes += len_bytes;
    level->shown_bytes += len_bytes;
    if (w->step.now_ns < level->shown_first_ns)
        level->shown_first_ns = w->step.now_ns;
    if (w->step.now_ns > level->shown_last_ns)
        level->shown_last_ns = w->step.now_ns;
}

void sim_measure_held(struct sim_world *w, uint32_t n)
{
    const struct sim_books *books = &w->books[n];
    struct sim_level *level = level_of(w, n);

    if (books->held_frames > level->held_frames_peak)
        level->held_frames_peak = books->held_frames;
    if (books->held_bytes > level->held_bytes_peak)
        level->held_bytes_peak = books->held_bytes;
}
