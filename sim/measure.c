/* Counts times, bytes and peaks. */
#include "sim/measure.h"

#include <stdlib.h>

#include "overlay/base/err.h"

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
    free(w->measure);
}

void sim_measure_fed(struct sim_world *w)
{
    struct sim_measure *m = w->measure;

    if (m->fed_first_ns == SIM_NEVER)
        m->fed_first_ns = w->queue.now_ns;
    m->fed_last_ns = w->queue.now_ns;
}

void sim_measure_send(struct sim_world *w, uint32_t n, uint32_t peer,
                      const struct sim_load *load)
{
    struct sim_measure *m = w->measure;
    struct sim_level *level = level_of(w, n);

    m->frames++;
    if (load->head[0] == OV_FRAME_UP) {
        level->up_bytes += load->len_bytes;
    } else if (load->head[0] == OV_FRAME_DOWN) {
        level->down_bytes += load->len_bytes;
    } else {
        level->link_bytes += load->len_bytes;
        level->link_frames++;
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
