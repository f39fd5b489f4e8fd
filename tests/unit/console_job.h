/* A job whose output goes to the console under test. It records what each
 * source writes, and checks that all of it comes out, every byte once and in
 * order, and that no line is mixed with another. */
#ifndef TESTS_UNIT_CONSOLE_JOB_H
#define TESTS_UNIT_CONSOLE_JOB_H

#include "tests/unit/console_rig.h"

enum {
    JOB_SOURCES_MAX = 80,
    JOB_PIECE = 1 << 16,
    JOB_LINE = 64,
};

/* The bytes that one source has to write. */
struct speech {
    uint8_t *mem; /* owned */
    size_t len_bytes;
    size_t cap_bytes;
    size_t sent_bytes;
    size_t seen_bytes; /* how many of the bytes were found in the output */
};

struct job {
    struct console_rig rig;
    struct rig_reader rd;
    struct speech all[JOB_SOURCES_MAX]; /* rank * 2 + channel - 1 */
    unsigned torn;
};

/* A job whose console can still be changed: job->rig.cfg. */
struct job *job_new(enum text_label_mode label);

/* Opens the console; a thread reads its stdout. */
void job_start(struct job *job);

/* Adds a line of `len` letters. Lines start with their source's number and a
 * colon, so that the source is known in output without labels. */
void speech_line(struct job *job, unsigned source, size_t len,
                 bool has_newline);

/* Returns how many bytes the source has not sent yet. */
size_t speech_left(const struct speech *sp);

/* Sends the next `len` bytes of the source. */
void speech_send(struct job *job, unsigned source, size_t len, bool is_eof);

/* Sends the rest of the source's bytes, in records of `piece` bytes. */
void speech_send_all(struct job *job, unsigned source);

/* Sends about `bytes` of short lines, in records of whole lines. */
void job_flood(struct job *job, unsigned source, size_t bytes);

/* Ends the output and compares it: the bytes of each source are complete and in
 * order, and no line has bytes of two sources. Counts torn lines. */
void job_check(struct job *job);

void job_free(struct job *job);

#endif
