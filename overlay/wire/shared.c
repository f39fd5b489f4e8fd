/* Encodes and decodes SHARED frames, and reads records of UP and SHARED ones.
 */
#include "overlay/wire/shared.h"

#include "overlay/base/err.h"
#include "overlay/base/panic.h"

void ov_run_encode(struct ov_wr *wr, const struct ov_run *run)
{
    bool is_many = ov_run_records(run) > 1;

    ov_wr_u32(wr, run->source);
    ov_wr_u32(wr, run->rank);
    ov_wr_u64(wr, run->seq);
    ov_wr_u16(wr, run->job);
    ov_wr_u8(wr, run->channel);
    ov_wr_u8(wr, (uint8_t)(run->flags | (is_many ? OV_RUN_MANY : 0)));
    ov_wr_u32(wr, run->line);
    if (!is_many)
        return;
    ov_wr_u32(wr, run->times);
    ov_wr_u32(wr, run->rank_step);
    ov_wr_u32(wr, run->seq_step);
    ov_wr_u16(wr, run->lines);
    ov_wr_u8(wr, run->source_step);
    ov_wr_u8(wr, run->line_step);
}

/* True when first + steps * step can be counted in 32 bits. */
static bool is_within(uint32_t first, uint32_t steps, uint32_t step)
{
    return first + (uint64_t)steps * step <= UINT32_MAX;
}

/* Checks what makes a run of several records. A step that nothing uses is 0, so
 * each run has one form. */
static bool is_many(const struct ov_run *run)
{
    uint64_t records = ov_run_records(run);

    if (records < 2 || records > OV_SHARED_RECORDS_MAX ||
        run->source_step > 1 || run->line_step > 1)
        return false;
    if (run->lines == 1 && run->line_step != 0)
        return false;
    if (run->times == 1)
        return run->source_step == 0 && run->rank_step == 0 &&
               run->seq_step == 0;
    /* The groups of one source must not overlap. */
    if (run->source_step == 0 && run->seq_step < run->lines)
        return false;
    return is_within(run->source, run->times - 1, run->source_step) &&
           is_within(run->rank, run->times - 1, run->rank_step);
}

int ov_run_decode(struct ov_rd *rd, struct ov_run *run)
{
    *run = (struct ov_run){.times = 1, .lines = 1};
    run->source = ov_rd_u32(rd);
    run->rank = ov_rd_u32(rd);
    run->seq = ov_rd_u64(rd);
    run->job = ov_rd_u16(rd);
    run->channel = ov_rd_u8(rd);
    run->flags = ov_rd_u8(rd);
    run->line = ov_rd_u32(rd);
    if ((run->flags & OV_RUN_MANY) != 0) {
        run->flags &= (uint8_t)~OV_RUN_MANY;
        run->times = ov_rd_u32(rd);
        run->rank_step = ov_rd_u32(rd);
        run->seq_step = ov_rd_u32(rd);
        run->lines = ov_rd_u16(rd);
        run->source_step = ov_rd_u8(rd);
        run->line_step = ov_rd_u8(rd);
        if (!is_many(run))
            return OV_EPROTO;
    }
    /* 2^62 records behind it no number passes 64 bits. */
    if (rd->bad || run->seq == 0 || run->seq >> 62 != 0 ||
        run->channel >= OV_CHANNELS || (run->flags & ~OV_RECORD_FLAGS) != 0)
        return OV_EPROTO;
    return 0;
}

struct ov_record ov_run_record(const struct ov_run *run, uint32_t item,
                               uint32_t *line)
{
    uint32_t group = item / run->lines, i = item % run->lines;

    *line = run->line + i * run->line_step;
    return (struct ov_record){
        .source = run->source + group * run->source_step,
        .rank = run->rank + group * run->rank_step,
        .seq = run->seq + (uint64_t)group * run->seq_step + i,
        .job = run->job,
        .channel = run->channel,
        .flags = run->flags,
    };
}

/* --- frames */

static uint32_t end_of(const uint8_t *mem, uint32_t line)
{
    struct ov_rd rd = ov_rd_init(mem + OV_SHARED_HEAD_BYTES +
                                     (size_t)line * OV_LINE_END_BYTES,
                                 OV_LINE_END_BYTES);

    return ov_rd_u32(&rd);
}

/* Reads the head and finds the parts of a frame whose head was decoded. */
static int find_parts(const uint8_t *mem, const struct ov_frame_head *head,
                      struct ov_shared *shared)
{
    uint32_t end = 0, before;
    struct ov_rd rd;

    if (head->len_bytes < OV_SHARED_HEAD_BYTES)
        return OV_EPROTO;
    rd = ov_rd_init(mem + OV_FRAME_HEAD_BYTES, 4);
    shared->runs = head->count;
    shared->lines = ov_rd_u32(&rd);
    if (shared->runs == 0 || shared->lines == 0 ||
        shared->lines >
            (head->len_bytes - OV_SHARED_HEAD_BYTES) / OV_LINE_END_BYTES)
        return OV_EPROTO;
    shared->runs_off = OV_SHARED_HEAD_BYTES + shared->lines * OV_LINE_END_BYTES;
    for (uint32_t i = 0; i < shared->lines; i++) {
        before = end;
        end = end_of(mem, i);
        if (end < before)
            return OV_EPROTO;
    }
    if (end > head->len_bytes - shared->runs_off)
        return OV_EPROTO;
    shared->lines_off = head->len_bytes - end;
    return 0;
}

int ov_shared_decode(const uint8_t *mem, const struct ov_frame_head *head,
                     struct ov_shared *shared)
{
    uint64_t records = 0;
    struct ov_run run;
    struct ov_rd rd;

    if (find_parts(mem, head, shared))
        return OV_EPROTO;
    rd = ov_rd_init(mem + shared->runs_off,
                    shared->lines_off - shared->runs_off);
    for (uint32_t i = 0; i < shared->runs; i++) {
        if (ov_run_decode(&rd, &run) || run.line >= shared->lines ||
            (run.lines - 1u) * run.line_step >= shared->lines - run.line)
            return OV_EPROTO;
        records += ov_run_records(&run);
    }
    return ov_rd_left(&rd) == 0 && records <= OV_SHARED_RECORDS_MAX ? 0
                                                                    : OV_EPROTO;
}

uint32_t ov_shared_line(const uint8_t *mem, const struct ov_shared *shared,
                        uint32_t line, uint32_t *len_bytes)
{
    uint32_t from = line == 0 ? 0 : end_of(mem, line - 1);

    *len_bytes = end_of(mem, line) - from;
    return shared->lines_off + from;
}

/* --- one record after another */

struct ov_up_at ov_up_begin(const uint8_t *mem, uint32_t len_bytes)
{
    struct ov_up_at at = {.off = OV_FRAME_HEAD_BYTES};
    struct ov_frame_head head;
    struct ov_shared shared;

    OV_ASSERT(ov_frame_head_decode(mem, len_bytes, &head) == 0);
    at.left = head.count;
    at.data = at.off + (uint32_t)head.count * OV_RECORD_HEAD_BYTES;
    if (head.type == OV_FRAME_SHARED) {
        OV_ASSERT(find_parts(mem, &head, &shared) == 0);
        at.off = shared.runs_off;
        at.data = 0;
    }
    return at;
}

static uint32_t next_shared(const uint8_t *mem, uint32_t len_bytes,
                            struct ov_up_at *at, struct ov_record *rec)
{
    struct ov_rd rd = ov_rd_init(mem + at->off, len_bytes - at->off);
    struct ov_rd count = ov_rd_init(mem + OV_FRAME_HEAD_BYTES, 4);
    struct ov_shared shared = {.lines = ov_rd_u32(&count)};
    struct ov_run run;
    uint32_t line;

    shared.lines_off = len_bytes - end_of(mem, shared.lines - 1);
    OV_ASSERT(ov_run_decode(&rd, &run) == 0);
    *rec = ov_run_record(&run, at->data, &line);
    if (++at->data == ov_run_records(&run)) {
        at->data = 0;
        at->off += ov_run_bytes(&run);
        at->left--;
    }
    return ov_shared_line(mem, &shared, line, &rec->len_bytes);
}

uint32_t ov_up_next(const uint8_t *mem, uint32_t len_bytes, struct ov_up_at *at,
                    struct ov_record *rec)
{
    struct ov_rd rd = ov_rd_init(mem + at->off, OV_RECORD_HEAD_BYTES);
    uint32_t payload = at->data;

    OV_ASSERT(at->left > 0);
    if (mem[0] == OV_FRAME_SHARED)
        return next_shared(mem, len_bytes, at, rec);
    OV_ASSERT(ov_record_decode(&rd, rec) == 0);
    at->off += OV_RECORD_HEAD_BYTES;
    at->data += rec->len_bytes;
    at->left--;
    return payload;
}

bool ov_up_has_output(const uint8_t *mem, uint32_t len_bytes)
{
    struct ov_up_at at = ov_up_begin(mem, len_bytes);
    struct ov_rd rd = ov_rd_init(mem + at.off, len_bytes - at.off);
    struct ov_record rec = {.channel = OV_CHANNEL_STATE};
    struct ov_run run;

    for (; at.left > 0 && rec.channel == OV_CHANNEL_STATE; at.left--) {
        if (mem[0] == OV_FRAME_UP) {
            OV_ASSERT(ov_record_decode(&rd, &rec) == 0);
        } else {
            OV_ASSERT(ov_run_decode(&rd, &run) == 0);
            rec.channel = run.channel;
        }
    }
    return rec.channel != OV_CHANNEL_STATE;
}
