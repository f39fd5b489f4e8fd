/* What goes down: the job and stdin. */
#include "endpoints/run/down.h"

#include <string.h>
#include <unistd.h>

#include "endpoints/run/control.h"
#include "endpoints/run/impl.h"
#include "endpoints/run/orders.h"
#include "endpoints/run/tap.h"
#include "job/streams.h"
#include "overlay/control.h"

/* --- what the streams ask for */

static struct ov_buf *frame_of_stream(void *arg, uint32_t stream,
                                      uint32_t beside)
{
    struct run *r = arg;

    return ep_hub_down_room(r->hub, stream) > beside ? ep_hub_buf(r->hub)
                                                     : NULL;
}

static void send_frame(void *arg, uint32_t stream, struct ov_buf *buf,
                       uint32_t len_bytes, uint32_t flags)
{
    struct run *r = arg;

    ep_hub_down(r->hub, stream, buf, len_bytes, flags);
    if (flags == OV_DOWN_END)
        ep_run_tap_stdin(r, 0, r->own.desc.size - 1, false);
}

static void read_input(void *arg, struct ov_buf *buf)
{
    struct run *r = arg;

    ep_input_want(r->in.console, buf->mem + OV_DOWN_HEAD_BYTES,
                  r->plan.sizes.frame_bytes - OV_DOWN_HEAD_BYTES);
}

static void tell_opened(void *arg, const uint8_t *body, uint32_t len_bytes)
{
    struct run *r = arg;

    ep_run_orders_queue(r->orders, OV_CONTROL_OPEN, body, len_bytes);
}

static void tell_pushed(void *arg)
{
    ep_run_tap_pushed(arg);
}

int ep_run_down_open(struct run *r)
{
    static const struct job_streams_events events = {
        .frame = frame_of_stream,
        .send = send_frame,
        .read = read_input,
        .opened = tell_opened,
        .pushed = tell_pushed,
    };
    const struct job_streams_cfg cfg = {
        .job = &r->own.desc,
        .nodes_count = r->plan.nodes_count,
        .window = r->plan.sizes.down_frames,
        .is_kept = r->options.keep_stdin,
        .events = &events,
        .arg = r,
    };

    return job_streams_open(&cfg, &r->in.down);
}

void ep_run_pump(struct run *r)
{
    if (r->hub == NULL || r->session.state == JOB_SESSION_OVER)
        return;
    ep_run_orders_pump(r->orders);
    if (r->session.state > JOB_SESSION_RUNNING)
        job_streams_refuse(r->in.down);
    job_streams_pump(r->in.down);
}

void ep_run_pushed_to(struct run *r, const uint8_t *mem, uint32_t len_bytes)
{
    job_streams_push(r->in.down, mem, len_bytes);
    ep_run_pump(r);
}

void ep_run_pushers(struct run *r, bool are_there)
{
    job_streams_expect(r->in.down, are_there);
    ep_run_pump(r);
}

/* --- the launcher's own */

static void on_data(void *arg, uint32_t len_bytes)
{
    struct run *r = arg;

    job_streams_filled(r->in.down, len_bytes);
    ep_run_pump(r);
}

static void end_input(struct run *r)
{
    struct ov_buf *buf = job_streams_ended(r->in.down);

    if (buf != NULL)
        ep_hub_put(r->hub, buf);
}

static void on_input_end(void *arg)
{
    struct run *r = arg;

    end_input(r);
    ep_run_pump(r);
}

static void on_input_error(void *arg, int err)
{
    struct run *r = arg;

    ep_voice_say(&r->voice, "cannot read %s: %s",
                 r->options.input != NULL ? r->options.input : "stdin",
                 strerror(err));
    on_input_end(r);
    ep_run_abort(r, 1);
}

static int open_input(struct run *r)
{
    static const struct ep_input_events events = {
        .on_data = on_data,
        .on_end = on_input_end,
        .on_error = on_input_error,
    };
    int fd = r->in.fd >= 0 ? r->in.fd : STDIN_FILENO;

    return ep_input_open(r->base, fd, &events, r, &r->in.console);
}

void ep_run_give_back(struct run *r)
{
    if (r->in.console != NULL && r->in.fd < 0)
        ep_input_give_back(r->in.console, job_streams_taken(r->in.down));
}

void ep_run_down_close(struct run *r)
{
    ep_input_close(r->in.console);
    if (r->in.down != NULL)
        end_input(r);
    job_streams_close(r->in.down);
    if (r->in.fd >= 0)
        close(r->in.fd);
}

/* --- the job */

int ep_run_job_send(struct run *r)
{
    if (ep_run_control_job(r, &r->own.desc)) {
        ep_voice_say(&r->voice,
                     "the program's arguments and environment are larger than "
                     "%d MiB",
                     JOB_BYTES_MAX >> 20);
        return 1;
    }
    if (r->own.desc.readers_count > 0) {
        if (open_input(r)) {
            ep_voice_say(&r->voice,
                         "cannot read stdin: out of memory or descriptors");
            return 1;
        }
        job_streams_open_stream(r->in.down, JOB_STREAM_STDIN);
    }
    ep_run_pump(r);
    return 0;
}
