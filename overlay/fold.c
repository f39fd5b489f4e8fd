/* Puts a frame together in which equal lines are there once. */
#include "overlay/fold.h"

enum {
    PROBES_MAX = 32, /* where more entries are in the way a line is taken for
                        one that was not there before */
    RUNS_TRIED = 8,
};

void ov_fold_begin(struct ov_fold *fold, uint32_t frame_bytes)
{
    if (++fold->stamp == 0) {
        memset(fold->line_slot, 0, sizeof(fold->line_slot));
        memset(fold->run_slot, 0, sizeof(fold->run_slot));
        fold->stamp = 1;
    }
    fold->frame_bytes = frame_bytes;
    fold->at = (struct ov_fold_state){.plain_bytes = OV_FRAME_HEAD_BYTES};
}

void ov_fold_save(struct ov_fold *fold)
{
    fold->saved_at = fold->at;
    memcpy(fold->saved_run, fold->run, fold->at.runs * sizeof(fold->run[0]));
}

void ov_fold_restore(struct ov_fold *fold)
{
    fold->at = fold->saved_at;
    memcpy(fold->run, fold->saved_run, fold->at.runs * sizeof(fold->run[0]));
}

/* --- lines */

static uint64_t mix(uint64_t a, uint64_t b)
{
    a = (a ^ b) * UINT64_C(0x9e3779b97f4a7c15);
    return a ^ a >> 32;
}

static uint64_t hash_of(const uint8_t *mem, uint32_t len_bytes)
{
    uint64_t hash = len_bytes, word = 0;
    uint32_t at = 0;

    for (; at + sizeof(word) <= len_bytes; at += sizeof(word)) {
        memcpy(&word, mem + at, sizeof(word));
        hash = mix(hash, word);
    }
    word = 0;
    if (at < len_bytes)
        memcpy(&word, mem + at, len_bytes - at);
    return mix(hash, word);
}

static bool is_line(const struct ov_fold_line *line, uint64_t hash,
                    const struct ov_buf *buf, uint32_t off_bytes,
                    uint32_t len_bytes)
{
    return line->hash == hash && line->len_bytes == len_bytes &&
           (len_bytes == 0 || memcmp(line->buf->mem + line->off_bytes,
                                     buf->mem + off_bytes, len_bytes) == 0);
}

/* Adds a line that was not there. */
static uint32_t add_line(struct ov_fold *fold, struct ov_fold_line line)
{
    const struct ov_fold_line *last =
        fold->at.lines > 0 ? &fold->line[fold->at.lines - 1] : NULL;

    if (fold->at.lines == OV_FOLD_LINES ||
        fold->at.line_bytes + line.len_bytes > fold->frame_bytes) {
        fold->at.is_full = true;
        return 0;
    }
    if (line.len_bytes > 0 &&
        (last == NULL || last->buf != line.buf ||
         last->off_bytes + last->len_bytes != line.off_bytes))
        fold->at.slices++;
    fold->at.line_bytes += line.len_bytes;
    fold->line[fold->at.lines] = line;
    return fold->at.lines++;
}

/* The number of a line in the table. */
static uint32_t find_line(struct ov_fold *fold, struct ov_buf *buf,
                          uint32_t off_bytes, uint32_t len_bytes)
{
    const uint8_t *mem = len_bytes > 0 ? buf->mem + off_bytes : NULL;
    uint64_t hash = hash_of(mem, len_bytes);
    struct ov_fold_slot *slot = NULL;

    for (unsigned i = 0; i < PROBES_MAX; i++) {
        slot = &fold->line_slot[(hash + i) % OV_FOLD_LINE_SLOTS];
        if (slot->stamp != fold->stamp)
            break;
        if (slot->index < fold->at.lines &&
            is_line(&fold->line[slot->index], hash, buf, off_bytes, len_bytes))
            return slot->index;
    }
    *slot = (struct ov_fold_slot){fold->stamp, fold->at.lines};
    return add_line(fold, (struct ov_fold_line){len_bytes > 0 ? buf : NULL,
                                                off_bytes, len_bytes, hash});
}

/* --- runs */

static bool is_alike(const struct ov_run *a, const struct ov_run *b)
{
    return a->job == b->job && a->channel == b->channel && a->flags == b->flags;
}

/* Adds the lines of `more`, of the same sources, behind those of `run`. */
static bool join_lines(struct ov_run *run, const struct ov_run *more)
{
    uint32_t step = run->lines > 1 ? run->line_step : more->line - run->line;

    if (run->lines == 0 || !is_alike(run, more) || run->times != more->times ||
        run->source != more->source || run->rank != more->rank ||
        run->source_step != more->source_step ||
        run->rank_step != more->rank_step || run->seq_step != more->seq_step ||
        run->seq + run->lines != more->seq ||
        run->lines + (uint32_t)more->lines > UINT16_MAX)
        return false;
    /* Groups of one source would overlap. */
    if (run->times > 1 && run->source_step == 0)
        return false;
    if (step > 1 || more->line != run->line + run->lines * step ||
        (more->lines > 1 && more->line_step != step))
        return false;
    run->line_step = (uint8_t)step;
    run->lines = (uint16_t)(run->lines + more->lines);
    return true;
}

/* What is added from one group to the next. False when that is not possible. */
static bool find_steps(const struct ov_run *run, const struct ov_run *more,
                       struct ov_run *steps)
{
    if (run->times > 1 || more->times > 1) {
        *steps = run->times > 1 ? *run : *more;
        return true;
    }
    if (more->source < run->source || more->source - run->source > 1 ||
        more->rank < run->rank || more->seq < run->seq ||
        more->seq - run->seq > UINT32_MAX)
        return false;
    steps->source_step = (uint8_t)(more->source - run->source);
    steps->rank_step = more->rank - run->rank;
    steps->seq_step = (uint32_t)(more->seq - run->seq);
    return steps->source_step > 0 || steps->seq_step >= run->lines;
}

/* Adds the groups of `more`, with the same lines, behind those of `run`. */
static bool join_groups(struct ov_run *run, const struct ov_run *more)
{
    struct ov_run steps = {0};
    uint64_t times = (uint64_t)run->times + more->times;

    if (!is_alike(run, more) || run->line != more->line ||
        run->lines != more->lines || run->line_step != more->line_step ||
        times * run->lines > OV_SHARED_RECORDS_MAX ||
        !find_steps(run, more, &steps))
        return false;
    if (more->times > 1 && (more->source_step != steps.source_step ||
                            more->rank_step != steps.rank_step ||
                            more->seq_step != steps.seq_step))
        return false;
    if (more->source !=
            run->source + (uint64_t)run->times * steps.source_step ||
        more->rank != run->rank + (uint64_t)run->times * steps.rank_step ||
        more->seq != run->seq + (uint64_t)run->times * steps.seq_step)
        return false;
    run->source_step = steps.source_step;
    run->rank_step = steps.rank_step;
    run->seq_step = steps.seq_step;
    run->times = (uint32_t)times;
    return true;
}

static struct ov_fold_slot *run_slot_of(struct ov_fold *fold,
                                        const struct ov_run *run)
{
    uint64_t hash = mix(run->line, run->lines);

    hash = mix(hash, (uint64_t)run->job << 16 | (uint64_t)run->channel << 8 |
                         run->flags);
    return &fold->run_slot[hash % OV_FOLD_RUN_SLOTS];
}

/* Ends the run that may get more lines: it joins one that has the same lines,
 * or becomes the last one of the frame. */
static void flush_pending(struct ov_fold *fold)
{
    struct ov_fold_slot *slot = run_slot_of(fold, &fold->at.pending);
    uint32_t next = slot->stamp == fold->stamp && slot->index < fold->at.runs
                        ? slot->index + 1
                        : 0;
    uint32_t before = next;

    if (fold->at.pending.lines == 0)
        return;
    for (unsigned i = 0; i < RUNS_TRIED && next > fold->at.cursor; i++) {
        if (join_groups(&fold->run[next - 1].run, &fold->at.pending)) {
            fold->at.cursor = next - 1;
            fold->at.pending.lines = 0;
            return;
        }
        next = fold->run[next - 1].before;
    }
    if (fold->at.runs == OV_FOLD_RUNS) {
        fold->at.is_full = true;
        return;
    }
    *slot = (struct ov_fold_slot){fold->stamp, fold->at.runs};
    fold->run[fold->at.runs] = (struct ov_fold_run){fold->at.pending, before};
    fold->at.cursor = fold->at.runs++;
    fold->at.pending.lines = 0;
}

uint32_t ov_fold_switch(struct ov_fold *fold, uint32_t cursor)
{
    uint32_t before;

    flush_pending(fold);
    before = fold->at.cursor;
    fold->at.cursor = cursor;
    return before;
}

/* Adds a run whose lines are already in the table, one behind the other or all
 * the same. */
static void add_run(struct ov_fold *fold, const struct ov_run *run)
{
    fold->at.records += ov_run_records(run);
    if (join_lines(&fold->at.pending, run))
        return;
    flush_pending(fold);
    fold->at.pending = *run;
}

/* How many lines of a run, from number `i` on, are one behind the other in the
 * table, too. */
static uint16_t stretch_of(const struct ov_fold *fold, const struct ov_run *run,
                           uint32_t i)
{
    const uint32_t *map = &fold->map[run->line];
    uint32_t end = i + 1;

    while (end < run->lines && map[end] == map[end - 1] + 1)
        end++;
    return (uint16_t)(end - i);
}

/* Adds a run of a frame as runs of lines of the table. */
static void add_stretches(struct ov_fold *fold, const struct ov_run *run)
{
    for (uint32_t i = 0; i < run->lines && !fold->at.is_full;) {
        struct ov_run part = *run;

        part.line = fold->map[run->line + i];
        part.seq += i;
        part.lines = stretch_of(fold, run, i);
        part.line_step = part.lines > 1;
        i += part.lines;
        add_run(fold, &part);
    }
}

static void add_mapped(struct ov_fold *fold, const struct ov_run *run)
{
    struct ov_run part = *run;

    if (run->line_step == 0) {
        part.line = fold->map[run->line];
        add_run(fold, &part);
    } else if (run->times == 1 || run->source_step == 1 ||
               stretch_of(fold, run, 0) == run->lines) {
        add_stretches(fold, run);
    } else {
        /* The lines of a group would come behind those of the next one, which
         * is of the same source. */
        part.times = 1;
        part.rank_step = 0;
        part.seq_step = 0;
        for (uint32_t j = 0; j < run->times && !fold->at.is_full; j++) {
            add_stretches(fold, &part);
            part.rank += run->rank_step;
            part.seq += run->seq_step;
        }
    }
}

/* --- what is added */

void ov_fold_record(struct ov_fold *fold, const struct ov_record *rec,
                    struct ov_buf *buf, uint32_t off_bytes)
{
    struct ov_run run = {.source = rec->source,
                         .rank = rec->rank,
                         .seq = rec->seq,
                         .times = 1,
                         .lines = 1,
                         .job = rec->job,
                         .channel = rec->channel,
                         .flags = rec->flags};

    if (fold->at.is_full)
        return;
    run.line = find_line(fold, buf, off_bytes, rec->len_bytes);
    fold->at.plain_bytes += OV_RECORD_HEAD_BYTES + rec->len_bytes;
    if (!fold->at.is_full)
        add_run(fold, &run);
}

static void add_plain(struct ov_fold *fold, struct ov_buf *buf)
{
    struct ov_up_at at = ov_up_begin(buf->mem, buf->len_bytes);
    struct ov_record rec;

    while (at.left > 0 && !fold->at.is_full) {
        uint32_t off = ov_up_next(buf->mem, buf->len_bytes, &at, &rec);

        ov_fold_record(fold, &rec, buf, off);
    }
}

static void add_shared(struct ov_fold *fold, struct ov_buf *buf)
{
    struct ov_frame_head head;
    struct ov_shared shared;
    struct ov_run run;
    struct ov_rd rd;

    OV_ASSERT(ov_frame_head_decode(buf->mem, buf->len_bytes, &head) == 0);
    OV_ASSERT(ov_shared_decode(buf->mem, &head, &shared) == 0);
    fold->at.plain_bytes =
        UINT64_MAX / 2; /* it is not written as a plain one */
    fold->at.is_full = fold->at.is_full || shared.lines > OV_FOLD_LINES;
    for (uint32_t i = 0; i < shared.lines && !fold->at.is_full; i++) {
        uint32_t len_bytes;
        uint32_t off = ov_shared_line(buf->mem, &shared, i, &len_bytes);

        fold->map[i] = find_line(fold, buf, off, len_bytes);
    }
    rd = ov_rd_init(buf->mem + shared.runs_off,
                    shared.lines_off - shared.runs_off);
    for (uint32_t i = 0; i < shared.runs && !fold->at.is_full; i++) {
        OV_ASSERT(ov_run_decode(&rd, &run) == 0);
        add_mapped(fold, &run);
    }
}

void ov_fold_frame(struct ov_fold *fold, struct ov_buf *buf)
{
    if (buf->mem[0] == OV_FRAME_SHARED)
        add_shared(fold, buf);
    else
        add_plain(fold, buf);
}

/* --- the frame */

static uint32_t head_bytes(const struct ov_fold *fold)
{
    uint32_t bytes =
        OV_SHARED_HEAD_BYTES + fold->at.lines * OV_LINE_END_BYTES +
        (fold->at.pending.lines > 0 ? ov_run_bytes(&fold->at.pending) : 0);

    for (uint32_t i = 0; i < fold->at.runs; i++)
        bytes += ov_run_bytes(&fold->run[i].run);
    return bytes;
}

uint32_t ov_fold_bytes(const struct ov_fold *fold)
{
    return head_bytes(fold) + fold->at.line_bytes;
}

bool ov_fold_fits(const struct ov_fold *fold)
{
    uint32_t head = head_bytes(fold);

    return !fold->at.is_full && fold->at.slices <= OV_FOLD_SLICES &&
           fold->at.records <= OV_SHARED_RECORDS_MAX &&
           head <= OV_FOLD_HEAD_BYTES &&
           head + fold->at.line_bytes <= fold->frame_bytes;
}

static void write_head(const struct ov_fold *fold, uint8_t tree,
                       struct ov_wr *wr)
{
    uint32_t end = 0;

    ov_frame_head_encode(wr, &(struct ov_frame_head){
                                 .type = OV_FRAME_SHARED,
                                 .tree = tree,
                                 .count = (uint16_t)fold->at.runs,
                                 .len_bytes = ov_fold_bytes(fold),
                             });
    ov_wr_u32(wr, fold->at.lines);
    for (uint32_t i = 0; i < fold->at.lines; i++) {
        end += fold->line[i].len_bytes;
        ov_wr_u32(wr, end);
    }
    for (uint32_t i = 0; i < fold->at.runs; i++)
        ov_run_encode(wr, &fold->run[i].run);
}

void ov_fold_write(struct ov_fold *fold, uint8_t tree, struct ov_act *act,
                   struct ov_out *out)
{
    struct ov_wr wr = ov_out_head(out);

    flush_pending(fold);
    OV_ASSERT(ov_fold_fits(fold));
    write_head(fold, tree, &wr);
    ov_out_head_done(out, act, &wr);
    for (uint32_t i = 0; i < fold->at.lines; i++) {
        const struct ov_fold_line *line = &fold->line[i];

        if (line->len_bytes > 0)
            ov_out_slice(out, act, ov_buf_ref(line->buf), line->off_bytes,
                         line->len_bytes);
    }
}
