/* Checks the rules for nodes: what they may hold, read and write. */
#include "sim/check.h"

#include <stdlib.h>
#include <string.h>

#include "overlay/base/err.h"
#include "overlay/cut.h"
#include "sim/check_jobs.h"
#include "sim/check_links.h"
#include "sim/measure.h"
#include "sim/pushes.h"
#include "sim/stdin.h"
#include "sim/text.h"

enum { TOLD_NODES_MAX = 4096 };

/* The longest time that the end may take: until all processes are over and the
 * goodbye has reached all nodes. */
#define END_NS UINT64_C(6000000000)

int sim_check_open(struct sim_world *w)
{
    w->books = calloc(sim_nodes(w), sizeof(*w->books));
    return w->books == NULL ? OV_ENOMEM : 0;
}

void sim_check_close(struct sim_world *w)
{
    free(w->books);
    free(w->told);
}

/* --- what nodes hold */

void sim_check_record(struct sim_world *w, uint32_t n,
                      const struct ov_read *read)
{
    w->books[n].records += ov_cut_records(read);
}

void sim_check_step(struct sim_world *w, uint32_t n)
{
    const struct sim_books *books = &w->books[n];
    const struct ov_cfg *cfg = &w->cfg.overlay;

    sim_measure_held(w, n);
    sim_check_links(w, n);
    if (books->owed_frames >
        (uint32_t)cfg->standing_max * cfg->up_frames + cfg->lent_frames)
        sim_world_fail(w, "node %u has promised %u frames to its children", n,
                       books->owed_frames);
    if (books->own_bytes > cfg->up_window_bytes)
        sim_world_fail(w, "node %u keeps %u bytes of its own, of %u", n,
                       books->own_bytes, cfg->up_window_bytes);
    if (books->records - books->released > cfg->kept_max && n != 0)
        sim_world_fail(w, "node %u keeps %u records, of %u", n,
                       books->records - books->released,
                       (unsigned)cfg->kept_max);
    /* Beside the frames of the window a node keeps the OPEN messages of the
     * other streams. */
    if (books->stream_held[0] > cfg->control_frames + cfg->streams_max - 1)
        sim_world_fail(w, "node %u holds %u frames of stream 0, of %u", n,
                       (unsigned)books->stream_held[0],
                       (unsigned)cfg->control_frames + cfg->streams_max - 1);
    for (unsigned i = 1; i < SIM_STREAMS; i++) {
        if (books->stream_held[i] > sim_check_window(w, i))
            sim_world_fail(w, "node %u holds %u frames of stream %u, of %u", n,
                           (unsigned)books->stream_held[i], i,
                           sim_check_window(w, i));
    }
}

/* --- bytes */

/* True when this part of a frame has the bytes of the source `key` from
 * `offset` on. */
static bool is_part(const struct ov_slice *slice, uint32_t key, uint64_t offset)
{
    const struct sim_load *load = sim_view_of(slice->buf)->load;
    uint32_t skip = slice->off_bytes - load->head_bytes;
    uint32_t left = slice->len_bytes;

    for (uint16_t i = 0; i < load->extents && left > 0; i++) {
        const struct sim_extent *part = &load->extent[i];
        uint32_t len;

        if (skip >= part->len_bytes) {
            skip -= part->len_bytes;
            continue;
        }
        len = part->len_bytes - skip < left ? part->len_bytes - skip : left;
        if (part->key != key || part->offset + skip != offset)
            return false;
        offset += len;
        left -= len;
        skip = 0;
    }
    return left == 0;
}

/* True when this part of a frame has what the process of node `source` writes
 * from `offset` on. */
static bool is_output(const struct sim_world *w, const struct ov_slice *slice,
                      uint32_t source, uint64_t offset)
{
    if (!w->cfg.overlay.folds)
        return is_part(slice, source, offset);
    return sim_text_is(&w->cfg.job, source, offset,
                       slice->buf->mem + slice->off_bytes, slice->len_bytes);
}

void sim_check_consume(struct sim_world *w, uint32_t n,
                       const struct ov_act *act, const struct ov_slice *slice)
{
    struct sim_process *p = &w->processes[n];

    if (act->seq != p->seen || !is_part(slice, SIM_KEY_STDIN, p->stdin_bytes))
        sim_world_fail(w,
                       "node %u is to read frame %llu, %u bytes that are not "
                       "those at %llu of stdin",
                       n, (unsigned long long)act->seq, slice->len_bytes,
                       (unsigned long long)p->stdin_bytes);
    p->stdin_bytes += slice->len_bytes;
}

bool sim_check_pushed(struct sim_world *w, uint32_t n, const struct ov_act *act,
                      const struct ov_slice *slice, uint32_t frames,
                      uint32_t pushes)
{
    uint8_t mem[SIM_PUSH_MESSAGE_MAX];
    uint32_t len_bytes = sim_pushes_nth(w, act->stream, pushes, mem);

    if (act->seq == frames && (act->flags & OV_DOWN_SOME) != 0 &&
        len_bytes > 0 && len_bytes == slice->len_bytes &&
        memcmp(slice->buf->mem + slice->off_bytes, mem, len_bytes) == 0)
        return true;
    sim_world_fail(w, "frame %llu of stream %u is not push %u, at node %u",
                   (unsigned long long)act->seq, act->stream, pushes, n);
    return false;
}

void sim_check_shown(struct sim_world *w, const struct ov_act *act,
                     const struct ov_slice *slice)
{
    uint32_t source = act->rec.source;
    struct sim_process *p = &w->processes[source];
    struct sim_books *books = &w->books[source];

    if (act->rec.seq != ++books->shown || books->shown > books->records)
        sim_world_fail(w,
                       "the console is shown record %llu of node %u as "
                       "number %u of %u",
                       (unsigned long long)act->rec.seq, source, books->shown,
                       books->records);
    if (act->rec.channel != OV_CHANNEL_STDOUT)
        return;
    if (!is_output(w, slice, source, p->got))
        sim_world_fail(w,
                       "the console is shown %u bytes that are not those at "
                       "%llu of node %u",
                       slice->len_bytes, (unsigned long long)p->got, source);
    p->got += slice->len_bytes;
}

void sim_check_taken(struct sim_world *w, uint32_t source)
{
    w->books[source].taken++;
}

/* --- losses and the end */

void sim_check_lost(struct sim_world *w, uint32_t peer)
{
    const struct sim_host *host = &w->hosts[peer];

    /* A node that no fault has touched must have sent its last report
     * before. */
    if (!host->is_touched && (!host->node.is_final || host->node.is_silent))
        sim_world_fail(w,
                       "I3: node %u is declared lost, and no fault has "
                       "touched it",
                       peer);
}

/* Finds the byte, and in it the bit, that says whether node n was told the
 * address of `peer`. NULL for trees that are too large for such a table. */
static uint8_t *told_of(struct sim_world *w, uint32_t n, uint32_t peer,
                        uint8_t *bit)
{
    size_t at = (size_t)n * sim_nodes(w) + peer;

    if (w->told == NULL && sim_nodes(w) <= TOLD_NODES_MAX)
        w->told = calloc(1, (size_t)sim_nodes(w) * sim_nodes(w) / 8 + 1);
    *bit = (uint8_t)(1u << at % 8);
    return w->told == NULL ? NULL : &w->told[at / 8];
}

void sim_check_address(struct sim_world *w, uint32_t n, uint32_t peer)
{
    uint8_t bit, *told = told_of(w, n, peer, &bit);

    if (told != NULL)
        *told |= bit;
}

void sim_check_probe(struct sim_world *w, uint32_t n, uint32_t peer)
{
    uint8_t bit;
    const uint8_t *told = told_of(w, n, peer, &bit);

    if (told != NULL && (*told & bit) == 0)
        sim_world_fail(w, "node %u dials node %u, of which nobody told it", n,
                       peer);
}

void sim_check_orphan(struct sim_world *w, uint32_t n)
{
    /* When the time limit for the end has passed the root leaves, also if the
     * goodbye has not reached all nodes; then these may lose their parents. */
    if (w->cfg.faults_count == 0 &&
        (sim_host_runs(w, 0) || w->launcher->has_reached_all))
        sim_world_fail(w, "I3: node %u has no parent, without any fault", n);
}

static void end_of(struct sim_world *w, uint32_t n)
{
    const struct sim_host *host = &w->hosts[n];
    const struct sim_process *p = &w->processes[n];
    const struct sim_launcher *l = w->launcher;

    if (host->node.is_silent || (!host->node.is_final && l->goodbye_ns == 0))
        return;
    if (!host->node.is_final)
        sim_world_fail(w, "I3: goodbye without a word from node %u", n);
    if (p->got != p->written)
        sim_world_fail(w, "I1: node %u wrote %llu bytes, %llu were shown", n,
                       (unsigned long long)p->written,
                       (unsigned long long)p->got);
    if (l->is_killed || p->is_closed || !p->is_target)
        return;
    if (p->stdin_bytes != l->fed_bytes ||
        p->pushes != sim_stdin_sent(w, JOB_STREAM_STDIN))
        sim_world_fail(w,
                       "I1: node %u has read %llu bytes of %llu, and %u pushes "
                       "of %u",
                       n, (unsigned long long)p->stdin_bytes,
                       (unsigned long long)l->fed_bytes, p->pushes,
                       sim_stdin_sent(w, JOB_STREAM_STDIN));
}

static void end_of_session(struct sim_world *w)
{
    const struct sim_launcher *l = w->launcher;

    if (l->session.state != JOB_SESSION_OVER ||
        (l->session.code >= 0) != (l->aborted_ns != SIM_NEVER))
        sim_world_fail(w, "the session is in state %d with code %d at its end",
                       (int)l->session.state, l->session.code);
    if (l->aborted_ns != SIM_NEVER && l->left_ns > l->aborted_ns + END_NS)
        sim_world_fail(w, "an end that was ordered takes more than 6 s");
}

void sim_check_end(struct sim_world *w)
{
    for (uint32_t n = 1; n < sim_nodes(w) && w->end.is_over; n++)
        end_of(w, n);
    if (!w->end.is_over)
        return;
    end_of_session(w);
    if (w->launcher->goodbye_ns > 0)
        sim_check_jobs_end(w);
}

void sim_check_buffers(struct sim_world *w)
{
    if (w->store.views_live > 0 || w->store.loads_live > 0)
        sim_world_fail(w, "%llu buffers and %llu frames were never given back",
                       (unsigned long long)w->store.views_live,
                       (unsigned long long)w->store.loads_live);
}
