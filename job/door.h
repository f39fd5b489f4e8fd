/* What a session and its clients say to each other at the session's door, a
 * socket of packets: one message in each packet.
 *
 * A client says HELLO first and hears WELCOME or REFUSED. These three have the
 * same form in every version, so that two programs of different versions can
 * say so. Then the client may say STOP, ADDRESS, or ATTACH to a job, which is
 * answered by JOB: it may ask WHERE the processes of the job are, pull their
 * output and push to their stdin. Processes are named by their numbers in the
 * session: base + rank.
 *
 * A client that serves a PMIx tool says WATCH instead, and hears of all jobs.
 * For each pull of the tool, and each job that it pushes to or starts, it
 * connects once more, as a client of that job.
 *
 * The rows of each body are in door.c and, as a table, in docs/protocol.md.
 */
#ifndef JOB_DOOR_H
#define JOB_DOOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "job/schema.h"
#include "overlay/base/wire.h"

enum {
    JOB_DOOR_VERSION = 6, /* of all messages but the first three */
    JOB_DOOR_TEXT_MAX = 512,
    JOB_DOOR_OUTPUT_MAX = 64 * 1024, /* bytes of output, */
    JOB_DOOR_REST_MAX = 32 * 1024,   /* of ranges in a PUSH, */
    JOB_DOOR_HEAD_MAX = 64,          /* longest head before either */
    JOB_DOOR_BYTES_MAX = JOB_DOOR_HEAD_MAX + JOB_DOOR_OUTPUT_MAX,
    JOB_DOOR_PARTS = 64, /* in an answer to WHERE, at most */
    JOB_DOOR_RANGE_BYTES = 8,
    JOB_DOOR_NUMBER_BYTES = 4, /* size of a pid, and of a status */
};

/* The status of a process that has not ended. */
#define JOB_DOOR_RUNS UINT32_MAX

enum job_door_kind {
    JOB_DOOR_HELLO = 1, /* client: the first message */
    JOB_DOOR_WELCOME,   /* session: the client is accepted */
    JOB_DOOR_REFUSED,   /* session: the last wish of the client is refused */
    JOB_DOOR_STOP,      /* client: end the dvm */
    JOB_DOOR_ADDRESS,   /* client: where do PMIx tools connect? */
    JOB_DOOR_TOOLS,     /* session: PMIx tools connect to this address */
    JOB_DOOR_ATTACH,    /* client: attach to a job; once per connection */
    JOB_DOOR_JOB,       /* session: attached to this job */
    JOB_DOOR_WHERE,     /* client: where are the processes from here on? */
    JOB_DOOR_PART,      /* session: neighbouring ranks on one host; at most
                           PARTS answers, fewer at the job's end */
    JOB_DOOR_RANGES,    /* client: the next PULL is for these ranks, too;
                           without RANGES it is for all */
    JOB_DOOR_PULL,      /* client: send output, once; what the job keeps from
                           before comes first. A copy, or (redirects) instead
                           of the console */
    JOB_DOOR_PULLED,    /* session: what is written from now on is sent */
    JOB_DOOR_OUTPUT,    /* session: output of a process */
    JOB_DOOR_PUSH,      /* client: for stdin; the next only after PUSHED */
    JOB_DOOR_PUSHED,    /* session: answers a PUSH */
    JOB_DOOR_SPAWN,     /* client, instead of ATTACH: a piece of
                           job/request.h; is_more: not the last. The answer
                           is JOB, then STARTED or UNSTARTED. All output of
                           the job comes, and it ends with the client */
    JOB_DOOR_STARTED,   /* session: all processes of the job run */
    JOB_DOOR_UNSTARTED, /* session: the job does not begin, or ends because a
                           process cannot be started */
    JOB_DOOR_SIGNAL,    /* client: a signal for all processes of its job;
                           from one that watches: for the RANGES before it */
    JOB_DOOR_SIGNALLED, /* session: it is on its way; is_over: none runs */
    JOB_DOOR_ENDED,     /* session: all processes of the job have ended */
    JOB_DOOR_TAKEN,     /* client that redirects: this many OUTPUTs, counted
                           from PULL on, need not go to the console when it
                           leaves; all others do. is_over: nobody got those,
                           and no TAKEN follows */

    /* Messages of a client that watches, and of the session to it. */
    JOB_DOOR_WATCH,     /* client, instead of ATTACH. The answer describes
                           all known jobs by the messages below, then WATCHED */
    JOB_DOOR_WATCHED,   /* session: from here on everything is new */
    JOB_DOOR_BEGUN,     /* session: there is this job */
    JOB_DOOR_STAGE,     /* session: the job has reached this stage */
    JOB_DOOR_BROKEN,    /* session: a channel ended with output missing */
    JOB_DOOR_FORGOTTEN, /* session: the job is no longer known */
    JOB_DOOR_DESCRIBE,  /* client: describe the processes of this job. The
                           answer is PLACEs, PIDSs and EXITSs, in any order,
                           then DESCRIBED */
    JOB_DOOR_PLACE,     /* session: ranks of one program on one host */
    JOB_DOOR_PIDS,      /* session: these processes were started */
    JOB_DOOR_EXITS,     /* session: these processes have ended, and how */
    JOB_DOOR_DESCRIBED, /* session: that is all. is_over: no such job */
    JOB_DOOR_NAME,      /* client: its tool asks for this name, or for any
                           ("") */
    JOB_DOOR_NAMED,     /* session: its name. is_over: it is taken */
    JOB_DOOR_LOG,       /* client: for stdout or stderr of the launcher;
                           is_more: not the last piece */
    JOB_DOOR_LOGGED,    /* session: the text is written. is_over: it cannot
                           be */
    JOB_DOOR_EVENT,     /* client: an event of its tool for all others, to
                           whom the session passes it unread */
    JOB_DOOR_NOTE,      /* client: for a user who wants to know everything */
    JOB_DOOR_KINDS
};

/* Why a job does not start. */
enum job_door_reason {
    JOB_DOOR_NO_ROOM = 1, /* too little room, or a reason not listed here */
    JOB_DOOR_NO_HOST,     /* a host does not belong to the dvm */
    JOB_DOOR_BAD_HOSTS,   /* a text or file of hosts makes no sense */
    JOB_DOOR_NO_READER,   /* the job has no such rank to read stdin */
    JOB_DOOR_BLIND,       /* a host cannot describe its machine */
    JOB_DOOR_NO_DIR,      /* a directory is missing or cannot be entered */
    JOB_DOOR_NO_PROGRAM,
    JOB_DOOR_NO_EXEC,   /* a program is missing, or cannot be executed */
    JOB_DOOR_FAILED,    /* for another reason */
    JOB_DOOR_NO_GROWTH, /* the tree cannot get a host that it needs */
    JOB_DOOR_REASONS
};

/* How far a job is. */
enum job_door_stage {
    JOB_DOOR_STARTING = 1, /* a first process runs */
    JOB_DOOR_RUNNING,      /* all processes run */
    JOB_DOOR_OVER,         /* all processes are over */
    JOB_DOOR_STAGES
};

struct job_door {
    uint8_t kind;     /* enum job_door_kind */
    uint32_t version; /* HELLO: JOB_DOOR_VERSION of the client */
    bool is_dvm;      /* WELCOME. BEGUN: its processes are the daemons */
    bool is_end;      /* OUTPUT: the channel ends */
    bool needs_all;   /* PUSH: only when all of the ranks read stdin */
    bool is_over;     /* PUSHED: nobody reads stdin, so it was dropped.
                         Others: see the kind */
    bool is_more;     /* SPAWN, LOG: more pieces follow. PUSH: nothing from
                         others comes between this one and the next */
    bool is_lost;     /* ENDED, STAGE: a process was lost before one failed */
    bool redirects;   /* PULL: asks for output instead of the console.
                         PULLED: it gets that, else a copy */
    bool is_last;     /* PULL: asks for the last bytes that are kept, not the
                         first. BEGUN: the default for that, and for what a
                         tool that is too slow loses first */
    uint8_t reason;   /* enum job_door_reason. STAGE: enum job_door_stage */
    int32_t status;   /* ENDED, STAGE: as from waitpid(), of the process
                         `first`, the first one that ended badly; count is
                         how many did. SIGNAL: its number */
    uint8_t channel;  /* OUTPUT, BROKEN, LOG */
    uint8_t channels; /* bits, 1 << channel. JOB, BEGUN: that the processes
                         have. PULL: that are wanted */
    /* JOB, BEGUN, PART, PLACE, PIDS, EXITS: the first process. OUTPUT, BROKEN:
     * the process. NAME, NAMED: the rank. */
    uint32_t first;
    uint32_t base;        /* STAGE, FORGOTTEN, DESCRIBE: base of the job */
    uint32_t count;       /* JOB, BEGUN, PART, PLACE: number of processes */
    uint32_t parts;       /* JOB: how many. WHERE, PART: one of them. PLACE:
                             index of the program */
    uint32_t push_bytes;  /* JOB: the longest push */
    uint32_t cache_bytes; /* PULL: of each channel, from before;
                             JOB_CACHE_UNSAID: all. JOB: how many are kept.
                             BEGUN: as its starter asked */
    /* BEGUN: by default a tool gets output of a channel when this many bytes
     * are gathered, or after this time; 0: without a time limit. */
    uint32_t buffer_bytes, buffer_s;
    uint32_t limit_bytes;   /* PULL: this much may wait for the client in a
                               file, then it gets copies instead, or loses
                               copies. 0: 256 MiB when it redirects, else no
                               file */
    uint64_t taken;         /* TAKEN */
    uint64_t time_s;        /* STAGE: since 1970 */
    uint64_t dropped_bytes; /* OUTPUT: lost, as the client was too slow; */
    uint64_t before_bytes;  /* not kept for clients that come late */
    const char *host;       /* PLACE: borrowed */
    /* HELLO: the release of the client. WELCOME: the name of the session's own
     * job, or of the dvm. REFUSED: a sentence that says why. TOOLS: the
     * address. ATTACH: the name of the job, or "" for the only one. JOB, BEGUN:
     * its name. PART: the host. UNSTARTED: details for those who want them.
     * PLACE: the program. NAME, NAMED: the namespace. NOTE: a sentence. */
    char text[JOB_DOOR_TEXT_MAX];
    /* Borrowed. RANGES: first 4, last 4 each, ascending and apart over all
     * RANGES. OUTPUT, LOG: bytes. PUSH: a message of overlay/wire/push.h.
     * SPAWN: a piece. PIDS: 4 each. EXITS: status 4 each, as from waitpid(), or
     * JOB_DOOR_RUNS. EVENT: bytes of the client. */
    struct ov_rd rest;
};

/* Writes the message, at most JOB_DOOR_BYTES_MAX bytes. */
void job_door_encode(struct ov_wr *wr, const struct job_door *msg);
/* Returns 0, or OV_EPROTO when the bytes are no valid message. */
int job_door_decode(struct ov_rd rd, struct job_door *msg);
/* The rows of the body of this kind. */
const struct job_schema_row *job_door_rows(unsigned kind);

#endif
