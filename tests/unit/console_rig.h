/* A console on two pipes, with a clock that only the test moves. */
#ifndef TESTS_UNIT_CONSOLE_RIG_H
#define TESTS_UNIT_CONSOLE_RIG_H

#include "tests/unit/rig.h"

#include "endpoints/console/console.h"
#include "job/tally.h"
#include "endpoints/sys/writer.h"

enum { RIG_SOURCES_MAX = 768 }; /* rank * 3 + channel - 1 */

#define RIG_MS UINT64_C(1000000)

struct console_rig {
    struct event_base *base;
    struct ep_writer *writer;
    struct ep_console *con;
    struct ep_console_cfg cfg;
    int out_fd; /* the descriptor from which the console's stdout is read; -1:
                 * given away */
    int err_fd;
    bool is_one_file; /* set before rig_open(): stderr goes to the pipe of
                       * stdout */
    const struct text_style *style; /* the style of the next records; NULL: that
                                     * of cfg */
    uint64_t now_ns;
    unsigned looks; /* how often the console read the clock */
    bool is_stuck;  /* the output stays unread */
    uint64_t sent_seq[RIG_SOURCES_MAX];
    uint64_t taken_seq[RIG_SOURCES_MAX];
    struct job_tally said[RIG_SOURCES_MAX];
    struct job_tally written[RIG_SOURCES_MAX];
    uint64_t sent_bytes;
    uint64_t taken_bytes;
    uint64_t written_bytes;
    unsigned sent;
    unsigned taken;
    unsigned errors;
    unsigned drained;
    unsigned notes;
    unsigned pauses;
    int err;
    uint8_t err_channel;
    char note[256];
};

/* A record that the console has not taken yet; its address is the cookie. */
struct rig_record {
    struct console_rig *rig;
    uint8_t *mem; /* owned */
    uint32_t len_bytes;
    unsigned source;
    uint64_t seq;
};

/* Fills in rig->cfg; the test may change it before rig_open. */
void rig_prepare(struct console_rig *rig);

int rig_pipe(int *read_fd);

void rig_open(struct console_rig *rig);

/* Closes the console. Checks that all records were taken, and that each byte
 * was written once and in the order of its source, or was dropped. */
void rig_close(struct console_rig *rig);

void rig_send(struct console_rig *rig, uint32_t rank, uint8_t channel,
              const void *mem, size_t len, bool is_eof);

void rig_say(struct console_rig *rig, uint32_t rank, const char *text);

void rig_eof(struct console_rig *rig, uint32_t rank, const char *text);

/* Runs until this many records were taken. */
void rig_taken(struct console_rig *rig, unsigned want);

/* Moves the clock in small steps, as a running loop would see it, after
 * everything that can be written was written. */
void rig_pass(struct console_rig *rig, unsigned ms);

/* Ends the output: waits until all of it is written, and closes the console's
 * descriptors. */
void rig_finish(struct console_rig *rig);

/* Returns the rest of a pipe as text; the caller frees it. */
char *rig_rest(int fd, size_t *len_bytes);

/* Ends the output and compares all of stdout, which must fit into a pipe. */
void rig_expect(struct console_rig *rig, const char *want);
/* Does the same as rig_expect(), and compares all of stderr, too. */
void rig_expect_both(struct console_rig *rig, const char *want,
                     const char *want_err);

#endif
