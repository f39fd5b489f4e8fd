/* The messages of a session and its clients over the session's door, a socket
 * of packets, with one message in each packet.
 *
 * A client sends HELLO first and receives WELCOME or REFUSED. These three have
 * the same form in every version, so that two programs of different versions
 * can report that they differ. Then the client may send STOP, ADDRESS, LIST, or
 * ATTACH. The session answers ATTACH by JOB; after that the client may ask
 * WHERE the processes of the job are, pull their output and push to their
 * stdin. Processes are named by their numbers in the session: base + rank.
 *
 * A client that serves a PMIx tool sends WATCH instead, and receives news of
 * all jobs. For each pull of the tool, and for each job that the tool pushes to
 * or starts, this client opens one more connection, as a client of that job.
 *
 * The rows of each body are in door.c and, as a table, in docs/protocol.md.
 */
#ifndef JOB_DOOR_H
#define JOB_DOOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "job/door_kind.h"
#include "job/schema.h"
#include "overlay/base/wire.h"

enum {
    JOB_DOOR_VERSION = 10, /* the first three kinds of message are the same in
                             all versions */
    JOB_DOOR_TEXT_MAX = 512,
    JOB_DOOR_OUTPUT_MAX = 128 * 1024, /* bytes of output in a message */
    JOB_DOOR_REST_MAX = 32 * 1024,    /* bytes of ranges in a PUSH */
    JOB_DOOR_ENDS_MAX = 16 * 1024,    /* bytes of lines in an ENDED */
    JOB_DOOR_HEAD_MAX = 64,           /* longest head before output or ranges */
    JOB_DOOR_BYTES_MAX = JOB_DOOR_HEAD_MAX + JOB_DOOR_OUTPUT_MAX,
    JOB_DOOR_PARTS = 64, /* PART messages that answer one WHERE, at most */
    JOB_DOOR_RANGE_BYTES = 8,
    JOB_DOOR_NUMBER_BYTES = 4, /* size of a pid, and of a status */
};

/* Stands for the status in EXITS when the process has not ended. */
#define JOB_DOOR_RUNS UINT32_MAX

/* What LISTED says of a job besides its base, its size, its command and the
 * names of its hosts. */
struct job_door_row {
    const char *name; /* the job's name; borrowed */
    uint32_t left;    /* how many processes are not over */
    uint32_t hosts;   /* how many hosts it runs on */
    uint64_t age_s;   /* seconds since the job began */
    uint64_t
        output_bytes; /* how many bytes have come from the job's processes */
    uint64_t quiet_s; /* seconds since the last output; UINT64_MAX: there is no
                       * output */
    uint64_t stdin_bytes; /* how many bytes were sent to the job's processes */
    uint64_t waiting_bytes; /* how many of these bytes some host has not taken
                             * yet */
};

/* By default a tool gets output of a channel when this many bytes are gathered,
 * or after this many seconds (0: no time limit). */
struct job_door_buffer {
    uint32_t bytes, s;
};

struct job_door {
    uint8_t kind;     /* enum job_door_kind */
    uint32_t version; /* HELLO: JOB_DOOR_VERSION of the client */
    bool is_dvm;      /* WELCOME: the session is a dvm. BEGUN, LISTED: the
                         processes of this job are the daemons of a dvm */
    bool is_end;      /* OUTPUT: the channel ends */
    bool needs_all;   /* PUSH: refuse it unless all its ranks read stdin */
    bool is_over;     /* PUSHED: no process reads stdin, so the bytes were
                         dropped. Other kinds: see enum job_door_kind */
    bool is_more;     /* SPAWN, LOG: more follows. PUSH: others' bytes wait for
                         the next PUSH. STAGE: tools get no event of it.
                         GROUPED: ask again soon, to be told what they do */
    bool is_lost;     /* ENDED, STAGE: a process was lost before one failed */
    bool redirects;   /* PULL: the client asks to get the output instead of the
                         console. PULLED: it does; else it gets a copy */
    bool is_last;     /* PULL: asks for the last bytes that are kept, not the
                         first. BEGUN: the default for such a PULL; also, a tool
                         that is too slow loses the oldest bytes first */
    uint8_t reason;   /* enum job_door_reason; STAGE: enum job_door_stage */
    int32_t status;   /* ENDED, STAGE: of process `first`, the first that ended
                         badly, as from waitpid(); `count` processes ended
                         badly. SIGNAL: the signal's number */
    uint8_t channel;  /* OUTPUT, BROKEN, LOG */
    uint8_t channels; /* bits, 1 << channel. JOB, BEGUN: the channels of the
                         processes. PULL: the channels that the client wants */
    /* JOB, BEGUN, PART, PLACE, PIDS, EXITS, LISTED: the first process. OUTPUT,
     * BROKEN, FIRST: the process. NAME, NAMED: the rank. */
    uint32_t first;
    uint32_t
        base; /* STAGE, FORGOTTEN, DESCRIBE, LIST, GROUPS: base of the job */
    uint32_t count;       /* JOB, BEGUN, PART, PLACE, LISTED: number of
                             processes */
    uint32_t parts;       /* JOB: how many PARTs it has. WHERE, PART: number of
                             a part. PLACE: index of the program */
    uint32_t push_bytes;  /* JOB: the most bytes in a PUSH */
    uint32_t cache_bytes; /* earlier output of each channel. PULL: how much the
                             client wants (JOB_CACHE_UNSAID: all). JOB: how much
                             is kept. BEGUN: how much its starter wanted kept */
    struct job_door_buffer buffer; /* BEGUN */
    uint32_t limit_bytes;   /* PULL: so much output may wait in a file; beyond
                               that, what was redirected is copied, and copies
                               are lost. 0: 256 MiB for a client that redirects,
                               else no file */
    uint64_t taken;         /* TAKEN */
    uint64_t time_s;        /* STAGE: when it was reached, since 1970 */
    uint64_t dropped_bytes; /* OUTPUT: lost before these bytes, as the client
                               was too slow */
    uint64_t before_bytes;  /* OUTPUT: older than these bytes, and no longer
                               kept */
    const char *host;       /* PLACE; LISTED: some hosts, folded. Borrowed */
    struct job_door_row row;
    /* HELLO: the version string of the client's xylem. WELCOME: the name of the
     * session's own job, or of the dvm. REFUSED: a sentence that says why.
     * TOOLS: the address. ATTACH: the name of the job, or "" for the only job.
     * JOB, BEGUN: the name of the job. PART: the host. UNSTARTED: further
     * details of the reason. PLACE: the program. NAME, NAMED: the namespace.
     * NOTE, STALLED: the sentence. LISTED: the command, cut if it is too long.
     * FIRST: a sentence that says how the process ended; "" where a signal of
     * the user has ended it. */
    char text[JOB_DOOR_TEXT_MAX];
    /* Borrowed; sizes are in bytes. RANGES: first 4, last 4 for each
     * range; the ranges of all RANGES messages ascend and do not touch. OUTPUT,
     * LOG: the text. GROUPED, ENDED: lines. PUSH: a message of
     * overlay/wire/push.h. SPAWN: a piece of the request. PIDS: 4 for each pid.
     * EXITS: 4 for each status, as from waitpid(), or JOB_DOOR_RUNS. EVENT: the
     * bytes of the event. */
    struct ov_rd rest;
};

/* Writes the message, at most JOB_DOOR_BYTES_MAX bytes. */
void job_door_encode(struct ov_wr *wr, const struct job_door *msg);
/* Returns 0, or OV_EPROTO when the bytes are no valid message. */
int job_door_decode(struct ov_rd rd, struct job_door *msg);
/* The rows of the body of this kind. */
const struct job_schema_row *job_door_rows(unsigned kind);

#endif
