/* What goes down: the job and stdin. */
#include "endpoints/run/down.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "endpoints/run/control.h"
#include "endpoints/run/impl.h"
#include "endpoints/run/orders.h"
#include "endpoints/run/push.h"
#include "endpoints/run/tap.h"
#include "overlay/base/err.h"
#include "overlay/control.h"
#include "topo/ranges.h"

/* --- stdin */

static void send_end(struct run *r)
{
    struct ov_buf *last = ep_hub_buf(r->hub);

    if (last == NULL)
        return;
    r->input_over = true;
    ep_hub_down(r->hub, JOB_STREAM_STDIN, last, 0, OV_DOWN_END);
    ep_run_tap_stdin(r, 0, r->own.desc.size - 1, false);
}

/* Asks for the next frame when there is room for it beside `held` frames that
 * are about to go. */
static void want_input(struct run *r, uint32_t held)
{
    if (r->input_buf != NULL || r->input_ended ||
        ep_hub_down_room(r->hub, JOB_STREAM_STDIN) <= held)
        return;
    r->input_buf = ep_hub_buf(r->hub);
    if (r->input_buf != NULL)
        ep_input_want(r->input, r->input_buf->mem + OV_DOWN_HEAD_BYTES,
                      r->sizes.frame_bytes - OV_DOWN_HEAD_BYTES);
}

static void pump_stdin(struct run *r)
{
    if (!r->input_open || r->input_over) {
        ep_run_push_pump(r);
        return;
    }
    want_input(r, 0);
    ep_run_push_pump(r);
    if (r->input_ended && !ep_run_push_keeps(r) &&
        ep_hub_down_room(r->hub, JOB_STREAM_STDIN) > 0)
        send_end(r);
}

void ep_run_pump(struct run *r)
{
    if (r->hub == NULL || r->phase == RUN_OVER)
        return;
    ep_run_orders_pump(r->orders);
    pump_stdin(r);
}

void ep_run_pushed_to(struct run *r, const uint8_t *mem, uint32_t len_bytes)
{
    ep_run_push(r, mem, len_bytes);
    ep_run_pump(r);
}

void ep_run_pushers(struct run *r, bool are_there)
{
    ep_run_push_keep(r, are_there);
    ep_run_pump(r);
}

static void on_data(void *arg, uint32_t len_bytes)
{
    struct run *r = arg;
    struct ov_buf *buf = r->input_buf;

    r->input_buf = NULL;
    r->stdin_bytes += len_bytes;
    want_input(r, 1); /* read on while this frame is sent */
    ep_hub_down(r->hub, JOB_STREAM_STDIN, buf, len_bytes, 0);
    ep_run_pump(r);
}

static void on_input_end(void *arg)
{
    struct run *r = arg;

    if (r->input_buf != NULL)
        ep_hub_put(r->hub, r->input_buf);
    r->input_buf = NULL;
    r->input_ended = true;
    ep_run_pump(r);
}

static void on_input_error(void *arg, int err)
{
    struct run *r = arg;

    ep_run_say(r, "cannot read %s: %s",
               r->options.input != NULL ? r->options.input : "stdin",
               strerror(err));
    on_input_end(r);
    ep_run_abort(r, 1);
}

void ep_run_took(struct run *r, uint32_t rank, uint64_t taken_bytes)
{
    if (!job_reads(&r->own.desc, rank))
        return;
    r->readers_over++;
    if (taken_bytes > r->taken_bytes)
        r->taken_bytes = taken_bytes;
}

/* Of a process that was lost nothing is known: it may have taken all that was
 * sent. */
void ep_run_give_back(struct run *r)
{
    bool is_known = r->readers_over == job_readers(&r->own.desc) &&
                    r->taken_bytes <= r->stdin_bytes;

    if (r->input != NULL && r->input_fd < 0)
        ep_input_give_back(r->input,
                           is_known ? r->taken_bytes : r->stdin_bytes);
}

static int open_input(struct run *r)
{
    static const struct ep_input_events events = {
        .on_data = on_data,
        .on_end = on_input_end,
        .on_error = on_input_error,
    };
    int fd = r->input_fd >= 0 ? r->input_fd : STDIN_FILENO;

    return ep_input_open(r->base, fd, &events, r, &r->input);
}

static uint32_t place_of(const struct run *r, uint32_t rank)
{
    return job_place(&r->own.desc, job_node_of(&r->own.desc, rank, NULL));
}

/* Adds the nodes of those of the ranks that are the program's. */
static void add_nodes(const struct run *r, const struct job_app *app,
                      struct topo_range ranks, struct topo_ranges *nodes)
{
    uint32_t first = app->ranks[0].first_rank;
    const struct job_ranks *end = &app->ranks[app->ranks_count - 1];
    uint32_t last = end->first_rank - 1 +
                    end->each * (end->nodes.last - end->nodes.first + 1);

    if (ranks.first > first)
        first = ranks.first;
    if (ranks.last < last)
        last = ranks.last;
    if (first <= last)
        job_add_nodes(
            &r->own.desc,
            (struct topo_range){place_of(r, first), place_of(r, last)}, nodes);
}

/* The nodes with readers, in ranges; a superset where there are too many. */
static uint16_t reader_nodes(const struct run *r, struct topo_range *range)
{
    const struct job *job = &r->own.desc;
    uint32_t max = job->readers_count + job->apps_count + job->places_count;
    struct topo_range *items = calloc(max, sizeof(*items));
    struct topo_ranges nodes;

    if (items == NULL) {
        range[0] = (struct topo_range){1, r->nodes_count};
        return 1;
    }
    topo_ranges_init(&nodes, items, max);
    for (uint32_t i = 0; i < job->readers_count; i++) {
        for (uint32_t app = 0; app < job->apps_count; app++)
            add_nodes(r, &job->apps[app], job->readers[i], &nodes);
    }
    topo_ranges_coarsen(&nodes, OV_OPEN_RANGES_MAX);
    memcpy(range, items, nodes.count * sizeof(*range));
    free(items);
    return (uint16_t)nodes.count;
}

static void queue_open(struct run *r)
{
    static struct topo_range range[OV_OPEN_RANGES_MAX];
    uint8_t mem[OV_CONTROL_HEAD_BYTES + OV_OPEN_BYTES + sizeof(range)];
    struct ov_wr wr = ov_wr_init(mem, sizeof(mem));
    struct ov_open open = {
        .stream = JOB_STREAM_STDIN,
        .window = r->sizes.down_frames,
        .ranges = reader_nodes(r, range),
    };

    ov_open_encode(&wr, &open, range);
    ep_run_orders_queue(r->orders, OV_CONTROL_OPEN, mem + OV_CONTROL_HEAD_BYTES,
                        (uint32_t)(wr.at - mem) - OV_CONTROL_HEAD_BYTES);
    r->input_open = true;
}

/* --- the job */

int ep_run_job_send(struct run *r)
{
    if (ep_run_control_job(r, &r->own.desc)) {
        ep_run_say(r,
                   "the program's arguments and environment are larger than "
                   "%d MiB",
                   JOB_BYTES_MAX >> 20);
        return 1;
    }
    if (r->own.desc.readers_count > 0) {
        if (open_input(r)) {
            ep_run_say(r, "cannot read stdin: out of memory or descriptors");
            return 1;
        }
        queue_open(r);
    }
    ep_run_pump(r);
    return 0;
}
