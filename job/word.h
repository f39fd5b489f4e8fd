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
    JOB_WORD_STARTED = 1, /* all processes of a job on this node run */
    JOB_WORD_EXIT,        /* a process has ended; its output came before */
    JOB_WORD_FAILED,      /* a process could not be started */
    JOB_WORD_ADOPTED,     /* the node was without a parent for a while */
    JOB_WORD_USAGE,       /* of the daemon, from one of its nodes, before the
                             node's OVER; counts since its last one, but for
                             the peak */
    JOB_WORD_NOTE,        /* a note for the user */
    JOB_WORD_STDIN,       /* what happened to the stdin of a slow process */
    JOB_WORD_PIDS,        /* pids on the host, before STARTED */
    JOB_WORD_OVER,        /* of all jobs that had processes here this many
                             are over, and nothing more follows about them */
    JOB_WORD_MACHINE,     /* the host's machine: before any job, where the
                             launcher places processes by it, or on request */
    JOB_WORD_PIECES,      /* unfinished lines fill the daemon's memory for
                             them, and the file for more cannot be used: from
                             now on they may come in pieces */
    JOB_WORD_KINDS
};

enum {
    JOB_WORD_STEP_MAX = 32,
    JOB_WORD_BYTES_MAX = 512,
    JOB_WORD_OUTPUTS = 3,   /* channels of output: stdout, stderr, stddiag */
    JOB_WORD_PIDS_MAX = 64, /* in one word */
};

/* What happens to the stdin of a process that does not read. */
enum job_stdin_event {
    JOB_STDIN_FULL = 1, /* its spool is at its limit: all wait again */
    JOB_STDIN_UNSAVED,  /* its spool cannot be written: all wait again */
    JOB_STDIN_LOST,     /* its spool cannot be read: bytes are lost */
    JOB_STDIN_CLOSED,   /* it waited too long */
    JOB_STDIN_SHUT,     /* the process itself has closed it */
    /* Only about processes of further jobs: */
    JOB_STDIN_BEHIND, /* it lags behind: nothing more may be sent to its job */
    JOB_STDIN_FREE,   /* it no longer lags behind, or no longer reads */
    JOB_STDIN_UNREAD, /* it lags behind and read nothing for ten seconds */
    JOB_STDIN_EVENTS
};

/* The step that FAILED names where no spool can be made. */
#define JOB_WORD_STEP_SPILL "spill"

struct job_usage {
    uint64_t rss_peak_bytes;
    uint64_t cpu_us;
    uint64_t refused_peers;
    uint64_t frames_up;
    uint64_t frames_down;
    uint64_t daemons;         /* 1 in the daemon's first report, else 0 */
    uint64_t lines_in_pieces; /* for lack of room */
};

/* Members that a kind does not use are zero. */
struct job_word {
    uint8_t kind;
    uint32_t rank;        /* of words about a process; STARTED, PIDS: the first
                             rank */
    uint32_t count;       /* STARTED, PIDS: number of processes */
    uint32_t status;      /* EXIT: as from waitpid() */
    uint64_t taken_bytes; /* EXIT: bytes of stdin that it took from its pipe */
    /* EXIT: what was sent of each channel. */
    struct job_tally tallies[JOB_WORD_OUTPUTS];
    uint32_t err;                     /* FAILED, STDIN, PIECES: errno */
    uint32_t parent;                  /* ADOPTED: a node of the tree */
    uint32_t away_us;                 /* ADOPTED: how long it had none */
    uint32_t stdin_event;             /* STDIN: enum job_stdin_event */
    uint32_t pids[JOB_WORD_PIDS_MAX]; /* PIDS: of that rank and the following */
    uint32_t jobs;                    /* OVER: number of jobs */
    uint32_t packages, cores;         /* MACHINE: 0 where it is not known */
    struct job_usage usage;
    char text[JOB_WORD_BYTES_MAX]; /* FAILED: step; NOTE; MACHINE: why not */
};

/* The index of a channel in tallies; JOB_WORD_OUTPUTS or more: it has none. */
static inline unsigned job_word_output(uint8_t channel)
{
    return (unsigned)channel - OV_CHANNEL_STDOUT;
}

/* The rows of the body of this kind. */
const struct job_schema_row *job_word_rows(unsigned kind);

/* Appends one word; sets wr->bad when it does not fit. */
void job_word_encode(struct ov_wr *wr, const struct job_word *word);

/* Reads the next word. Returns 0 or OV_EPROTO. */
int job_word_decode(struct ov_rd *rd, struct job_word *word);

#endif
