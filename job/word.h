/* The words of a node to the launcher, in records of the STATE channel.
 *
 * A record holds one word after another; ranks are process numbers:
 *
 *     kind 1, body length 2, body
 *
 *     STARTED  rank 4, count 4         processes of the node are running: all
 *              that it has of the job, the first of them with that number
 *     EXIT     rank 4, status 4, taken 8
 *              status as from waitpid; the bytes of stdin that it took from
 *              its pipe; its output came before;
 *              then for each channel that had output, ascending:
 *              channel 1, bytes 8, sum 8    see job/tally.h
 *     FAILED   rank 4, errno 4, step   it could not be started
 *     ADOPTED  parent 4, us 4          the node was without a parent so long
 *     USAGE    rss peak 8, cpu us 8, peers refused 8, frames up 8, down 8,
 *              daemons 8, lines in pieces 8
 *              of the daemon, from one of its nodes, before its OVER; all but
 *              the peak since its last one; daemons: 1 when that is the first,
 *              then 0; lines that could have come whole but for want of room
 *     NOTE     text                    for the user
 *     STDIN    rank 4, what 4, errno 4 what became of a slow process's stdin
 *     PIDS     rank 4, then a pid 4 for it and each rank after it: before
 *              STARTED, as the host counts them
 *     OVER     jobs 4                  the processes of so many jobs, all that
 *              had some here, are over, and nothing more is to be said of them
 *     MACHINE  sockets 4, cores 4      of the host: before any job, where the
 *              launcher places processes by them, or as it asks for them; 0 and
 *              0 when nobody can tell, then with a text that says why
 *     PIECES   errno 4                 unfinished lines fill the daemon's
 * memory for them, and the file for more cannot be used: they may come in
 *              pieces from now on
 */
#ifndef JOB_WORD_H
#define JOB_WORD_H

#include <stdint.h>

#include "job/tally.h"
#include "overlay/base/wire.h"
#include "overlay/wire/frame.h"

enum job_word_kind {
    JOB_WORD_STARTED = 1,
    JOB_WORD_EXIT,
    JOB_WORD_FAILED,
    JOB_WORD_ADOPTED,
    JOB_WORD_USAGE,
    JOB_WORD_NOTE,
    JOB_WORD_STDIN,
    JOB_WORD_PIDS,
    JOB_WORD_OVER,
    JOB_WORD_MACHINE,
    JOB_WORD_PIECES,
    JOB_WORD_KINDS
};

enum {
    JOB_WORD_STEP_MAX = 32,
    JOB_WORD_BYTES_MAX = 512,
    JOB_WORD_OUTPUTS = 3,   /* channels of output: stdout, stderr, stddiag */
    JOB_WORD_PIDS_MAX = 64, /* in one word */
};

/* What becomes of stdin of a process that does not read. */
enum job_stdin_event {
    JOB_STDIN_FULL = 1, /* its spool is as large as it may be: all wait again */
    JOB_STDIN_UNSAVED,  /* the same, as its spool cannot be written */
    JOB_STDIN_LOST,     /* its spool cannot be read: bytes are lost */
    JOB_STDIN_CLOSED,   /* it has waited too long */
    JOB_STDIN_EVENTS
};

/* The step of FAILED where no spool can be made. */
#define JOB_WORD_STEP_SPILL "spill"

struct job_usage {
    uint64_t rss_peak_bytes;
    uint64_t cpu_us;
    uint64_t refused_peers;
    uint64_t frames_up;
    uint64_t frames_down;
    uint64_t daemons;         /* 1: the daemon's first word of it; then 0 */
    uint64_t lines_in_pieces; /* for want of room */
};

struct job_word {
    uint8_t kind;
    uint8_t stdin_event;              /* STDIN: enum job_stdin_event */
    uint32_t rank;                    /* process number; PIDS: the first */
    uint32_t parent;                  /* ADOPTED: a node of the tree */
    uint32_t value;                   /* status, errno, count, microseconds */
    uint32_t pids[JOB_WORD_PIDS_MAX]; /* PIDS: `value` of them */
    uint64_t taken_bytes;             /* EXIT */
    uint32_t packages, cores;         /* MACHINE: at least 1, or with text 0 */
    char text[JOB_WORD_BYTES_MAX];    /* FAILED: step; NOTE; MACHINE */
    struct job_usage usage;
    /* EXIT: what was sent of each channel. */
    struct job_tally tallies[JOB_WORD_OUTPUTS];
};

/* The place of a channel in tallies; JOB_WORD_OUTPUTS or more: it has none. */
static inline unsigned job_word_output(uint8_t channel)
{
    return (unsigned)channel - OV_CHANNEL_STDOUT;
}

/* Appends one word; sets wr->bad when it does not fit. */
void job_word_encode(struct ov_wr *wr, const struct job_word *state);

/* Reads the next word. Returns 0 or OV_EPROTO. */
int job_word_decode(struct ov_rd *rd, struct job_word *state);

#endif
