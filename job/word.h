/* The words of a node to the launcher, in records of the STATE channel.
 *
 * A record holds one word after another: kind 1, body length 2, body. The rows
 * of a body are in word.c and, as a table, in docs/protocol.md. Ranks are
 * process numbers.
 */
#ifndef JOB_WORD_H
#define JOB_WORD_H

#include <stdint.h>

#include "job/schema.h"
#include "job/tally.h"
#include "overlay/base/wire.h"
#include "overlay/wire/frame.h"

enum job_word_kind {
    JOB_WORD_STARTED = 1, /* all processes that the node has of a job run */
    JOB_WORD_EXIT,        /* a process is over; its output came before */
    JOB_WORD_FAILED,      /* it could not be started */
    JOB_WORD_ADOPTED,     /* the node was without a parent for a while */
    JOB_WORD_USAGE,       /* of the daemon, from one of its nodes, before its
                             OVER; all but the peak since its last one */
    JOB_WORD_NOTE,        /* for the user */
    JOB_WORD_STDIN,       /* what became of a slow process's stdin */
    JOB_WORD_PIDS,        /* before STARTED, as the host counts them */
    JOB_WORD_OVER,        /* of all jobs that had processes here these are over,
                             and nothing more is to be said of them */
    JOB_WORD_MACHINE,     /* the host: before any job, where the launcher places
                             processes by it, or as it asks for it */
    JOB_WORD_PIECES,      /* unfinished lines fill the daemon's memory for them,
                             and the file for more cannot be used: they may come
                             in pieces from now on */
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
    JOB_STDIN_SHUT,     /* the process itself has closed it */
    /* Words about processes of further jobs alone: */
    JOB_STDIN_BEHIND, /* it is behind: no more is to be sent to its job */
    JOB_STDIN_FREE,   /* it is no longer behind, or no longer reads */
    JOB_STDIN_UNREAD, /* it is behind and has read nothing for ten seconds */
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

/* Zero is what a kind does not say. */
struct job_word {
    uint8_t kind;
    uint32_t rank;   /* of words about a process; STARTED, PIDS: the first */
    uint32_t count;  /* STARTED, PIDS: so many */
    uint32_t status; /* EXIT: as from waitpid */
    uint64_t taken_bytes; /* EXIT: of stdin, from its pipe */
    /* EXIT: what was sent of each channel. */
    struct job_tally tallies[JOB_WORD_OUTPUTS];
    uint32_t err;                     /* FAILED, STDIN, PIECES: errno */
    uint32_t parent;                  /* ADOPTED: a node of the tree */
    uint32_t away_us;                 /* ADOPTED: so long it had none */
    uint32_t stdin_event;             /* STDIN: enum job_stdin_event */
    uint32_t pids[JOB_WORD_PIDS_MAX]; /* PIDS: of that rank and those after */
    uint32_t jobs;                    /* OVER */
    uint32_t packages, cores;         /* MACHINE: 0 where nobody can tell */
    struct job_usage usage;
    char text[JOB_WORD_BYTES_MAX]; /* FAILED: step; NOTE; MACHINE: why not */
};

/* The place of a channel in tallies; JOB_WORD_OUTPUTS or more: it has none. */
static inline unsigned job_word_output(uint8_t channel)
{
    return (unsigned)channel - OV_CHANNEL_STDOUT;
}

/* The rows of a kind's body. */
const struct job_schema_row *job_word_rows(unsigned kind);

/* Appends one word; sets wr->bad when it does not fit. */
void job_word_encode(struct ov_wr *wr, const struct job_word *word);

/* Reads the next word. Returns 0 or OV_EPROTO. */
int job_word_decode(struct ov_rd *rd, struct job_word *word);

#endif
