/* Sources that write lines, and the comparison with the console's output. */
#include "config.h"

#include "tests/unit/console_job.h"

#include <stdio.h>

void job_start(struct job *job)
{
    rig_open(&job->rig);
    rig_reader_start(&job->rd, job->rig.out_fd);
    job->rig.out_fd = -1;
}

struct job *job_new(enum text_label_mode label)
{
    struct job *job = calloc(1, sizeof(*job));

    rig_prepare(&job->rig);
    job->rig.cfg.style.label = label;
    return job;
}

static uint8_t *speech_room(struct speech *sp, size_t len)
{
    if (sp->cap_bytes - sp->len_bytes < len) {
        sp->cap_bytes = sp->cap_bytes * 2 + len;
        sp->mem = realloc(sp->mem, sp->cap_bytes);
    }
    sp->len_bytes += len;
    return sp->mem + sp->len_bytes - len;
}

void speech_line(struct job *job, unsigned source, size_t len, bool has_newline)
{
    struct speech *sp = &job->all[source];
    char head[16];
    size_t head_len = (size_t)snprintf(head, sizeof(head), "%u:", source);

    memcpy(speech_room(sp, head_len), head, head_len);
    memset(speech_room(sp, len), 'a' + (int)(source % 26), len);
    if (has_newline)
        *speech_room(sp, 1) = '\n';
}

void speech_send(struct job *job, unsigned source, size_t len, bool is_eof)
{
    struct speech *sp = &job->all[source];

    assert_true(sp->sent_bytes + len <= sp->len_bytes);
    rig_send(&job->rig, source / 2, (uint8_t)(source % 2 + 1),
             sp->mem + sp->sent_bytes, len, is_eof);
    sp->sent_bytes += len;
}

size_t speech_left(const struct speech *sp)
{
    return sp->len_bytes - sp->sent_bytes;
}

void speech_send_all(struct job *job, unsigned source)
{
    struct speech *sp = &job->all[source];

    while (speech_left(sp) > 0)
        speech_send(job, source,
                    speech_left(sp) < JOB_PIECE ? speech_left(sp) : JOB_PIECE,
                    false);
}

void job_flood(struct job *job, unsigned source, size_t bytes)
{
    for (size_t at = 0; at < bytes; at += JOB_PIECE) {
        for (int i = 0; i < JOB_PIECE / JOB_LINE; i++)
            speech_line(job, source, JOB_LINE - 4, true);
        speech_send_all(job, source);
    }
}

/* Returns the source of a line; *text then points to where its text begins. */
static unsigned line_source(enum text_label_mode label, const uint8_t **text)
{
    const char *at = (const char *)*text;
    char *after;
    unsigned source;

    if (label == TEXT_LABEL_NONE)
        return (unsigned)strtoul(at, NULL, 10);
    if (label == TEXT_LABEL_RANK) {
        source = 2 * (unsigned)strtoul(at, &after, 10);
        assert_memory_equal(after, ": ", 2);
        *text = (const uint8_t *)after + 2;
        return source;
    }
    assert_memory_equal(at, "[job,", 5);
    source = 2 * (unsigned)strtoul(at + 5, &after, 10);
    assert_memory_equal(after, "]<std", 5);
    source += after[5] == 'e';
    after = strchr(after, '>');
    assert_memory_equal(after, ">: ", 3);
    *text = (const uint8_t *)after + 3;
    return source;
}

/* Compares one line of output with the next line of its source. */
static void line_check(struct job *job, const uint8_t *text, const uint8_t *end)
{
    struct speech *sp;
    size_t len;
    unsigned source = line_source(job->rig.cfg.style.label, &text);

    assert_true(source < JOB_SOURCES_MAX && text <= end);
    sp = &job->all[source];
    len = (size_t)(end - text);
    assert_true(len <= sp->len_bytes - sp->seen_bytes);
    if (len > 0)
        assert_memory_equal(text, sp->mem + sp->seen_bytes, len);
    sp->seen_bytes += len;
    if (sp->seen_bytes == sp->len_bytes)
        return;
    if (sp->mem[sp->seen_bytes] == '\n')
        sp->seen_bytes++;
    else
        job->torn++;
}

void job_check(struct job *job)
{
    uint8_t *at;
    uint8_t *end;

    rig_finish(&job->rig);
    rig_reader_join(&job->rd);
    job->rd.mem = realloc(job->rd.mem, job->rd.len_bytes + 1);
    at = job->rd.mem;
    end = at + job->rd.len_bytes;
    *end = '\0';
    while (at < end) {
        uint8_t *newline = memchr(at, '\n', (size_t)(end - at));

        line_check(job, at, newline != NULL ? newline : end);
        at = newline != NULL ? newline + 1 : end;
    }
    for (int i = 0; i < JOB_SOURCES_MAX; i++) {
        assert_int_equal(job->all[i].sent_bytes, job->all[i].len_bytes);
        assert_int_equal(job->all[i].seen_bytes, job->all[i].len_bytes);
    }
    rig_close(&job->rig);
}

void job_free(struct job *job)
{
    for (int i = 0; i < JOB_SOURCES_MAX; i++)
        free(job->all[i].mem);
    free(job->rd.mem);
    free(job);
}
