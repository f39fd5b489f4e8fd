/* Encoding and decoding of the words of a node. */
#include "job/word.h"

#include <string.h>

#include "overlay/base/err.h"

static void write_usage(struct ov_wr *wr, const struct job_usage *usage)
{
    ov_wr_u64(wr, usage->rss_peak_bytes);
    ov_wr_u64(wr, usage->cpu_us);
    ov_wr_u64(wr, usage->refused_peers);
    ov_wr_u64(wr, usage->frames_up);
    ov_wr_u64(wr, usage->frames_down);
    ov_wr_u64(wr, usage->daemons);
    ov_wr_u64(wr, usage->lines_in_pieces);
}

static void read_usage(struct ov_rd *rd, struct job_usage *usage)
{
    usage->rss_peak_bytes = ov_rd_u64(rd);
    usage->cpu_us = ov_rd_u64(rd);
    usage->refused_peers = ov_rd_u64(rd);
    usage->frames_up = ov_rd_u64(rd);
    usage->frames_down = ov_rd_u64(rd);
    usage->daemons = ov_rd_u64(rd);
    usage->lines_in_pieces = ov_rd_u64(rd);
}

static void write_tallies(struct ov_wr *wr, const struct job_tally *tallies)
{
    for (unsigned i = 0; i < JOB_WORD_OUTPUTS; i++) {
        if (tallies[i].bytes == 0)
            continue;
        ov_wr_u8(wr, (uint8_t)(OV_CHANNEL_STDOUT + i));
        ov_wr_u64(wr, tallies[i].bytes);
        ov_wr_u64(wr, tallies[i].sum);
    }
}

/* False when a channel is none, comes twice, or had nothing to say. */
static bool read_tallies(struct ov_rd *rd, struct job_tally *tallies)
{
    unsigned next = 0;

    while (ov_rd_left(rd) > 0) {
        unsigned i = job_word_output(ov_rd_u8(rd));

        if (i < next || i >= JOB_WORD_OUTPUTS)
            return false;
        tallies[i].bytes = ov_rd_u64(rd);
        tallies[i].sum = ov_rd_u64(rd);
        if (tallies[i].bytes == 0)
            return false;
        next = i + 1;
    }
    return true;
}

/* The rest of the body as a string. */
static void read_text(struct ov_rd *body, struct job_word *state)
{
    size_t len = ov_rd_left(body);

    if (len >= sizeof(state->text))
        len = sizeof(state->text) - 1;
    if (len > 0)
        memcpy(state->text, ov_rd_bytes(body, len), len);
    state->text[len] = '\0';
}

static void write_text(struct ov_wr *body, const struct job_word *state)
{
    ov_wr_bytes(body, state->text,
                strnlen(state->text, sizeof(state->text) - 1));
}

static void write_machine(struct ov_wr *body, const struct job_word *state)
{
    ov_wr_u32(body, state->packages);
    ov_wr_u32(body, state->cores);
    if (state->packages == 0)
        write_text(body, state);
}

static bool read_machine(struct ov_rd *body, struct job_word *state)
{
    state->packages = ov_rd_u32(body);
    state->cores = ov_rd_u32(body);
    if (state->packages == 0 && state->cores == 0)
        read_text(body, state);
    return state->packages > 0 ? state->cores > 0 : state->text[0] != '\0';
}

static bool read_stdin(struct ov_rd *rd, struct job_word *state)
{
    uint32_t event;

    state->rank = ov_rd_u32(rd);
    event = ov_rd_u32(rd);
    state->value = ov_rd_u32(rd);
    state->stdin_event = (uint8_t)event;
    return event > 0 && event < JOB_STDIN_EVENTS;
}

static void write_pids(struct ov_wr *body, const struct job_word *state)
{
    ov_wr_u32(body, state->rank);
    for (uint32_t i = 0; i < state->value; i++)
        ov_wr_u32(body, state->pids[i]);
}

static bool read_pids(struct ov_rd *body, struct job_word *state)
{
    state->rank = ov_rd_u32(body);
    while (ov_rd_left(body) > 0 && state->value < JOB_WORD_PIDS_MAX)
        state->pids[state->value++] = ov_rd_u32(body);
    return state->value > 0;
}

void job_word_encode(struct ov_wr *wr, const struct job_word *state)
{
    uint8_t mem[JOB_WORD_BYTES_MAX + 16];
    struct ov_wr body = ov_wr_init(mem, sizeof(mem));
    uint16_t len_bytes;

    switch ((enum job_word_kind)state->kind) {
    case JOB_WORD_OVER:
    case JOB_WORD_PIECES:
        ov_wr_u32(&body, state->value);
        break;
    case JOB_WORD_ADOPTED:
        ov_wr_u32(&body, state->parent);
        ov_wr_u32(&body, state->value);
        break;
    case JOB_WORD_EXIT:
        ov_wr_u32(&body, state->rank);
        ov_wr_u32(&body, state->value);
        ov_wr_u64(&body, state->taken_bytes);
        break;
    case JOB_WORD_STARTED:
    case JOB_WORD_FAILED:
        ov_wr_u32(&body, state->rank);
        ov_wr_u32(&body, state->value);
        break;
    case JOB_WORD_STDIN:
        ov_wr_u32(&body, state->rank);
        ov_wr_u32(&body, state->stdin_event);
        ov_wr_u32(&body, state->value);
        break;
    case JOB_WORD_PIDS:
        write_pids(&body, state);
        break;
    case JOB_WORD_USAGE:
        write_usage(&body, &state->usage);
        break;
    case JOB_WORD_MACHINE:
        write_machine(&body, state);
        break;
    case JOB_WORD_NOTE:
    case JOB_WORD_KINDS:
        break;
    }
    if (state->kind == JOB_WORD_EXIT)
        write_tallies(&body, state->tallies);
    if (state->kind == JOB_WORD_FAILED || state->kind == JOB_WORD_NOTE)
        write_text(&body, state);
    len_bytes = (uint16_t)(body.at - mem);
    ov_wr_u8(wr, state->kind);
    ov_wr_u16(wr, len_bytes);
    ov_wr_bytes(wr, mem, len_bytes);
}

int job_word_decode(struct ov_rd *rd, struct job_word *state)
{
    const uint8_t *mem;
    uint16_t len_bytes;
    struct ov_rd body;

    memset(state, 0, sizeof(*state));
    state->kind = ov_rd_u8(rd);
    len_bytes = ov_rd_u16(rd);
    mem = ov_rd_bytes(rd, len_bytes);
    if (rd->bad || mem == NULL || state->kind == 0 ||
        state->kind >= JOB_WORD_KINDS)
        return OV_EPROTO;
    body = ov_rd_init(mem, len_bytes);
    switch ((enum job_word_kind)state->kind) {
    case JOB_WORD_OVER:
    case JOB_WORD_PIECES:
        state->value = ov_rd_u32(&body);
        break;
    case JOB_WORD_ADOPTED:
        state->parent = ov_rd_u32(&body);
        state->value = ov_rd_u32(&body);
        break;
    case JOB_WORD_EXIT:
        state->rank = ov_rd_u32(&body);
        state->value = ov_rd_u32(&body);
        state->taken_bytes = ov_rd_u64(&body);
        break;
    case JOB_WORD_STARTED:
    case JOB_WORD_FAILED:
        state->rank = ov_rd_u32(&body);
        state->value = ov_rd_u32(&body);
        break;
    case JOB_WORD_STDIN:
        if (!read_stdin(&body, state))
            return OV_EPROTO;
        break;
    case JOB_WORD_PIDS:
        if (!read_pids(&body, state))
            return OV_EPROTO;
        break;
    case JOB_WORD_USAGE:
        read_usage(&body, &state->usage);
        break;
    case JOB_WORD_MACHINE:
        if (!read_machine(&body, state))
            return OV_EPROTO;
        break;
    case JOB_WORD_NOTE:
    case JOB_WORD_KINDS:
        break;
    }
    if (state->kind == JOB_WORD_EXIT && !read_tallies(&body, state->tallies))
        return OV_EPROTO;
    if (state->kind == JOB_WORD_FAILED || state->kind == JOB_WORD_NOTE)
        read_text(&body, state);
    return body.bad || ov_rd_left(&body) != 0 ? OV_EPROTO : 0;
}
