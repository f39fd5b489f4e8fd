/* Reads the outputs of processes through their filters. */
#include "config.h"

#include "endpoints/daemon/outputs.h"

#include <stdio.h>
#include <stdlib.h>

#include "endpoints/sys/clock.h"
#include "overlay/base/err.h"

/* After this time others get a turn, too: patterns may take long. */
#define DROPS_NS UINT64_C(100000000)

enum {
    DROPS_MAX = 16, /* most reads in a row of a channel that is not wanted */
    /* What was left out of a process is told this often while it runs; in a
     * larger job the more seldom, so that a thousand a second tell it. */
    LEFT_MS = 1000,
    LEFT_RANKS = 1000,
};

/* Keeps a copy of output for tools that come late. */
static void keep_copy(struct output *out, const uint8_t *mem,
                      uint32_t len_bytes)
{
    struct ep_processes *local = out->proc->node_job->local;
    struct ep_cache_pool *pool = local->cfg.pool;
    struct job_word state = {.kind = JOB_WORD_NOTE};
    bool was_full = pool->is_full;

    if ((out->proc->node_job->cache_channels & 1u << out->name) == 0)
        return;
    ep_cache_add(&out->cache, pool, out->proc->node_job->cache_bytes, mem,
                 len_bytes);
    if (was_full || !pool->is_full)
        return;
    snprintf(state.text, sizeof(state.text),
             "no more output is kept for tools that attach later "
             "(--pmix-cache): %d MiB are kept, the most there may be",
             EP_CACHE_POOL_BYTES >> 20);
    ep_processes_say(local, &state);
}

bool ep_proc_output_is_dropped(const struct output *out)
{
    return out->is_unwanted && out->replays == 0 && !out->has_ended;
}

/* Tells what was left out, if that was some time ago. */
static void tell_left(struct proc *proc, uint64_t now_ns)
{
    const uint64_t times = 1 + proc->node_job->size / LEFT_RANKS;

    if (now_ns - proc->left_ns < times * LEFT_MS * UINT64_C(1000000))
        return;
    proc->left_ns = now_ns;
    ep_words_left(proc);
}

/* Tells whether a channel may be read again before others get a turn. */
static bool has_turn(unsigned reads, uint64_t begin_ns)
{
    return reads < DROPS_MAX && ep_clock_ns() < begin_ns + DROPS_NS;
}

/* Reads the channel, and leaves out what is not to be sent. Returns whether the
 * process has written anything. */
static bool read_some(struct output *out, uint8_t *mem, uint32_t room,
                      uint32_t *got, enum ep_channel_state *state)
{
    uint64_t before, now_ns;

    if (out->sieve == NULL) {
        ep_channel_read(out->channel, mem, room, got, state);
        return *got > 0;
    }
    before = ep_sieve_source(out->sieve);
    now_ns = ep_clock_ns();
    ep_sieve_read(out->sieve, out->channel, now_ns, mem, room, got, state);
    tell_left(out->proc, now_ns);
    return ep_sieve_source(out->sieve) > before;
}

/* Reads and drops output that is not wanted, whether the tree has room or not.
 * After some reads others get a turn, as a process may write without end.
 * Dropped bytes are not counted: the proof of the job's output covers only what
 * is sent. */
void ep_proc_output_drop(struct output *out)
{
    static uint8_t mem[EP_CHANNEL_CARRY_MAX];
    const uint64_t begin_ns = ep_clock_ns();
    enum ep_channel_state state = EP_CHANNEL_MORE;
    uint32_t got;

    for (unsigned i = 0; state == EP_CHANNEL_MORE && has_turn(i, begin_ns);
         i++) {
        const bool is_new = read_some(out, mem, sizeof(mem), &got, &state);

        keep_copy(out, mem, got);
        if (is_new)
            ep_linger_restart(out->proc);
    }
    if (state == EP_CHANNEL_MORE)
        ep_channel_wait(out->channel);
    out->has_ended = state == EP_CHANNEL_END;
}

static void tell_ready(const struct output *out)
{
    const struct ep_processes_cfg *cfg = &out->proc->node_job->local->cfg;

    ep_hub_ready(cfg->hub, cfg->index, out->input);
}

/* Counts bytes that could not be read back from a file, so that the proof of
 * the job's output shows that they are missing. */
static void count_lost(struct output *out)
{
    int err;
    uint64_t lost_bytes = ep_channel_lost(out->channel, &err);

    if (lost_bytes == 0)
        return;
    out->tally.bytes += lost_bytes;
    out->lost_bytes += lost_bytes;
    ep_words_lost(out->proc, err);
}

/* Reads until something is to be sent, or until it is the turn of others:
 * where much is left out, there may be nothing for a long time. Returns whether
 * the process has written anything. */
static bool read_on(struct output *out, uint8_t *mem, uint32_t room,
                    uint32_t *got, enum ep_channel_state *state)
{
    const uint64_t begin_ns = out->sieve != NULL ? ep_clock_ns() : 0;
    bool is_new = read_some(out, mem, room, got, state);

    if (out->sieve == NULL)
        return is_new;
    for (unsigned i = 1;
         *got == 0 && *state == EP_CHANNEL_MORE && has_turn(i, begin_ns); i++)
        is_new |= read_some(out, mem, room, got, state);
    if (*got == 0 && *state == EP_CHANNEL_MORE) {
        ep_channel_wait(out->channel);
        *state = EP_CHANNEL_IDLE;
    }
    return is_new;
}

enum ep_channel_state ep_proc_output_take(struct output *out,
                                          uint32_t max_bytes,
                                          struct ov_read *read)
{
    struct ep_processes *local = out->proc->node_job->local;
    uint32_t room = ep_words_room(local, max_bytes), got = 0;
    enum ep_channel_state state;
    uint8_t *mem;
    bool is_new;

    /* memory is bounded, and without a buffer nothing works */
    OV_ASSERT(room > 0);
    mem = local->block->mem + local->block_used;
    is_new = read_on(out, mem, room, &got, &state);
    count_lost(out);
    keep_copy(out, mem, got);
    ep_words_took(local, got, read);
    ep_words_tally(read, &out->tally);
    if (is_new)
        ep_linger_restart(out->proc);
    return state;
}

void ep_proc_output_look(struct output *out)
{
    if (ep_proc_output_is_dropped(out))
        ep_proc_output_drop(out);
    if (!ep_proc_output_is_dropped(out))
        tell_ready(out);
}

static void on_ready(void *arg, struct ep_channel *channel)
{
    (void)channel;
    ep_proc_output_look(arg);
}

static struct ep_sieve *open_sieve(struct output *out, bool *is_needed)
{
    struct proc *proc = out->proc;
    struct node_job *node_job = proc->node_job;
    const uint64_t procs =
        (uint64_t)node_job->procs_count * node_job->local->cfg.nodes;
    const struct ep_sieve_cfg cfg = {
        .pool = node_job->local->cfg.sieves,
        .rules = node_job->has_rules ? &node_job->rules : NULL,
        .keeps_last = node_job->job->filter.keeps_last,
        .last = node_job->has_rules ? &proc->last : NULL,
        .last_room = ep_last_room(procs),
    };

    return ep_sieve_open(&cfg, is_needed);
}

int ep_proc_output_open(struct output *out, int fd)
{
    const struct node_job *node_job = out->proc->node_job;
    struct ep_processes *local = node_job->local;
    const struct ep_channel_cfg cfg = {
        .base = local->cfg.base,
        .tails = local->cfg.tails,
        .fd = fd,
        .raw = node_job->job->is_raw,
        /* a line is judged when it is whole */
        .open_ms = node_job->has_rules ? 0 : node_job->job->open_ms,
        .on_ready = on_ready,
        .arg = out,
    };
    bool is_needed;
    int rc;

    out->sieve = open_sieve(out, &is_needed);
    if (is_needed && out->sieve == NULL)
        return OV_ENOMEM;
    rc = ep_channel_open(&cfg, &out->channel);
    if (rc != 0)
        ep_proc_output_forget(out);
    return rc;
}

void ep_proc_output_close(struct output *out)
{
    ep_channel_close(out->channel);
    out->channel = NULL;
}

void ep_proc_output_forget(struct output *out)
{
    ep_sieve_close(out->sieve);
    out->sieve = NULL;
}
