/* A job on the console under test: what each source says, and whether all of it
 * came out, every byte once, in order, and no line mixed with another's. */
#ifndef TESTS_UNIT_CONSOLE_JOB_H
#define TESTS_UNIT_CONSOLE_JOB_H

#include "tests/unit/console_rig.h"

enum {
    JOB_SOURCES_MAX = 80,
    JOB_PIECE = 1 << 16,
    JOB_LINE = 64,
};

/* What one source has to say. */
struct speech {
    uint8_t *mem; /* owned */
    size_t len_bytes;
    size_t cap_bytes;
    size_t sent_bytes;
    size_t seen_bytes; /* found in the output */
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

/* Adds `len` letters, and a newline. Lines start with their source's number
 * and a colon, so that unlabelled output tells whose they are. */
void speech_line(struct job *job, unsigned source, size_t len,
                 bool has_newline);

/* The bytes that the source has not sent yet. */
size_t speech_left(const struct speech *sp);

/* Sends the next `len` bytes that the source has to say. */
void speech_send(struct job *job, unsigned source, size_t len, bool is_eof);

/* Sends the rest in records of one piece. */
void speech_send_all(struct job *job, unsigned source);

/* `bytes` of short lines, in records of whole lines. */
void job_flood(struct job *job, unsigned source, size_t bytes);

/* Ends the output and compares it: each source said what it had to say, in
 * order, and no line is of two. Counts torn lines. */
void job_check(struct job *job);

void job_free(struct job *job);

#endif
