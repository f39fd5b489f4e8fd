/* What a session and its clients say to each other at the session's door, a
 * socket of packets: one message each.
 *
 * A client says HELLO first, and hears WELCOME or REFUSED. The form of these
 * three is that of every version, so that two that differ can say so. What it
 * may say then is STOP, ADDRESS, or ATTACH to a job, of which it hears JOB: it
 * may ask WHERE the processes of that are, pull their output and push to their
 * stdin. Processes go by their numbers in the session: rank and base.
 *
 * One that serves a PMIx tool WATCHes instead: it hears of all jobs, and asks
 * and says what concerns no job alone. For each pull of the tool, and each job
 * that it pushes to or starts, it comes once more, as a client of that job.
 *
 * The rows of a body are in door.c and, as a table, in docs/protocol.md.
 */
#ifndef JOB_DOOR_H
#define JOB_DOOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "job/schema.h"
#include "overlay/base/wire.h"

enum {
    JOB_DOOR_VERSION = 6, /* of the messages behind the first three */
    JOB_DOOR_TEXT_MAX = 512,
    JOB_DOOR_OUTPUT_MAX = 64 * 1024, /* bytes of output, */
    JOB_DOOR_REST_MAX = 32 * 1024,   /* of a push, of ranges */
    JOB_DOOR_HEAD_MAX = 64,          /* of what has such bytes, without them */
    JOB_DOOR_BYTES_MAX = JOB_DOOR_HEAD_MAX + JOB_DOOR_OUTPUT_MAX,
    JOB_DOOR_PARTS = 64, /* that WHERE is answered with at most */
    JOB_DOOR_RANGE_BYTES = 8,
    JOB_DOOR_NUMBER_BYTES = 4, /* of a pid, and of a status */
};

/* The status of a process that has not ended. */
#define JOB_DOOR_RUNS UINT32_MAX

enum job_door_kind {
    JOB_DOOR_HELLO = 1, /* of the client */
    JOB_DOOR_WELCOME,   /* of the session */
    JOB_DOOR_REFUSED,   /* of the session, what the client asked for last */
    JOB_DOOR_STOP,      /* of the client: the dvm is to end */
    JOB_DOOR_ADDRESS,   /* of the client: where do PMIx tools connect? */
    JOB_DOOR_TOOLS,     /* of the session: there, and they can */
    JOB_DOOR_ATTACH,    /* of the client: to a job; its only one */
    JOB_DOOR_JOB,       /* of the session: it is this one */
    JOB_DOOR_WHERE,     /* of the client: where are its parts from here on? */
    JOB_DOOR_PART,      /* of the session: neighbours on one host; PARTS of
                           them, or as many as there are */
    JOB_DOOR_RANGES,    /* of the client: PULL is for these, too; without one
                           it is for all */
    JOB_DOOR_PULL,      /* of the client: their output, once; what the job keeps
                           from before comes first. A copy, or (redirects) in
                           the place of the console */
    JOB_DOOR_PULLED,    /* of the session: what is written from now on comes */
    JOB_DOOR_OUTPUT,    /* of the session */
    JOB_DOOR_PUSH,      /* of the client: to stdin; the next one when it has */
    JOB_DOOR_PUSHED,    /* of the session: heard this */
    JOB_DOOR_SPAWN,     /* of the client, in place of ATTACH: a piece of
                           job/request.h; is_more: of several. The answer is
                           JOB, and then STARTED, or UNSTARTED. All of the job's
                           output comes, and the job ends with the client */
    JOB_DOOR_STARTED,   /* of the session: all of its processes run */
    JOB_DOOR_UNSTARTED, /* of the session: it does not begin, or ends as one of
                           its processes cannot be started */
    JOB_DOOR_SIGNAL,    /* of the client: for all processes of its job; of one
                           that watches: for those of the RANGES before it */
    JOB_DOOR_SIGNALLED, /* of the session: it is on its way; is_over: none of
                           them runs */
    JOB_DOOR_ENDED,     /* of the session: all of its processes have */
    JOB_DOOR_TAKEN,     /* of a client that redirects: so many OUTPUTs, counted
                           from PULL on, need not come back any more when it
                           goes; all others do, to the console. is_over: none
                           of those has reached anybody, and nothing more is
                           said */

    /* Of one that watches, and of the session to it. */
    JOB_DOOR_WATCH,     /* of the client, in place of ATTACH. The answer is what
                           follows for each job that is known, then WATCHED */
    JOB_DOOR_WATCHED,   /* of the session: from here on all is new */
    JOB_DOOR_BEGUN,     /* of the session: a job */
    JOB_DOOR_STAGE,     /* of the session: how far it is */
    JOB_DOOR_BROKEN,    /* of the session: a channel has ended, and not all of
                           its output came */
    JOB_DOOR_FORGOTTEN, /* of the session: nothing of the job is known any more
                         */
    JOB_DOOR_DESCRIBE,  /* of the client: what are the processes of this job?
                           The answer is PLACEs, PIDSs and EXITSs, in any order,
                           and then DESCRIBED */
    JOB_DOOR_PLACE,     /* of the session: neighbours of one program on one host
                         */
    JOB_DOOR_PIDS,      /* of the session: these processes were started */
    JOB_DOOR_EXITS,     /* of the session: how these have ended */
    JOB_DOOR_DESCRIBED, /* of the session: that is all. is_over: there is no
                           such job */
    JOB_DOOR_NAME,      /* of the client: its tool wants this name, or ("") any
                         */
    JOB_DOOR_NAMED,     /* of the session: it has this name. is_over: the one
                           that it wants is taken */
    JOB_DOOR_LOG,       /* of the client: text for stdout or stderr of the
                           launcher; is_more: of several pieces */
    JOB_DOOR_LOGGED,    /* of the session: it is written. is_over: it cannot be
                           taken */
    JOB_DOOR_EVENT,     /* of the client: a word of its tool to all others; and
                           of the session to these. It does not look into it */
    JOB_DOOR_NOTE,      /* of the client: for a user who wants to know all */
    JOB_DOOR_KINDS
};

/* Why a job does not start. */
enum job_door_reason {
    JOB_DOOR_NO_ROOM = 1, /* too little room, or anything that is not below */
    JOB_DOOR_NO_HOST,     /* a host is none of the dvm's */
    JOB_DOOR_BAD_HOSTS,   /* a text or file of hosts makes no sense */
    JOB_DOOR_NO_READER,   /* it has no such rank for stdin */
    JOB_DOOR_BLIND,       /* a host does not know its machine */
    JOB_DOOR_NO_DIR,      /* of a program, or it may not be entered */
    JOB_DOOR_NO_PROGRAM,
    JOB_DOOR_NO_EXEC,   /* it is no program, or may not be run */
    JOB_DOOR_FAILED,    /* in another way */
    JOB_DOOR_NO_GROWTH, /* it is to add a host that the tree has not */
    JOB_DOOR_REASONS
};

/* How far a job is. */
enum job_door_stage {
    JOB_DOOR_STARTING = 1, /* a first process runs */
    JOB_DOOR_RUNNING,      /* all do */
    JOB_DOOR_OVER,         /* nothing more is heard of any */
    JOB_DOOR_STAGES
};

struct job_door {
    uint8_t kind;     /* enum job_door_kind */
    uint32_t version; /* HELLO: JOB_DOOR_VERSION of the client */
    bool is_dvm;      /* WELCOME. BEGUN: its processes are the daemons */
    bool is_end;      /* OUTPUT: of the channel */
    bool needs_all;   /* PUSH: where one does not read it goes to none */
    bool is_over;     /* PUSHED: nobody reads it any more, it goes nowhere.
                         Of others as said there */
    bool is_more;     /* SPAWN, LOG. PUSH: nothing of others comes between this
                         one and the next */
    bool is_lost;     /* ENDED, STAGE: a process was lost before one failed */
    bool redirects;   /* PULL. PULLED: it does; else it gets a copy */
    bool is_last;     /* PULL: of what is kept the last bytes, not the first.
                         BEGUN: that, and what goes first from one that is too
                         slow, unless a tool says otherwise */
    uint8_t reason;   /* enum job_door_reason. STAGE: enum job_door_stage */
    int32_t status;   /* ENDED, STAGE: of the process `first`, which ended badly
                         before all others, as of waitpid(); count is how many
                         did. SIGNAL: its number */
    uint8_t channel;  /* OUTPUT, BROKEN, LOG */
    uint8_t channels; /* JOB, BEGUN: that its processes have, PULL: wanted;
                         bits, 1 << channel */
    /* JOB, BEGUN, PART, PLACE, PIDS, EXITS: the first process. OUTPUT, BROKEN:
     * the process. NAME, NAMED: the rank. */
    uint32_t first;
    uint32_t base;        /* STAGE, FORGOTTEN, DESCRIBE: of the job */
    uint32_t count;       /* JOB, BEGUN, PART, PLACE: processes */
    uint32_t parts;       /* JOB: how many there are. WHERE, PART: number of
                             one. PLACE: number of the program */
    uint32_t push_bytes;  /* JOB: of a push, at most */
    uint32_t cache_bytes; /* PULL: of each channel, from before;
                             JOB_CACHE_UNSAID: all that is kept. JOB: how much
                             is. BEGUN: as who has started it said */
    /* BEGUN: of each channel so much is put together for a tool that does not
     * say otherwise, for so long; 0: however long it takes. */
    uint32_t buffer_bytes, buffer_s;
    uint32_t limit_bytes;   /* PULL: so much may wait for it, in a file, before
                               it gets copies instead, or copies are dropped; 0:
                               256 MiB when it redirects, else no file */
    uint64_t taken;         /* TAKEN */
    uint64_t time_s;        /* STAGE: since 1970 */
    uint64_t dropped_bytes; /* OUTPUT: missing, as the client was too slow; */
    uint64_t before_bytes;  /* as they are not kept for those who come late */
    const char *host;       /* PLACE: borrowed */
    /* HELLO: the release of the client. WELCOME: the name of the session's own
     * job, or of the dvm. REFUSED: why, a sentence. TOOLS: the address. ATTACH:
     * the name of the job, or "": the only one. JOB, BEGUN: the same. PART:
     * host. UNSTARTED: a sentence, for those who want to know more. PLACE: the
     * program. NAME, NAMED: the namespace. NOTE: a sentence. */
    char text[JOB_DOOR_TEXT_MAX];
    /* Borrowed. RANGES: first 4, last 4 each, ascending and apart over all
     * RANGES. OUTPUT, LOG: bytes. PUSH: a message of overlay/wire/push.h.
     * SPAWN: a piece. PIDS: 4 each. EXITS: status 4 each, as of waitpid(), or
     * JOB_DOOR_RUNS. EVENT: the client's. */
    struct ov_rd rest;
};

/* Writes the message, of JOB_DOOR_BYTES_MAX bytes at most. */
void job_door_encode(struct ov_wr *wr, const struct job_door *msg);
/* Returns 0, or OV_EPROTO when it is no such message. */
int job_door_decode(struct ov_rd rd, struct job_door *msg);
/* The rows of its body. */
const struct job_schema_row *job_door_rows(unsigned kind);

#endif
