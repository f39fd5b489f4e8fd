/* The messages of a node, and the block of memory for all its reads. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "endpoints/daemon/processes_impl.h"
#include "endpoints/sys/clock.h"
#include "overlay/base/err.h"
#include "overlay/cut.h"

static void tell_ready(struct ep_processes *local)
{
    if (local->is_ready_told)
        return;
    local->is_ready_told = true;
    ep_hub_ready(local->cfg.hub, local->cfg.index, 0);
}

void ep_processes_say(struct ep_processes *local, const struct job_word *state)
{
    uint8_t mem[JOB_WORD_BYTES_MAX + 64];
    struct ov_wr wr = ov_wr_init(mem, sizeof(mem));
    size_t len_bytes;

    job_word_encode(&wr, state);
    OV_ASSERT(!wr.bad);
    len_bytes = (size_t)(wr.at - mem);
    if (local->words_len + len_bytes > local->words_cap) {
        size_t cap = 2 * local->words_cap + sizeof(mem);
        uint8_t *words = realloc(local->words, cap);

        OV_ASSERT(words != NULL);
        local->words = words;
        local->words_cap = cap;
    }
    memcpy(local->words + local->words_len, mem, len_bytes);
    local->words_len += len_bytes;
    tell_ready(local);
}

void ep_words_lost(const struct proc *proc, int err)
{
    struct job_word state = {.kind = JOB_WORD_LINE_LOST,
                             .rank = ep_proc_number(proc),
                             .err = (uint32_t)err};

    ep_processes_say(proc->node_job->local, &state);
}

void ep_words_left(struct proc *proc)
{
    struct job_word word = {.kind = JOB_WORD_LEFT,
                            .rank = ep_proc_number(proc)};
    bool is_any = false;

    for (unsigned i = 0; i < OUTPUTS; i++) {
        const struct output *out = &proc->outputs[i];

        if (out->sieve == NULL)
            continue;
        ep_sieve_left(out->sieve, word.left, &word.limited_lines);
        word.source_bytes += ep_sieve_source(out->sieve) + out->lost_bytes;
    }
    for (unsigned i = 0; i < TEXT_LEFT_REASONS; i++)
        is_any = is_any || word.left[i].bytes > 0;
    proc->has_left = is_any;
    if (is_any || word.limited_lines > 0)
        ep_processes_say(proc->node_job->local, &word);
}

/* Tells what the first process that failed wrote last, as not all of it was
 * sent. NUL is no byte of a text. */
static void say_last(const struct proc *proc)
{
    const struct ep_processes *local = proc->node_job->local;
    const uint32_t room =
        ep_last_room((uint64_t)proc->node_job->procs_count * local->cfg.nodes);
    struct job_word word = {.kind = JOB_WORD_LAST,
                            .rank = ep_proc_number(proc)};
    uint32_t from = 0, some;

    if (proc->last.ring == NULL)
        return;
    while ((some = ep_last_read(&proc->last, room, from, (uint8_t *)word.text,
                                sizeof(word.text) - 1)) > 0) {
        for (uint32_t i = 0; i < some; i++)
            word.text[i] = word.text[i] == '\0' ? '.' : word.text[i];
        word.text[some] = '\0';
        from += some;
        ep_processes_say(proc->node_job->local, &word);
    }
}

void ep_words_exit(struct proc *proc)
{
    struct ep_processes *local = proc->node_job->local;
    struct job_word state = {
        .kind = JOB_WORD_EXIT,
        .rank = ep_proc_number(proc),
        .status = (uint32_t)proc->status,
        .taken_bytes = proc->taken_bytes,
        .sent_ns = ep_clock_ns(),
        .exit_ns = proc->exit_ns,
        .since_ns = job_clock_earliest_there(&local->clock, proc->exit_ns)};

    ep_words_left(proc);
    if (proc->is_first && proc->has_left)
        say_last(proc);
    for (unsigned i = 0; i < OUTPUTS; i++)
        state.tallies[i] = proc->outputs[i].tally;
    ep_processes_say(local, &state);
}

void ep_words_over(struct ep_processes *local)
{
    struct job_word state = {.kind = JOB_WORD_USAGE};

    if (local->cfg.on_idle(local->cfg.arg, &state.usage))
        ep_processes_say(local, &state);
    state = (struct job_word){.kind = JOB_WORD_OVER, .jobs = local->begun};
    ep_processes_say(local, &state);
}

/* --- reading
 * */

uint32_t ep_words_room(struct ep_processes *local, uint32_t max_bytes)
{
    struct ov_buf *block = local->block;
    uint32_t left = block == NULL ? 0 : block->cap_bytes - local->block_used;

    if (block == NULL || (left < max_bytes && left < block->cap_bytes / 2)) {
        if (block != NULL)
            ep_hub_put(local->cfg.hub, block);
        local->block = ep_hub_buf(local->cfg.hub);
        local->block_used = 0;
        if (local->block == NULL)
            return 0;
        left = local->block->cap_bytes;
    }
    return left < max_bytes ? left : max_bytes;
}

void ep_words_took(struct ep_processes *local, uint32_t len_bytes,
                   struct ov_read *read)
{
    read->len_bytes = len_bytes;
    if (len_bytes == 0)
        return;
    read->buf = ov_buf_ref(local->block);
    read->off_bytes = local->block_used;
    local->block_used += len_bytes;
}

void ep_words_tally(const struct ov_read *read, struct job_tally *tally)
{
    uint32_t at = 0;

    for (uint32_t records = 0; at < read->len_bytes; records++) {
        uint32_t len_bytes = ov_cut_next(read, at, records);

        job_tally_add(tally, read->buf->mem + read->off_bytes + at, len_bytes);
        at += len_bytes;
    }
}

/* Counts the whole messages that fit, one after the other. */
static uint32_t words_that_fit(const struct ep_processes *local, uint32_t room)
{
    uint32_t at = 0;

    while (at < local->words_len) {
        struct ov_rd rd = ov_rd_init(local->words + at + 1, 2);
        uint32_t next = at + 3 + ov_rd_u16(&rd);

        /* OVER is sent alone, so that it arrives even when other messages are
         * lost. */
        if (next > room || (at > 0 && local->words[at] == JOB_WORD_OVER))
            break;
        at = next;
    }
    return at;
}

void ep_words_read(struct ep_processes *local, uint32_t max_bytes,
                   struct ov_read *read)
{
    uint32_t room = ep_words_room(local, max_bytes);
    uint32_t len_bytes = words_that_fit(local, room);

    read->rank = local->cfg.node;
    read->channel = OV_CHANNEL_STATE;
    if (len_bytes > 0) {
        memcpy(local->block->mem + local->block_used, local->words, len_bytes);
        memmove(local->words, local->words + len_bytes,
                local->words_len - len_bytes);
        local->words_len -= len_bytes;
    }
    ep_words_took(local, len_bytes, read);
    local->is_ready_told = local->words_len > 0;
    read->state = local->words_len > 0 ? OV_INPUT_MORE : OV_INPUT_IDLE;
}
