/* The life of a job as the root sees it. */
#include "sim/launcher.h"

#include <stdlib.h>

#include "overlay/base/err.h"
#include "sim/buffer.h"
#include "sim/check.h"
#include "sim/measure.h"
#include "sim/process.h"

/* What a word takes with its head: OPEN with all its ranges. */
enum { WORD_BYTES = 64 + 8 * SIM_TARGETS_MAX };

/* As xylem run: the launcher does not wait longer for the nodes. */
#define LAUNCH_NS UINT64_C(120000000000)

int sim_launcher_open(struct sim_world *w)
{
    w->launcher = calloc(1, sizeof(*w->launcher));
    if (w->launcher == NULL)
        return OV_ENOMEM;
    w->launcher->lost_ns = SIM_NEVER;
    w->launcher->stall_ns = SIM_NEVER;
    sim_push(w, LAUNCH_NS, SIM_ITEM_LAUNCH_LIMIT, 0, (struct sim_item){0});
    return 0;
}

void sim_launcher_close(struct sim_world *w)
{
    free(w->launcher);
}

/* --- words on stream 0 */

static void plan_word(struct sim_world *w, uint8_t kind)
{
    struct sim_launcher *l = w->launcher;

    OV_ASSERT(l->words_count < sizeof(l->words));
    l->words[l->words_count++] = kind;
}

/* A frame of the root's own: its head is written by the node. */
static struct ov_event frame(struct sim_world *w, struct sim_load *load,
                             uint32_t stream)
{
    struct sim_view *view = sim_buffer_fed(w, stream, load);

    return (struct ov_event){.kind = OV_EV_DOWN,
                             .stream = stream,
                             .buf = &view->buf,
                             .len_bytes = load->len_bytes - OV_DOWN_HEAD_BYTES};
}

static bool has_room(const struct sim_world *w, uint32_t stream)
{
    return sim_host_runs(w, 0) && ov_node_down_room(sim_node(w, 0), stream) > 0;
}

static struct ov_event first_word(struct sim_world *w)
{
    struct sim_launcher *l = w->launcher;
    uint8_t kind = l->words[0];
    struct sim_load *load = sim_load_new(&w->store, WORD_BYTES, 0);
    struct ov_wr wr = ov_wr_init(load->head + OV_DOWN_HEAD_BYTES,
                                 WORD_BYTES - OV_DOWN_HEAD_BYTES);
    const struct sim_job *job = &w->cfg.job;
    struct topo_range all = {1, sim_nodes(w) - 1};
    struct ov_open open = {
        .stream = 1,
        .window = w->cfg.overlay.down_frames,
        .ranges = (uint16_t)(job->targets_count > 0 ? job->targets_count : 1)};

    l->words_count--;
    for (unsigned i = 0; i < l->words_count; i++)
        l->words[i] = l->words[i + 1];
    if (kind == OV_CONTROL_OPEN)
        ov_open_encode(&wr, &open,
                       job->targets_count > 0 ? job->targets : &all);
    else
        ov_control_encode(&wr, kind, false);
    load->head_bytes = load->len_bytes = (uint32_t)(wr.at - load->head);
    return frame(w, load, 0);
}

bool sim_launcher_say(struct sim_world *w, struct ov_event *ev)
{
    if (w->launcher->words_count == 0 || !has_room(w, 0))
        return false;
    *ev = first_word(w);
    return true;
}

void sim_launcher_joined(struct sim_world *w)
{
    struct sim_launcher *l = w->launcher;

    l->is_joined = true;
    l->joined_ns = w->now_ns;
    if (w->cfg.job.has_stdin)
        plan_word(w, OV_CONTROL_OPEN);
    plan_word(w, SIM_WORD_LAUNCH);
    if (l->is_killed)
        plan_word(w, SIM_WORD_KILL);
}

/* --- stdin */

static bool can_feed(const struct sim_world *w)
{
    const struct sim_launcher *l = w->launcher;

    return w->cfg.job.has_stdin && !l->has_ended && has_room(w, 1) &&
           w->queue.now_ns >= l->feed_ns;
}

bool sim_launcher_feed(struct sim_world *w, struct ov_event *ev)
{
    struct sim_launcher *l = w->launcher;
    const struct sim_job *job = &w->cfg.job;
    uint32_t room = w->cfg.overlay.frame_bytes - OV_DOWN_HEAD_BYTES;
    uint64_t left = job->stdin_bytes - l->fed_bytes;
    uint32_t len = left < room ? (uint32_t)left : room;
    struct sim_load *load;

    if (!can_feed(w))
        return false;
    load = sim_load_new(&w->store, OV_DOWN_HEAD_BYTES, 1);
    load->head_bytes = load->len_bytes = OV_DOWN_HEAD_BYTES;
    if (len > 0)
        sim_load_add(load,
                     (struct sim_extent){l->fed_bytes, SIM_KEY_STDIN, len});
    *ev = frame(w, load, 1);
    l->fed_bytes += len;
    if (l->fed_bytes == job->stdin_bytes || l->is_killed) {
        ev->flags = OV_DOWN_END;
        l->has_ended = true;
    }
    l->feed_ns = w->queue.now_ns + sim_time_ns(len, job->stdin_rate);
    if (!l->has_ended && l->feed_ns > w->queue.now_ns)
        sim_push(w, l->feed_ns, SIM_ITEM_FEED, 0, (struct sim_item){0});
    sim_measure_fed(w);
    return true;
}

/* --- records */

/* When a console takes again what it would take now. */
static uint64_t unstuck_ns(const struct sim_job *job, uint64_t at_ns)
{
    uint64_t end_ns = SIM_NEVER - 1; /* never */

    if (job->console_length_ns < end_ns - job->console_stuck_ns)
        end_ns = job->console_stuck_ns + job->console_length_ns;
    return at_ns < end_ns ? end_ns : at_ns;
}

void sim_launcher_record(struct sim_world *w, const struct ov_act *act,
                         const struct ov_slice *slice)
{
    struct sim_launcher *l = w->launcher;
    const struct sim_job *job = &w->cfg.job;
    uint32_t source = act->rec.source;
    uint64_t from_ns = l->console_ns > w->now_ns ? l->console_ns : w->now_ns;

    sim_check_shown(w, act, slice);
    sim_measure_shown(w, source, act->rec.len_bytes);
    if ((act->rec.flags & OV_RECORD_EOF) != 0 &&
        !w->hosts[source].is_given_up) {
        w->hosts[source].is_final = true;
        l->finals++;
    }
    l->records_left++;
    if (from_ns < SIM_NEVER - 1)
        l->console_ns =
            from_ns + sim_time_ns(act->rec.len_bytes, job->console_rate);
    if (l->console_ns >= job->console_stuck_ns)
        l->console_ns = unstuck_ns(job, l->console_ns);
    sim_push(w, l->console_ns, SIM_ITEM_TAKEN, 0,
             (struct sim_item){.arg = act->cookie,
                               .era = source,
                               .what.view = sim_view_of(slice->buf)});
}

bool sim_launcher_taken(struct sim_world *w, const struct sim_item *item,
                        struct ov_event *ev)
{
    w->launcher->records_left--;
    sim_buffer_put(w, &item->what.view->buf);
    sim_check_taken(w, item->era);
    *ev = (struct ov_event){.kind = OV_EV_TAKEN, .cookie = item->arg};
    return true;
}

/* --- losses and the end */

/* Nobody waits for it any more; the others go on, or not. */
void sim_launcher_lost(struct sim_world *w, uint32_t node)
{
    struct sim_launcher *l = w->launcher;
    struct sim_host *host = &w->hosts[node];

    if (host->is_final)
        return;
    if (l->lost_ns == SIM_NEVER) {
        l->lost_ns = w->now_ns;
        l->lost = node;
    }
    l->given_up += !host->is_given_up;
    host->is_given_up = true;
    if (!w->cfg.job.ends_on_loss || l->is_killed || l->has_goodbye)
        return;
    l->is_killed = true;
    if (l->is_joined)
        plan_word(w, SIM_WORD_KILL);
}

void sim_launcher_stalled(struct sim_world *w, const struct ov_act *act)
{
    struct sim_launcher *l = w->launcher;

    l->stall_ns = w->now_ns;
    l->stall_node = act->node;
    l->stall_rank = act->rank;
}

/* Everything that was said is here and shown, or nothing more can come. */
void sim_launcher_settle(struct sim_world *w)
{
    struct sim_launcher *l = w->launcher;

    if (l->has_goodbye || !l->is_joined || l->records_left > 0 ||
        l->words_count > 0 || l->finals + l->given_up < sim_nodes(w) - 1)
        return;
    l->has_goodbye = true;
    l->goodbye_ns = w->queue.now_ns;
    plan_word(w, OV_CONTROL_GOODBYE);
}
