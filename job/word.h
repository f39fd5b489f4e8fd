/* The messages of a node to the launcher, here called words, in records of the
 * STATE channel.
 *
 * A record holds one word after another: kind 1, body length 2, body. The table
 * of each body is in word.c and in docs/protocol.md. Members called `rank` hold
 * process numbers.
 */
#ifndef JOB_WORD_H
#define JOB_WORD_H

#include <stdint.h>

#include "job/doing.h"
#include "job/schema.h"
#include "job/tally.h"
#include "overlay/base/wire.h"
#include "overlay/wire/frame.h"
#include "text/left.h"
#include "topo/tree.h"

enum job_word_kind {
    JOB_WORD_STARTED = 1, /* all processes of a job on this node run */
    JOB_WORD_EXIT,        /* a process has ended; all its output was sent
                             before */
    JOB_WORD_FAILED,      /* a process could not be started */
    JOB_WORD_ADOPTED,     /* the node was without a parent for a while */
    JOB_WORD_USAGE,       /* what the daemon has used, from one of its nodes,
                             before the node's OVER; all but the peak counts
                             from the last USAGE on */
    JOB_WORD_NOTE,        /* a note for the user about nothing bad */
    JOB_WORD_STDIN,       /* what happened to the stdin of a slow process */
    JOB_WORD_PIDS,        /* the pids of processes on the host; before
                             STARTED */
    JOB_WORD_OVER,        /* this many of the jobs that had processes here have
                             ended, and no message about them follows */
    JOB_WORD_MACHINE,     /* the cores and sockets of the host: sent on request,
                             or before any job when the launcher needs them to
                             place processes */
    JOB_WORD_PIECES,      /* the daemon's memory for unfinished lines is full,
                             and its file for more cannot be used: from now on
                             lines may come in pieces */
    JOB_WORD_LINE_LOST,   /* an unfinished line of a process cannot be read back
                             from the daemon's file */
    JOB_WORD_DOING,       /* what these processes are doing: answers a LOOK,
                             or (ticket 0) reports that they make no progress,
                             or do so again; see job/stall.h */
    JOB_WORD_LEFT,        /* what was left out of the output of a process so
                             far; before its EXIT, and now and then */
    JOB_WORD_LAST,        /* the next bytes of what a process wrote last, which
                             was not all sent; before its EXIT */
    JOB_WORD_KINDS
};

enum {
    JOB_WORD_STEP_MAX = 32,
    JOB_WORD_BYTES_MAX = 512,
    JOB_WORD_OUTPUTS = 3,     /* channels of output: stdout, stderr, stddiag */
    JOB_WORD_PIDS_MAX = 64,   /* the most pids in one word */
    JOB_WORD_RANGES_MAX = 60, /* the most ranges in one word */
};

/* What happens to the stdin of a process that does not read. */
enum job_stdin_event {
    JOB_STDIN_FULL = 1, /* the file with its bytes is full: from now on all
                           readers wait for it */
    JOB_STDIN_UNSAVED,  /* the file with its bytes cannot be written: from now
                           on all readers wait for it */
    JOB_STDIN_LOST,     /* the file with its bytes cannot be read: bytes are
                           lost */
    JOB_STDIN_CLOSED,   /* the stdin was closed because the process did not read
                         * for too long */
    JOB_STDIN_SHUT,     /* the process itself has closed its stdin */
    /* Only about processes of further jobs: */
    JOB_STDIN_BEHIND, /* the process is slow: the launcher may send no more
                       * stdin to its job */
    JOB_STDIN_FREE,   /* the process has caught up, or has closed its stdin */
    JOB_STDIN_UNREAD, /* the process is slow, and has read nothing for ten
                       * seconds */
    JOB_STDIN_EVENTS
};

/* The step that FAILED names when the file for unread stdin cannot be made. */
#define JOB_WORD_STEP_SPILL "spill"
/* The step that FAILED names when a pattern of lines cannot be compiled. */
#define JOB_WORD_STEP_FILTER "filter"

struct job_usage {
    uint64_t rss_peak_bytes;
    uint64_t cpu_us;
    uint64_t refused_peers;
    uint64_t frames_up;
    uint64_t frames_down;
    uint64_t daemons;         /* 1 in the daemon's first report, else 0 */
    uint64_t lines_in_pieces; /* how many lines came in pieces for lack of
                                 room */
};

/* Members that a kind does not use are zero. */
struct job_word {
    uint8_t kind;
    uint32_t rank;        /* the process number; STARTED, PIDS: the first
                             process number */
    uint32_t count;       /* STARTED, PIDS: number of processes */
    uint32_t status;      /* EXIT: as from waitpid() */
    uint64_t taken_bytes; /* EXIT: bytes of stdin that the process read */
    uint64_t sent_ns;     /* STARTED, EXIT: when the word was made, by the
                             clock of the host */
    uint64_t exit_ns;     /* EXIT: when the process ended, by the same clock */
    uint64_t since_ns;    /* EXIT: the process ended at this time of the
                           * launcher's clock or later */
    /* EXIT: a tally of the output sent, for each channel. */
    struct job_tally tallies[JOB_WORD_OUTPUTS];
    uint32_t err;                     /* FAILED, STDIN, PIECES, LINE_LOST:
                                         errno */
    uint32_t parent;                  /* ADOPTED: a node of the tree */
    uint32_t away_us;                 /* ADOPTED: how long the node had no
                                         parent */
    uint32_t stdin_event;             /* STDIN: enum job_stdin_event */
    uint32_t pids[JOB_WORD_PIDS_MAX]; /* PIDS: the pid of process `rank`, then
                                         of the next ones */
    uint16_t ticket;                  /* DOING: the ticket of the LOOK */
    uint8_t doing;                    /* DOING: enum job_doing */
    uint32_t ranges_count;
    struct topo_range ranges[JOB_WORD_RANGES_MAX]; /* DOING: the processes */
    uint32_t jobs;                                 /* OVER: how many jobs */
    uint32_t packages, cores; /* MACHINE: the numbers of sockets and cores; 0
                               * when they are not known */
    struct job_usage usage;
    uint64_t source_bytes;  /* LEFT: what the process has written */
    uint64_t limited_lines; /* LEFT: lines that stayed as a limit was hit */
    struct text_left left[TEXT_LEFT_REASONS]; /* LEFT */
    char text[JOB_WORD_BYTES_MAX]; /* FAILED: the step; NOTE: the note; LAST:
                                      bytes without NUL; MACHINE: why it is not
                                      known */
};

/* The index of a channel in tallies; JOB_WORD_OUTPUTS or more when the channel
 * has no tally. */
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
