/* Earlier output: a node's answers to the REPLAY orders of tools that come
 * late.
 *
 * After an order, the channels that it names are not read until they have been
 * answered, one after the other, on an input that carries nothing else. So the
 * answer has everything that was read before, and output that comes later
 * follows it. Before any answer is sent, also before answers to earlier orders,
 * the launcher is told that the channels are held back, because a tool waits
 * for that.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "endpoints/daemon/processes_impl.h"
#include "job/replay.h"
#include "overlay/base/err.h"

/* A REPLAY order that is being answered. */
struct replay {
    STAILQ_ENTRY(replay) entry;
    struct job_order order;
    struct node_job
        /* that of the channel being answered; NULL: no channel is left */
        *node_job;
    uint32_t proc, which;
    /* The launcher must still be told that the channels of process `told_proc`,
     * and of all processes after it, are held back; NULL: that is done. */
    struct node_job *told;
    uint32_t told_proc;
    bool has_part;             /* the answer for this channel has begun */
    bool is_before_told;       /* the bytes lost before `part` were reported */
    struct ep_cache_part part; /* what is left to answer of this channel */
};

static struct output *output_of(const struct replay *replay)
{
    return &replay->node_job->procs[replay->proc].outputs[replay->which];
}

static bool is_meant(const struct replay *replay, const struct output *out)
{
    return (replay->order.channels & 1u << out->name) != 0 &&
           job_order_has(&replay->order, ep_proc_number(out->proc));
}

static bool is_over(const struct replay *replay)
{
    return replay->node_job == NULL;
}

static void step_channel(struct replay *replay)
{
    replay->has_part = replay->is_before_told = false;
    if (++replay->which < OUTPUTS)
        return;
    replay->which = 0;
    if (++replay->proc < replay->node_job->procs_count)
        return;
    replay->proc = 0;
    replay->node_job = TAILQ_NEXT(replay->node_job, entry);
}

/* Finds the next channel that the order names, from the present one on. */
static void find_channel(struct replay *replay)
{
    while (!is_over(replay) && !is_meant(replay, output_of(replay)))
        step_channel(replay);
}

/* --- the same for the channels of which the launcher is told */

static const struct proc *to_tell(const struct replay *replay)
{
    return &replay->told->procs[replay->told_proc];
}

static bool is_meant_proc(const struct replay *replay, const struct proc *proc)
{
    for (unsigned i = 0; i < OUTPUTS; i++) {
        if (is_meant(replay, &proc->outputs[i]))
            return true;
    }
    return false;
}

static void step_told(struct replay *replay)
{
    if (++replay->told_proc < replay->told->procs_count)
        return;
    replay->told_proc = 0;
    replay->told = TAILQ_NEXT(replay->told, entry);
}

static void find_told(struct replay *replay)
{
    while (replay->told != NULL && !is_meant_proc(replay, to_tell(replay)))
        step_told(replay);
}

/* --- the order */

static void tell_ready(const struct ep_processes *local)
{
    ep_hub_ready(local->cfg.hub, local->cfg.index, EP_PROCESSES_REPLAY_INPUT);
}

static void hold_back(struct ep_processes *local, const struct replay *replay)
{
    struct replay at = *replay;

    for (find_channel(&at); !is_over(&at); find_channel(&at)) {
        output_of(&at)->replays++;
        ep_cache_recall(&output_of(&at)->cache, local->cfg.pool);
        step_channel(&at);
    }
}

void ep_processes_replay(struct ep_processes *local,
                         const struct job_order *order)
{
    struct replay *replay = calloc(1, sizeof(*replay));

    OV_ASSERT(replay != NULL);
    replay->order = *order;
    replay->node_job = replay->told = TAILQ_FIRST(&local->node_jobs);
    hold_back(local, replay);
    find_channel(replay);
    find_told(replay);
    if (is_over(replay)) {
        free(replay);
        return;
    }
    STAILQ_INSERT_TAIL(&local->replays, replay, entry);
    tell_ready(local);
}

void ep_replay_close(struct ep_processes *local)
{
    while (!STAILQ_EMPTY(&local->replays)) {
        struct replay *replay = STAILQ_FIRST(&local->replays);

        STAILQ_REMOVE_HEAD(&local->replays, entry);
        free(replay);
    }
}

/* --- telling that channels are held back */

static struct replay *first_untold(const struct ep_processes *local)
{
    struct replay *replay = STAILQ_FIRST(&local->replays);

    while (replay != NULL && replay->told == NULL)
        replay = STAILQ_NEXT(replay, entry);
    return replay;
}

/* Reports several channels in one record. */
static void write_heard(struct ep_processes *local, struct replay *replay,
                        uint32_t max_bytes, struct ov_read *read)
{
    const struct node_job *node_job = replay->told;
    uint32_t first = ep_proc_number(to_tell(replay));
    uint32_t room = ep_words_room(local, max_bytes);
    struct job_replay_answer answer = {.is_heard = true};
    struct ov_wr wr;

    OV_ASSERT(room >= JOB_REPLAY_HEAD_BYTES);
    while (replay->told == node_job && is_meant_proc(replay, to_tell(replay)) &&
           ep_proc_number(to_tell(replay)) == first + answer.heard) {
        answer.heard++;
        step_told(replay);
    }
    find_told(replay);
    wr = ov_wr_init(local->block->mem + local->block_used,
                    JOB_REPLAY_HEAD_BYTES);
    job_replay_answer_encode(&wr, &answer);
    ep_words_took(local, JOB_REPLAY_HEAD_BYTES, read);
    read->rank = first;
    read->channel = OV_CHANNEL_STDOUT;
    read->job = replay->order.ticket;
    read->state = OV_INPUT_MORE;
}

/* --- the answer */

static void let_go(const struct ep_processes *local, struct output *out)
{
    if (--out->replays > 0)
        return;
    if (out->channel != NULL)
        ep_hub_ready(local->cfg.hub, local->cfg.index, out->input);
    else
        ep_node_job_retire(out);
}

/* Returns the head of the next record, which has *len_bytes bytes of output. */
static struct job_replay_answer plan_record(struct replay *replay,
                                            const struct output *out,
                                            uint32_t room, uint32_t *len_bytes)
{
    struct ep_cache_part *part = &replay->part;
    struct job_replay_answer answer = {0};

    if (!replay->has_part)
        ep_cache_select(&out->cache, replay->order.bytes, replay->order.is_last,
                        part);
    replay->has_part = true;
    answer.dropped_bytes = replay->is_before_told ? 0 : part->before_bytes;
    replay->is_before_told = true;
    *len_bytes =
        part->to - part->from < room ? (uint32_t)(part->to - part->from) : room;
    if (part->from + *len_bytes < part->to)
        return answer;
    /* When bytes are missing after the last kept ones, a record without output
     * reports that. */
    if (*len_bytes > 0 && part->behind_bytes > 0)
        return answer;
    answer.dropped_bytes += part->behind_bytes;
    answer.is_turn = true;
    return answer;
}

/* Writes a part of the answer. Returns true when the channel is answered
 * completely. */
static bool write_answer(struct ep_processes *local, struct replay *replay,
                         const struct output *out, uint32_t room,
                         struct ov_read *read)
{
    uint8_t *mem = local->block->mem + local->block_used;
    struct ov_wr wr = ov_wr_init(mem, JOB_REPLAY_HEAD_BYTES);
    struct job_replay_answer answer;
    uint32_t len_bytes;

    OV_ASSERT(room > JOB_REPLAY_HEAD_BYTES);
    answer = plan_record(replay, out, room - JOB_REPLAY_HEAD_BYTES, &len_bytes);
    job_replay_answer_encode(&wr, &answer);
    if (len_bytes > 0)
        ep_cache_read(&out->cache, replay->part.from,
                      mem + JOB_REPLAY_HEAD_BYTES, len_bytes);
    replay->part.from += len_bytes;
    ep_words_took(local, JOB_REPLAY_HEAD_BYTES + len_bytes, read);
    return answer.is_turn;
}

void ep_replay_read(struct ep_processes *local, uint32_t max_bytes,
                    struct ov_read *read)
{
    struct replay *replay = first_untold(local);
    struct output *out;

    if (replay != NULL) {
        write_heard(local, replay, max_bytes, read);
        return;
    }
    replay = STAILQ_FIRST(&local->replays);
    read->state = OV_INPUT_IDLE;
    if (replay == NULL)
        return;
    out = output_of(replay);
    read->rank = ep_proc_number(out->proc);
    read->channel = out->name;
    read->job = replay->order.ticket;
    read->state = OV_INPUT_MORE;
    if (!write_answer(local, replay, out, ep_words_room(local, max_bytes),
                      read))
        return;
    let_go(local, out);
    step_channel(replay);
    find_channel(replay);
    if (!is_over(replay))
        return;
    STAILQ_REMOVE_HEAD(&local->replays, entry);
    free(replay);
    ep_node_job_sweep(local);
    if (STAILQ_EMPTY(&local->replays))
        read->state = OV_INPUT_IDLE;
}
