/* Sends messages on stream 0, and frames of stdin, by the run's hub. */
#include "endpoints/run/down.h"

#include <stdlib.h>
#include <unistd.h>

#include "endpoints/console/input.h"
#include "endpoints/hub/hub.h"
#include "endpoints/run/clock.h"
#include "endpoints/run/flight.h"
#include "endpoints/run/orders.h"
#include "job/job.h"
#include "job/order.h"
#include "job/session.h"
#include "job/streams.h"
#include "overlay/base/err.h"
#include "overlay/control.h"
#include "overlay/wire/frame.h"
#include "overlay/wire/push.h"

struct run_down {
    struct run_down_cfg cfg;
    struct ep_hub *hub;        /* borrowed; NULL as long as there is no hub */
    struct run_clock *clock;   /* owned */
    struct run_orders *orders; /* owned, like the next two */
    /* What goes to the stdin of all processes, from all writers. */
    struct job_streams *stdins;
    /* Reads the launcher's stdin; NULL when no process reads that. */
    struct ep_input *input;
    struct run_flight flight; /* the flight of JOB_STREAM_STDIN */
};

/* The largest frame for a push. A larger one would only take longer to copy. */
enum { PUSH_FRAME_BYTES = 32 * 1024 };

static bool is_open(const struct run_down *down)
{
    return down->hub != NULL && down->cfg.session->state != JOB_SESSION_OVER;
}

/* --- orders */

static uint32_t order_room(void *arg)
{
    const struct run_down *down = arg;

    return is_open(down) ? ep_hub_down_room(down->hub, 0) : 0;
}

static struct ov_buf *order_buf(void *arg)
{
    return ep_hub_buf(((struct run_down *)arg)->hub);
}

static void order_send(void *arg, struct ov_buf *buf, uint32_t len_bytes)
{
    ep_hub_down(((struct run_down *)arg)->hub, 0, buf, len_bytes, 0);
}

static int open_orders(struct run_down *down)
{
    static const struct run_carrier carrier = {
        .room = order_room,
        .buf = order_buf,
        .send = order_send,
    };

    return ep_run_orders_open(&carrier, down,
                              down->cfg.frame_bytes - OV_DOWN_HEAD_BYTES,
                              &down->orders);
}

void ep_run_down_begin(struct run_down *down)
{
    ep_run_clock_begin(down->clock);
}

struct run_orders *ep_run_down_orders(struct run_down *down)
{
    return down->orders;
}

int ep_run_down_job(struct run_down *down, const struct job *job)
{
    struct text_buf text = {0};
    int rc = 0;

    job_encode(job, &text);
    if (text.bad || text.len_bytes > JOB_BYTES_MAX)
        rc = OV_EFULL;
    else
        ep_run_orders_queue(down->orders, JOB_CONTROL_JOB, text.at,
                            (uint32_t)text.len_bytes);
    text_buf_fini(&text);
    return rc;
}

/* --- callbacks of the streams of stdin */

static struct ov_buf *stream_frame(void *arg, uint32_t stream, uint32_t beside)
{
    struct run_down *down = arg;

    return ep_hub_down_room(down->hub, stream) > beside ? ep_hub_buf(down->hub)
                                                        : NULL;
}

/* Returns how many bytes of stdin are in a frame. */
static uint32_t stdin_bytes(const struct ov_buf *buf, uint32_t len_bytes,
                            uint32_t flags)
{
    struct ov_push push;

    if ((flags & OV_DOWN_SOME) == 0)
        return len_bytes;
    return ov_push_decode(buf->mem + OV_DOWN_HEAD_BYTES, len_bytes, &push) == 0
               ? push.len_bytes
               : 0;
}

static void stream_send(void *arg, uint32_t stream, struct ov_buf *buf,
                        uint32_t len_bytes, uint32_t flags)
{
    struct run_down *down = arg;

    if (stream == JOB_STREAM_STDIN)
        ep_run_flight_add(&down->flight, stdin_bytes(buf, len_bytes, flags));
    ep_hub_down(down->hub, stream, buf, len_bytes, flags);
    if (flags == OV_DOWN_END)
        down->cfg.events->on_end(down->cfg.arg);
}

static void stream_read(void *arg, struct ov_buf *buf)
{
    struct run_down *down = arg;

    ep_input_want(down->input, buf->mem + OV_DOWN_HEAD_BYTES,
                  down->cfg.frame_bytes - OV_DOWN_HEAD_BYTES);
}

static void stream_opened(void *arg, const uint8_t *body, uint32_t len_bytes)
{
    struct run_down *down = arg;

    ep_run_orders_queue(down->orders, OV_CONTROL_OPEN, body, len_bytes);
}

static void stream_pushed(void *arg, uint32_t stream, uint32_t writer)
{
    struct run_down *down = arg;

    (void)stream;
    down->cfg.events->on_pushed(down->cfg.arg, writer);
}

static int open_streams(struct run_down *down)
{
    static const struct job_streams_events events = {
        .frame = stream_frame,
        .send = stream_send,
        .read = stream_read,
        .opened = stream_opened,
        .pushed = stream_pushed,
    };
    const struct job_streams_cfg cfg = {
        .job = down->cfg.job,
        .nodes_count = down->cfg.nodes_count,
        .window = down->cfg.window,
        .push_bytes = ep_run_down_push_bytes(down->cfg.frame_bytes),
        .is_kept = down->cfg.is_kept,
        .events = &events,
        .arg = down,
    };

    return job_streams_open(&cfg, &down->stdins);
}

void ep_run_down_pump(struct run_down *down)
{
    if (!is_open(down))
        return;
    ep_run_orders_pump(down->orders);
    if (down->cfg.session->state > JOB_SESSION_RUNNING)
        job_streams_refuse(down->stdins);
    job_streams_pump(down->stdins);
}

uint32_t ep_run_down_push_bytes(uint32_t frame_bytes)
{
    if (frame_bytes > PUSH_FRAME_BYTES)
        frame_bytes = PUSH_FRAME_BYTES;
    return frame_bytes - OV_DOWN_HEAD_BYTES;
}

void ep_run_down_push(struct run_down *down, uint32_t base, uint32_t writer,
                      const uint8_t *mem, uint32_t len_bytes)
{
    job_streams_push(down->stdins, job_stream_of(base), writer, mem, len_bytes);
    ep_run_down_pump(down);
}

void ep_run_down_left(struct run_down *down, uint32_t base, uint32_t writer)
{
    job_streams_leave(down->stdins, job_stream_of(base), writer);
}

void ep_run_down_pushers(struct run_down *down, bool are_there)
{
    job_streams_expect(down->stdins, are_there);
    ep_run_down_pump(down);
}

/* --- the launcher's own stdin */

static void on_data(void *arg, uint32_t len_bytes)
{
    struct run_down *down = arg;

    job_streams_filled(down->stdins, len_bytes);
    ep_run_down_pump(down);
}

static void end_input(struct run_down *down)
{
    struct ov_buf *buf = job_streams_ended(down->stdins);

    if (buf != NULL)
        ep_hub_put(down->hub, buf);
}

static void on_input_end(void *arg)
{
    struct run_down *down = arg;

    end_input(down);
    ep_run_down_pump(down);
    if (job_streams_is_held(down->stdins))
        down->cfg.events->on_held(down->cfg.arg);
}

static void on_input_error(void *arg, int err)
{
    struct run_down *down = arg;

    end_input(down);
    down->cfg.events->on_error(down->cfg.arg, err);
    ep_run_down_pump(down);
}

static int open_input(struct run_down *down)
{
    static const struct ep_input_events events = {
        .on_data = on_data,
        .on_end = on_input_end,
        .on_error = on_input_error,
    };
    int fd = down->cfg.input_fd >= 0 ? down->cfg.input_fd : STDIN_FILENO;

    return ep_input_open(down->cfg.base, fd, &events, down, &down->input);
}

int ep_run_down_stream(struct run_down *down, uint32_t stream)
{
    int rc = stream == JOB_STREAM_STDIN ? open_input(down) : 0;

    if (rc == 0)
        job_streams_open_stream(down->stdins, stream);
    return rc;
}

void ep_run_down_wake(struct run_down *down)
{
    if (down->input != NULL)
        ep_input_wake(down->input);
}

void ep_run_down_took(struct run_down *down, uint32_t rank,
                      uint64_t taken_bytes)
{
    job_streams_took(down->stdins, rank, taken_bytes);
}

uint64_t ep_run_down_sent(const struct run_down *down)
{
    return job_streams_sent(down->stdins);
}

/* A stream that all nodes have read to its end is closed in the tree, where its
 * head is 0 then. */
uint64_t ep_run_down_waiting(const struct run_down *down)
{
    struct ov_node_view view;

    if (!is_open(down))
        return 0;
    view = ep_hub_look(down->hub, 0, JOB_STREAM_STDIN);
    return view.down_head > 0
               ? ep_run_flight_bytes(&down->flight, view.down_base)
               : 0;
}

struct run_stdin_view ep_run_down_look(const struct run_down *down)
{
    struct run_stdin_view look = {.rank = TOPO_NONE};
    struct ov_node_view view;

    look.sent_bytes = ep_run_down_sent(down);
    if (!is_open(down))
        return look;
    view = ep_hub_look(down->hub, 0, JOB_STREAM_STDIN);
    look.is_open = view.down_head > 0 && look.sent_bytes > 0;
    look.is_full = ep_hub_down_room(down->hub, JOB_STREAM_STDIN) == 0;
    look.is_uneven = view.down_lead >= down->cfg.window / 2;
    look.rank = view.down_rank;
    look.base = view.down_base;
    return look;
}

/* A file that was given by its name is not shared with other readers, so only
 * real stdin is given back. */
void ep_run_down_give_back(struct run_down *down)
{
    if (down->input != NULL && down->cfg.input_fd < 0)
        ep_input_give_back(down->input, job_streams_taken(down->stdins));
}

/* --- opening and closing */

static void free_all(struct run_down *down)
{
    job_streams_close(down->stdins);
    ep_run_clock_close(down->clock);
    ep_run_orders_close(down->orders);
    ep_run_flight_close(&down->flight);
    free(down);
}

int ep_run_down_open(const struct run_down_cfg *cfg, struct run_down **out)
{
    struct run_down *down = calloc(1, sizeof(*down));
    int rc;

    if (down == NULL)
        return OV_ENOMEM;
    down->cfg = *cfg;
    rc = open_orders(down);
    if (rc == 0)
        rc = ep_run_clock_open(cfg->base, down->orders, &down->clock);
    if (rc == 0)
        rc = open_streams(down);
    if (rc == 0)
        rc = ep_run_flight_open(&down->flight, cfg->window);
    if (rc != 0) {
        free_all(down);
        return rc;
    }
    *out = down;
    return 0;
}

void ep_run_down_hub(struct run_down *down, struct ep_hub *hub)
{
    down->hub = hub;
}

void ep_run_down_close(struct run_down *down)
{
    if (down == NULL)
        return;
    ep_input_close(down->input);
    end_input(down);
    if (down->cfg.input_fd >= 0)
        close(down->cfg.input_fd);
    free_all(down);
}
