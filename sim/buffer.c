/* Makes and frees the buffers of nodes, and counts them in the books. */
#include "sim/buffer.h"

#include "sim/check_links.h"
#include "sim/tally.h"

/* --- buffers arrive */

static struct sim_view *hold_view(struct sim_world *w, struct sim_view *view)
{
    struct sim_books *books = &w->books[view->owner];
    uint32_t stream = sim_view_stream(view);

    books->held_bytes += view->len_bytes;
    books->held_frames++;
    if (stream < SIM_STREAMS)
        books->stream_held[stream]++;
    else if (view->held == SIM_HELD_OWN)
        books->own_bytes += view->len_bytes;
    return view;
}

struct sim_view *sim_buffer_own(struct sim_world *w, uint32_t n,
                                struct sim_load *load)
{
    return hold_view(w, sim_view_new(&w->store, load, n, SIM_HELD_OWN));
}

static enum sim_held held_of(uint32_t stream)
{
    return stream == 0   ? SIM_HELD_CONTROL
           : stream == 1 ? SIM_HELD_STDIN
                         : SIM_HELD_PUSHED;
}

struct sim_view *sim_buffer_fed(struct sim_world *w, uint32_t stream,
                                struct sim_load *load)
{
    return hold_view(w, sim_view_new(&w->store, load, 0, held_of(stream)));
}

void sim_buffer_filled(struct sim_world *w, struct sim_view *view)
{
    w->books[view->owner].held_bytes += view->load->len_bytes - view->len_bytes;
    view->len_bytes = view->buf.len_bytes = view->load->len_bytes;
}

struct sim_view *sim_buffer_arrived(struct sim_world *w, uint32_t n,
                                    uint16_t link, struct sim_load *load)
{
    const struct sim_wire *wire = sim_wire(w, n, link);
    struct sim_view *view = sim_view_new(&w->store, load, n, SIM_HELD_LINK);

    view->from = wire->peer;
    view->era = wire->era;
    view->link = link;
    if (ov_frame_is_up(load->head[0]))
        view->held = SIM_HELD_UP;
    else if (load->head[0] == OV_FRAME_DOWN)
        view->held = (uint8_t)held_of(sim_check_stream(load));
    hold_view(w, view);
    if (view->held == SIM_HELD_UP && n == 0)
        sim_tally_up(w, n, load, false);
    if (view->held == SIM_HELD_UP)
        sim_check_up_arrived(w, view);
    else if (sim_view_stream(view) < SIM_STREAMS)
        sim_tally_down(w, n, sim_check_stream(load), sim_check_seq(load),
                       false);
    else if (view->held == SIM_HELD_LINK)
        sim_check_words(w, n, link, load, true);
    return view;
}

/* --- buffers are released */

static void release_view(struct sim_world *w, struct sim_view *view)
{
    struct sim_books *books = &w->books[view->owner];
    uint32_t stream = sim_view_stream(view);

    books->held_bytes -= view->len_bytes;
    books->held_frames--;
    if (view->held == SIM_HELD_UP)
        sim_check_up_released(w, view);
    else if (stream < SIM_STREAMS)
        books->stream_held[stream]--;
    else if (view->held == SIM_HELD_OWN)
        books->own_bytes -= view->len_bytes;
    sim_view_free(&w->store, view);
}

void sim_buffer_put(struct sim_world *w, struct ov_buf *buf)
{
    if (buf != NULL && ov_buf_unref(buf))
        release_view(w, sim_view_of(buf));
}

void sim_buffer_take_back(struct sim_world *w)
{
    while (w->step.out.freed != NULL) {
        struct ov_buf *buf = w->step.out.freed;

        w->step.out.freed = buf->next;
        release_view(w, sim_view_of(buf));
    }
}
