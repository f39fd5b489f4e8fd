/* Simulates how processes read stdin and write output. */
#include "sim/process.h"

#include <signal.h>
#include <stdlib.h>

#include "overlay/base/err.h"
#include "overlay/wire/push.h"
#include "sim/buffer.h"
#include "sim/check.h"
#include "sim/fate.h"
#include "sim/measure.h"
#include "sim/orders.h"
#include "sim/owed.h"
#include "sim/task.h"
#include "sim/text.h"
#include "sim/word.h"

enum { INPUT_WORDS, INPUT_STDOUT };

int sim_process_open(struct sim_world *w)
{
    const struct sim_job *job = &w->cfg.job;
    struct topo_range all = {1, sim_nodes(w) - 1};
    const struct topo_range *targets =
        job->targets_count > 0 ? job->targets : &all;

    w->processes = calloc(sim_nodes(w), sizeof(*w->processes));
    if (w->processes == NULL)
        return OV_ENOMEM;
    for (uint32_t i = 0; job->has_stdin && (i == 0 || i < job->targets_count);
         i++) {
        for (uint32_t n = targets[i].first; n <= targets[i].last; n++)
            w->processes[n].is_target = true;
    }
    for (uint32_t i = 0; i < job->readers_count; i++) {
        const struct sim_reader *reader = &job->readers[i];

        w->processes[reader->node].has_reader = true;
        if (reader->kind == SIM_READER_CLOSE)
            sim_push(w, reader->at_ns, SIM_ITEM_CLOSE, reader->node,
                     (struct sim_item){0});
    }
    return 0;
}

void sim_process_close(struct sim_world *w)
{
    free(w->processes);
}

/* True when the process will read no more stdin. */
static bool is_late(const struct sim_process *p)
{
    return p->is_killed || p->is_closed || !p->is_target || p->has_end;
}

/* --- how a process ends */

static bool is_done(const struct sim_world *w, const struct sim_process *p)
{
    bool has_written = p->is_killed || p->written == w->cfg.job.out_bytes;

    return p->has_started && has_written && p->read == p->written && is_late(p);
}

static const struct ov_event words_ready = {.kind = OV_EV_READY,
                                            .input = INPUT_WORDS};

/* Queues the report of how the process has ended, which follows its last
 * output. */
static void say_end(struct sim_world *w, uint32_t n)
{
    struct sim_process *p = &w->processes[n];
    struct sim_word word = {.kind = JOB_WORD_EXIT, .number = n - 1};

    if (p->is_unstarted)
        word.kind = JOB_WORD_FAILED;
    else if (p->is_killed)
        word.status = SIGKILL;
    else
        word.status = (uint16_t)sim_fate_status(w, &w->jobs.told[0], n - 1);
    p->is_over = true;
    sim_word_push(w, n, word);
    sim_word_end(w, n);
}

bool sim_process_last_word(struct sim_world *w, uint32_t n, struct ov_event *ev)
{
    const struct sim_process *p = &w->processes[n];

    if (p->is_over || !is_done(w, p))
        return false;
    if (w->words != NULL)
        say_end(w, n);
    *ev = words_ready;
    return true;
}

/* To be called within a step: makes the node send its last report if that is
 * due now. */
static void settle_process(struct sim_world *w, uint32_t n)
{
    struct ov_event ev;

    if (sim_process_last_word(w, n, &ev))
        sim_owed_push(w->step.owed, &ev);
}

/* Reads from the node's input 0. In a job without words that is one empty
 * record, which means that all went well. */
void sim_process_say(struct sim_world *w, uint32_t n, uint32_t max_bytes,
                     struct ov_read *read)
{
    struct sim_process *p = &w->processes[n];

    *read = (struct ov_read){.rank = n, .channel = OV_CHANNEL_STATE};
    if (w->words != NULL) {
        sim_word_read(w, n, max_bytes, read);
    } else if (!p->is_over && is_done(w, p)) {
        read->flags = OV_RECORD_EOF;
        p->is_over = true;
    }
}

/* --- writing */

/* Writes into the pipe what the process has written until now, as far as there
 * is room. */
static void write_on(struct sim_world *w, struct sim_process *p)
{
    const struct sim_job *job = &w->cfg.job;
    uint64_t unit = (uint64_t)job->line_bytes * job->burst_lines;

    if (p->is_killed || !p->has_started)
        return;
    while (p->written < job->out_bytes && p->next_ns <= w->step.now_ns) {
        uint64_t left = job->out_bytes - p->written;
        uint64_t room = SIM_PIPE_BYTES - (p->written - p->read);
        uint64_t len = unit - p->written % unit;

        if (len > left)
            len = left;
        if (len > room)
            len = room - room % job->line_bytes;
        if (len == 0)
            return; /* the pipe is full */
        p->written += len;
        if (p->written % unit != 0)
            continue;
        p->next_ns =
            (job->every_ns == 0 ? p->next_ns : w->step.now_ns) + job->every_ns;
    }
}

/* Queues the time at which the process writes next, if it has more to write. */
static void await_write(struct sim_world *w, uint32_t n)
{
    const struct sim_process *p = &w->processes[n];

    if (!p->is_killed && p->written < w->cfg.job.out_bytes)
        sim_push(w, p->next_ns > w->step.now_ns ? p->next_ns : w->step.now_ns,
                 SIM_ITEM_WRITE, n, (struct sim_item){0});
}

/* Makes the load of the next bytes of what the process has written: real bytes
 * where the core compares lines. */
static struct sim_load *output_of(struct sim_world *w, uint32_t n,
                                  uint32_t len_bytes)
{
    const struct sim_process *p = &w->processes[n];
    struct sim_load *load;

    if (!w->cfg.overlay.folds) {
        load = sim_load_new(&w->store, 0, 1);
        sim_load_add(load, (struct sim_extent){p->read, n, len_bytes});
        return load;
    }
    load = sim_load_new(&w->store, len_bytes, 0);
    load->head_bytes = load->len_bytes = len_bytes;
    sim_text_write(&w->cfg.job, n, p->read, load->head, len_bytes);
    return load;
}

void sim_process_read(struct sim_world *w, uint32_t n, uint32_t max_bytes,
                      struct ov_read *read)
{
    struct sim_process *p = &w->processes[n];
    uint32_t line = w->cfg.job.line_bytes;
    struct sim_load *load;
    uint64_t len;

    *read = (struct ov_read){.rank = n - 1, .channel = OV_CHANNEL_STDOUT};
    write_on(w, p);
    len = p->written - p->read;
    if (len > max_bytes)
        len = max_bytes - max_bytes % line;
    if (len > 0) {
        load = output_of(w, n, (uint32_t)len);
        read->buf = &sim_buffer_own(w, n, load)->buf;
        read->len_bytes = (uint32_t)len;
        p->read += len;
        write_on(w, p);
    }
    if (p->written > p->read)
        read->state = OV_INPUT_MORE;
    else
        await_write(w, n);
    settle_process(w, n);
}

bool sim_process_on_write(struct sim_world *w, const struct sim_item *item,
                          struct ov_event *ev)
{
    (void)w;
    (void)item;
    *ev = (struct ov_event){.kind = OV_EV_READY, .input = INPUT_STDOUT};
    return true;
}

/* --- reading stdin */

static const struct sim_reader *reader_of(const struct sim_world *w, uint32_t n)
{
    const struct sim_job *job = &w->cfg.job;
    uint32_t low = 0, high = job->readers_count;

    while (low < high) {
        uint32_t mid = low + (high - low) / 2;

        if (job->readers[mid].node == n)
            return &job->readers[mid];
        if (job->readers[mid].node < n)
            low = mid + 1;
        else
            high = mid;
    }
    return NULL;
}

/* The time at which the process will have read len_bytes more; SIM_NEVER when
 * it stops reading. */
static uint64_t read_until_ns(const struct sim_world *w, uint32_t n,
                              uint32_t len_bytes)
{
    const struct sim_process *p = &w->processes[n];
    uint64_t from_ns =
        p->reader_ns > w->step.now_ns ? p->reader_ns : w->step.now_ns;
    const struct sim_reader *reader = NULL;
    uint64_t rate = w->cfg.job.read_rate;
    uint64_t until_ns;

    if (p->has_reader)
        reader = reader_of(w, n);
    if (reader != NULL && reader->kind == SIM_READER_NEVER)
        return SIM_NEVER;
    if (reader != NULL && reader->kind == SIM_READER_RATE)
        rate = reader->rate;
    until_ns = from_ns + sim_time_ns(len_bytes, rate);
    if (reader != NULL && reader->kind == SIM_READER_PAUSE &&
        until_ns >= reader->at_ns &&
        from_ns < reader->at_ns + reader->length_ns)
        until_ns = reader->at_ns + reader->length_ns +
                   (from_ns < reader->at_ns ? until_ns - reader->at_ns
                                            : until_ns - from_ns);
    return until_ns;
}

static struct ov_event consumed(uint32_t n, uint32_t stream, uint64_t frames)
{
    return (struct ov_event){
        .kind = OV_EV_CONSUMED, .stream = stream, .seq = frames, .rank = n - 1};
}

static void ate(struct sim_world *w, uint32_t n, uint32_t stream,
                uint64_t frames)
{
    struct ov_event ev = consumed(n, stream, frames);

    if (stream == 0)
        w->processes[n].heard = (uint16_t)frames;
    sim_owed_push(w->step.owed, &ev);
}

/* --- orders of the launcher */

/* Kills the process: it reads and writes nothing from here on. */
static void stop_process(struct sim_world *w, uint32_t n)
{
    struct sim_process *p = &w->processes[n];

    p->has_started = true;
    p->is_killed = true;
    if (p->eaten < p->seen)
        ate(w, n, 1, p->eaten = p->seen);
    settle_process(w, n);
}

/* Queues the report that the process runs. When it cannot be started its node
 * reports nothing else than that, which say_end() does. */
static void say_start(struct sim_world *w, uint32_t n)
{
    if (w->words == NULL)
        return;
    sim_word_begin(w, n);
    if (w->processes[n].is_unstarted)
        return;
    sim_word_push(w, n,
                  (struct sim_word){.kind = JOB_WORD_STARTED, .number = n - 1});
    sim_owed_push(w->step.owed, &words_ready);
}

static void start_process(struct sim_world *w, uint32_t n)
{
    struct sim_process *p = &w->processes[n];

    p->is_unstarted = sim_fate_is_unstarted(w, &w->jobs.told[0], n - 1);
    say_start(w, n);
    if (p->is_unstarted) {
        stop_process(w, n);
        return;
    }
    p->has_started = true;
    p->next_ns = w->step.now_ns;
    if (w->cfg.job.out_bytes > 0)
        await_write(w, n);
    settle_process(w, n);
}

static void stop_job(struct sim_world *w, uint32_t n, uint32_t job)
{
    if (job == SIM_JOBS_ALL)
        stop_process(w, n);
    sim_task_kill(w, n, job);
}

static void on_word(struct sim_world *w, uint32_t n,
                    const struct ov_slice *slice)
{
    struct ov_control control;
    uint32_t job;

    if (n == 0 || ov_control_decode(slice->buf->mem + slice->off_bytes,
                                    slice->len_bytes, &control))
        return;
    job =
        ov_rd_left(&control.body) > 0 ? ov_rd_u32(&control.body) : SIM_JOBS_ALL;
    if (control.kind == SIM_ORDER_LAUNCH && job != SIM_JOBS_ALL)
        sim_task_launch(w, n, job);
    else if (control.kind == SIM_ORDER_LAUNCH && !w->processes[n].has_started)
        start_process(w, n);
    else if (control.kind == SIM_ORDER_KILL)
        stop_job(w, n, job);
}

/* --- stdin arrives */

/* Decodes the frame of a push. */
static struct ov_push push_of(const struct ov_slice *slice)
{
    struct ov_push push;

    OV_ASSERT(ov_push_decode(slice->buf->mem + slice->off_bytes,
                             slice->len_bytes, &push) == 0);
    return push;
}

/* Checks a frame of stdin, and returns how many of its bytes the process is
 * going to read. */
static uint32_t take_own(struct sim_world *w, uint32_t n,
                         const struct ov_act *act, const struct ov_slice *slice)
{
    struct sim_process *p = &w->processes[n];
    struct topo_range to;
    struct ov_push push;

    if ((act->flags & OV_DOWN_SOME) == 0) {
        sim_check_consume(w, n, act, slice);
        return slice->len_bytes;
    }
    if (!sim_check_pushed(w, n, act, slice, p->seen, p->pushes++))
        return 0;
    push = push_of(slice);
    to = ov_push_range(&push);
    return n - 1 >= to.first && n - 1 <= to.last ? push.len_bytes : 0;
}

/* Handles a push to a further job, whose processes read it at once. */
static void take_other(struct sim_world *w, uint32_t n,
                       const struct ov_act *act, const struct ov_slice *slice)
{
    struct sim_process *p = &w->processes[n];
    struct ov_push push;

    if (sim_check_pushed(w, n, act, slice, p->others, p->others)) {
        push = push_of(slice);
        if ((push.flags & OV_PUSH_CLOSE) != 0)
            sim_task_close(w, n, ov_push_range(&push).first);
    }
    ate(w, n, JOB_STREAM_PUSHED, ++p->others);
}

void sim_process_consume(struct sim_world *w, uint32_t n,
                         const struct ov_act *act, const struct ov_slice *slice)
{
    struct sim_process *p = &w->processes[n];
    uint64_t until_ns;
    uint32_t len;

    if (act->stream == 0) {
        on_word(w, n, slice);
        ate(w, n, 0, act->seq + 1);
        return;
    }
    if (act->stream == JOB_STREAM_PUSHED) {
        take_other(w, n, act, slice);
        return;
    }
    len = take_own(w, n, act, slice);
    p->seen++;
    if (!p->is_killed && !p->is_closed) {
        sim_measure_stdin(w, n, len);
        until_ns = read_until_ns(w, n, len);
        if (until_ns > w->step.now_ns) {
            p->reader_ns = until_ns;
            if (until_ns != SIM_NEVER)
                sim_push(w, until_ns, SIM_ITEM_READ, n,
                         (struct sim_item){.arg = p->seen});
            p->has_end_waiting |= (act->flags & OV_DOWN_END) != 0;
            if (p->seen == p->eaten + 1)
                ate(w, n, 1, p->eaten); /* reports the process that holds the
                                           others up */
            return;
        }
    }
    p->eaten = p->seen;
    p->has_end |= (act->flags & OV_DOWN_END) != 0;
    ate(w, n, 1, p->eaten);
    settle_process(w, n);
}

/* Notes, outside of a step, that the process has read all frames before
 * `frames`. Returns true when *ev reports that to the node. */
static bool eat(struct sim_world *w, uint32_t n, uint32_t frames,
                struct ov_event *ev)
{
    struct sim_process *p = &w->processes[n];

    if (frames <= p->eaten)
        return false;
    p->eaten = frames;
    p->has_end |= p->has_end_waiting && p->eaten == p->seen;
    *ev = consumed(n, 1, frames);
    return true;
}

bool sim_process_on_read(struct sim_world *w, const struct sim_item *item,
                         struct ov_event *ev)
{
    return eat(w, item->node, item->arg, ev);
}

bool sim_process_on_close(struct sim_world *w, const struct sim_item *item,
                          struct ov_event *ev)
{
    struct sim_process *p = &w->processes[item->node];

    p->is_closed = true;
    return eat(w, item->node, p->seen, ev);
}
