/* The tables of rows that describe the messages (words) of a node. */
#include "job/word.h"

#include <string.h>

#include "job/schema.h"
#include "overlay/base/err.h"
#include "overlay/base/panic.h"

#define UINT(member, label) JOB_SCHEMA_UINT(struct job_word, member, label)
#define TEXT(label, least, most)                                               \
    JOB_SCHEMA_TEXT(struct job_word, text, label, least, most)

enum { TEXT_MAX = JOB_WORD_BYTES_MAX - 1 };

static const struct job_schema_row tally_rows[] = {
    JOB_SCHEMA_RANGE(struct job_tally, bytes, "bytes", 1, UINT64_MAX),
    JOB_SCHEMA_UINT(struct job_tally, sum, "sum"),
    {.kind = JOB_ROW_END},
};

static const struct job_schema_row left_rows[] = {
    JOB_SCHEMA_RANGE(struct text_left, bytes, "bytes", 1, UINT64_MAX),
    JOB_SCHEMA_UINT(struct text_left, lines, "lines"),
    {.kind = JOB_ROW_END},
};

static const struct job_schema_row range_rows[] = {
    JOB_SCHEMA_UINT(struct topo_range, first, "first"),
    JOB_SCHEMA_UINT(struct topo_range, last, "last"),
    {.kind = JOB_ROW_END},
};

static const struct job_schema_row pid_rows[] = {
    {.kind = JOB_ROW_UINT, .name = "pid", .bytes = 4, .max = UINT32_MAX},
    {.kind = JOB_ROW_END},
};

/* The most rows of a kind. A kind with fewer rows leaves the others zero, which
 * is JOB_ROW_END. */
enum { ROWS_MAX = 10 };

static const struct job_schema_row words[JOB_WORD_KINDS][ROWS_MAX] = {
    [JOB_WORD_STARTED] = {UINT(rank, "rank"), UINT(count, "count"),
                          UINT(sent_ns, "sent ns")},
    [JOB_WORD_EXIT] = {UINT(rank, "rank"), UINT(status, "status"),
                       UINT(taken_bytes, "taken"), UINT(sent_ns, "sent ns"),
                       UINT(exit_ns, "exit ns"), UINT(since_ns, "since ns"),
                       JOB_SCHEMA_PLACES(struct job_word, tallies, "channel",
                                         OV_CHANNEL_STDOUT, tally_rows)},
    [JOB_WORD_FAILED] = {UINT(rank, "rank"), UINT(err, "errno"),
                         TEXT("step", 0, JOB_WORD_STEP_MAX - 1)},
    [JOB_WORD_ADOPTED] = {UINT(parent, "parent"), UINT(away_us, "us")},
    [JOB_WORD_USAGE] = {UINT(usage.rss_peak_bytes, "rss peak"),
                        UINT(usage.cpu_us, "cpu us"),
                        UINT(usage.refused_peers, "peers refused"),
                        UINT(usage.frames_up, "frames up"),
                        UINT(usage.frames_down, "frames down"),
                        UINT(usage.daemons, "daemons"),
                        UINT(usage.lines_in_pieces, "lines in pieces")},
    [JOB_WORD_NOTE] = {TEXT("text", 0, TEXT_MAX)},
    [JOB_WORD_STDIN] = {UINT(rank, "rank"),
                        JOB_SCHEMA_RANGE(struct job_word, stdin_event, "what",
                                         JOB_STDIN_FULL, JOB_STDIN_EVENTS - 1),
                        UINT(err, "errno")},
    [JOB_WORD_PIDS] = {UINT(rank, "rank"),
                       JOB_SCHEMA_LIST(struct job_word, pids, count, 1,
                                       pid_rows)},
    [JOB_WORD_OVER] = {UINT(jobs, "jobs")},
    [JOB_WORD_MACHINE] = {UINT(packages, "sockets"), UINT(cores, "cores"),
                          TEXT("why", 0, TEXT_MAX)},
    [JOB_WORD_PIECES] = {UINT(err, "errno")},
    [JOB_WORD_DOING] = {UINT(ticket, "ticket"),
                        JOB_SCHEMA_RANGE(struct job_word, doing, "what",
                                         JOB_DOING_COMPUTES, JOB_DOINGS - 1),
                        JOB_SCHEMA_LIST(struct job_word, ranges, ranges_count,
                                        1, range_rows)},
    [JOB_WORD_LEFT] = {UINT(rank, "rank"), UINT(source_bytes, "source"),
                       UINT(limited_lines, "limited"),
                       JOB_SCHEMA_PLACES(struct job_word, left, "reason", 0,
                                         left_rows)},
    [JOB_WORD_LAST] = {UINT(rank, "rank"), TEXT("text", 1, TEXT_MAX)},
    [JOB_WORD_LINE_LOST] = {UINT(rank, "rank"), UINT(err, "errno")},
};

const struct job_schema_row *job_word_rows(unsigned kind)
{
    OV_ASSERT(kind < JOB_WORD_KINDS);
    return words[kind];
}

void job_word_encode(struct ov_wr *wr, const struct job_word *word)
{
    const struct job_schema_row *rows = job_word_rows(word->kind);

    ov_wr_u8(wr, word->kind);
    ov_wr_u16(wr, (uint16_t)job_schema_bytes(rows, word));
    job_schema_encode(rows, word, wr);
}

/* True when the message has both numbers, or has neither but a text that says
 * why. */
static bool is_machine(const struct job_word *word)
{
    bool has_why = word->text[0] != '\0';

    return (word->packages > 0) != has_why && (word->cores > 0) != has_why;
}

int job_word_decode(struct ov_rd *rd, struct job_word *word)
{
    uint16_t len_bytes;
    struct ov_rd body;

    memset(word, 0, sizeof(*word));
    word->kind = ov_rd_u8(rd);
    len_bytes = ov_rd_u16(rd);
    body = *rd;
    (void)ov_rd_bytes(rd, len_bytes);
    if (rd->bad || word->kind == 0 || word->kind >= JOB_WORD_KINDS)
        return OV_EPROTO;
    body.end = body.at + len_bytes;
    if (job_schema_decode(words[word->kind], body, word))
        return OV_EPROTO;
    return word->kind == JOB_WORD_MACHINE && !is_machine(word) ? OV_EPROTO : 0;
}
