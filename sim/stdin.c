/* Drives job/streams.h for the stdin of the jobs. */
#include "sim/stdin.h"

#include <stdlib.h>

#include "job/streams.h"
#include "overlay/base/err.h"
#include "sim/buffer.h"
#include "sim/measure.h"
#include "sim/orders.h"
#include "sim/owed.h"

/* How many frames wait for the root at most: fewer than sim/owed.h has room
 * for. */
enum { READY_MAX = 256 };

struct sim_stdin {
    struct job_streams *streams;
    struct sim_owed *ready; /* events with frames that are ready for the root */
    uint32_t ready_count[SIM_STREAMS];
    uint32_t sent[SIM_STREAMS];   /* how many frames with pushes were made */
    uint32_t passed[SIM_STREAMS]; /* how many pushes job/streams.h has reported
                                     as sent or dropped */
    bool are_expected;            /* tools will push to the run's own job */
    struct ov_buf *wanted;        /* borrowed: the launcher's stdin must be read
                                     into it */
    uint64_t feed_ns;             /* the launcher's stdin has nothing to read
                                     before this time */
};

/* --- calls from the streams */

static bool has_room(const struct sim_world *w, uint32_t stream,
                     uint32_t beside)
{
    uint32_t ready = beside;

    for (uint32_t i = 0; i < SIM_STREAMS; i++)
        ready += w->stdins->ready_count[i];
    return sim_host_runs(w, 0) && ready < READY_MAX &&
           ov_node_down_room(sim_node(w, 0), stream) >
               w->stdins->ready_count[stream] + beside;
}

/* Makes a frame for the streams. A frame has real bytes when it is for pushes;
 * else it has only a length. */
static struct ov_buf *on_frame(void *arg, uint32_t stream, uint32_t beside)
{
    struct sim_world *w = arg;
    struct sim_load *load;

    if (!has_room(w, stream, beside))
        return NULL;
    load = sim_load_new(&w->store,
                        OV_DOWN_HEAD_BYTES +
                            (w->jobs.pushers > 0 ? SIM_PUSH_MESSAGE_MAX : 0),
                        1);
    load->head_bytes = load->len_bytes = OV_DOWN_HEAD_BYTES;
    return &sim_buffer_fed(w, stream, load)->buf;
}

static void on_send(void *arg, uint32_t stream, struct ov_buf *buf,
                    uint32_t len_bytes, uint32_t flags)
{
    struct sim_world *w = arg;
    struct sim_load *load = sim_view_of(buf)->load;
    struct ov_event ev = {.kind = OV_EV_DOWN,
                          .stream = stream,
                          .buf = buf,
                          .len_bytes = len_bytes,
                          .flags = (uint8_t)flags};

    if ((flags & OV_DOWN_SOME) != 0) {
        load->head_bytes = load->len_bytes = OV_DOWN_HEAD_BYTES + len_bytes;
        w->stdins->sent[stream]++;
    }
    if ((flags & OV_DOWN_END) != 0 && w->stdins->are_expected)
        sim_world_fail(w, "stdin ends while a tool still pushes");
    OV_ASSERT(load->len_bytes == OV_DOWN_HEAD_BYTES + len_bytes);
    sim_buffer_filled(w, sim_view_of(buf));
    w->stdins->ready_count[stream]++;
    sim_owed_push(w->stdins->ready, &ev);
}

static void on_read(void *arg, struct ov_buf *buf)
{
    struct sim_world *w = arg;

    w->stdins->wanted = buf;
}

static void on_opened(void *arg, const uint8_t *body, uint32_t len_bytes)
{
    sim_orders_plan(arg, OV_CONTROL_OPEN, body, len_bytes);
}

/* Is called when a push was sent or dropped, and checks it: while jobs run,
 * only pushes to a job that does not read stdin may be dropped. */
static void on_pushed(void *arg, uint32_t stream, uint32_t job)
{
    struct sim_world *w = arg;
    struct sim_stdin *s = w->stdins;
    bool is_unread = stream == JOB_STREAM_STDIN && !w->cfg.job.has_stdin;

    (void)job;
    s->passed[stream]++;
    if (s->passed[stream] > s->sent[stream] && !is_unread &&
        w->launcher->session.state <= JOB_SESSION_RUNNING)
        sim_world_fail(w, "a push of stream %u is dropped", stream);
}

/* --- the launcher's stdin */

static void end_source(struct sim_world *w)
{
    struct ov_buf *buf = job_streams_ended(w->stdins->streams);

    w->stdins->wanted = NULL;
    if (buf != NULL)
        sim_buffer_put(w, buf);
}

static void fill_wanted(struct sim_world *w)
{
    struct sim_stdin *s = w->stdins;
    struct sim_launcher *l = w->launcher;
    struct sim_load *load = sim_view_of(s->wanted)->load;
    uint64_t left = w->cfg.job.stdin_bytes - l->fed_bytes;
    uint32_t room = w->cfg.overlay.frame_bytes - OV_DOWN_HEAD_BYTES;
    uint32_t len = left < room ? (uint32_t)left : room;

    if (len == 0) {
        end_source(w);
        return;
    }
    sim_load_add(load, (struct sim_extent){l->fed_bytes, SIM_KEY_STDIN, len});
    l->fed_bytes += len;
    sim_measure_fed(w);
    s->wanted = NULL;
    s->feed_ns = w->queue.now_ns + sim_time_ns(len, w->cfg.job.stdin_rate);
    if (s->feed_ns > w->queue.now_ns)
        sim_push(w, s->feed_ns, SIM_ITEM_FEED, 0, (struct sim_item){0});
    job_streams_filled(s->streams, len);
}

/* Reads stdin and makes frames, as far as there is room. Once the jobs end
 * nothing more is sent to them, as in the launcher. */
static void pump(struct sim_world *w)
{
    struct sim_stdin *s = w->stdins;

    if (w->launcher->session.state > JOB_SESSION_RUNNING)
        job_streams_refuse(s->streams);
    job_streams_pump(s->streams);
    while (s->wanted != NULL && s->feed_ns <= w->queue.now_ns) {
        fill_wanted(w);
        job_streams_pump(s->streams);
    }
}

bool sim_stdin_next(struct sim_world *w, struct ov_event *ev)
{
    struct sim_stdin *s = w->stdins;

    if (!sim_host_runs(w, 0) || w->jobs.count == 0)
        return false;
    if (!sim_owed_pop(s->ready, ev)) {
        pump(w);
        if (!sim_owed_pop(s->ready, ev))
            return false;
    }
    s->ready_count[ev->stream]--;
    return true;
}

/* --- calls from other files */

void sim_stdin_open_stream(struct sim_world *w, uint32_t stream)
{
    job_streams_open_stream(w->stdins->streams, stream);
}

void sim_stdin_expect(struct sim_world *w, bool are_there)
{
    w->stdins->are_expected = are_there;
    job_streams_expect(w->stdins->streams, are_there);
}

void sim_stdin_push(struct sim_world *w, uint32_t stream, uint32_t job,
                    const uint8_t *mem, uint32_t len_bytes)
{
    job_streams_push(w->stdins->streams, stream, job, mem, len_bytes);
}

uint32_t sim_stdin_sent(const struct sim_world *w, uint32_t stream)
{
    return w->stdins->sent[stream];
}

/* --- opening and closing */

int sim_stdin_open(struct sim_world *w)
{
    static const struct job_streams_events events = {
        .frame = on_frame,
        .send = on_send,
        .read = on_read,
        .opened = on_opened,
        .pushed = on_pushed,
    };
    const struct job_streams_cfg cfg = {
        .job = &w->jobs.told[0].desc,
        .nodes_count = sim_nodes(w) - 1,
        .window = w->cfg.overlay.down_frames,
        .push_bytes = SIM_PUSH_MESSAGE_MAX,
        .events = &events,
        .arg = w,
    };

    w->stdins = calloc(1, sizeof(*w->stdins));
    if (w->stdins == NULL)
        return OV_ENOMEM;
    w->stdins->ready = sim_owed_new();
    return w->stdins->ready == NULL
               ? OV_ENOMEM
               : job_streams_open(&cfg, &w->stdins->streams);
}

void sim_stdin_finish(struct sim_world *w)
{
    struct ov_event ev;

    end_source(w);
    while (sim_owed_pop(w->stdins->ready, &ev))
        sim_buffer_put(w, ev.buf);
}

void sim_stdin_close(struct sim_world *w)
{
    if (w->stdins == NULL)
        return;
    job_streams_close(w->stdins->streams);
    sim_owed_free(w->stdins->ready);
    free(w->stdins);
}
