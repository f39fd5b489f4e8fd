/* The messages of a session and its clients over the session's door, a socket
 * of packets, with one message in each packet.
 *
 * A client sends HELLO first and receives WELCOME or REFUSED. These three have
 * the same form in every version, so that two programs of different versions
 * can report that they differ. Then the client may send STOP, ADDRESS, or
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

#include "job/schema.h"
#include "overlay/base/wire.h"

enum {
    JOB_DOOR_VERSION = 7, /* the first three kinds of message are the same in
                             all versions */
    JOB_DOOR_TEXT_MAX = 512,
    JOB_DOOR_OUTPUT_MAX = 128 * 1024, /* bytes of output in a message */
    JOB_DOOR_REST_MAX = 32 * 1024,    /* bytes of ranges in a PUSH */
    JOB_DOOR_HEAD_MAX = 64,           /* longest head before output or ranges */
    JOB_DOOR_BYTES_MAX = JOB_DOOR_HEAD_MAX + JOB_DOOR_OUTPUT_MAX,
    JOB_DOOR_PARTS = 64, /* PART messages that answer one WHERE, at most */
    JOB_DOOR_RANGE_BYTES = 8,
    JOB_DOOR_NUMBER_BYTES = 4, /* size of a pid, and of a status */
};

/* Stands for the status in EXITS when the process has not ended. */
#define JOB_DOOR_RUNS UINT32_MAX

enum job_door_kind {
    JOB_DOOR_HELLO = 1, /* client: the first message */
    JOB_DOOR_WELCOME,   /* session: the client is accepted */
    JOB_DOOR_REFUSED,   /* session: the client's last request is refused */
    JOB_DOOR_STOP,      /* client: asks the dvm to end */
    JOB_DOOR_ADDRESS,   /* client: asks to which address PMIx tools connect */
    JOB_DOOR_TOOLS,     /* session: PMIx tools connect to this address */
    JOB_DOOR_ATTACH,    /* client: attaches to a job; once per connection */
    JOB_DOOR_JOB,       /* session: the client is attached to this job */
    JOB_DOOR_WHERE,     /* client: asks for PARTs, from number `parts` on */
    JOB_DOOR_PART,      /* session: neighbouring ranks on one host; a WHERE is
                           answered by at most JOB_DOOR_PARTS of these */
    JOB_DOOR_RANGES,    /* client: adds these ranks to those that the next PULL
                           asks for; a PULL without RANGES asks for all */
    JOB_DOOR_PULL,      /* client: asks for output, once; kept output comes
                           first. With `redirects` the client replaces the
                           console */
    JOB_DOOR_PULLED,    /* session: the client gets all output from here on */
    JOB_DOOR_OUTPUT,    /* session: output of a process */
    JOB_DOOR_PUSH,      /* client: bytes for stdin; then it waits for PUSHED */
    JOB_DOOR_PUSHED,    /* session: answers a PUSH */
    JOB_DOOR_SPAWN,     /* client, instead of ATTACH: a piece of job/request.h;
                           is_more: not the last. The answer is JOB, then
                           STARTED or UNSTARTED. The client gets all output of
                           the job, which ends when the client disconnects */
    JOB_DOOR_STARTED,   /* session: all processes of the job run */
    JOB_DOOR_UNSTARTED, /* session: the job does not begin, or ends because a
                           process cannot be started */
    JOB_DOOR_SIGNAL,    /* client: a signal for all processes of its job; from a
                           client that watches: for those in RANGES */
    JOB_DOOR_SIGNALLED, /* session: a SIGNAL is on its way; is_over: no process
                           runs */
    JOB_DOOR_ENDED,     /* session: all processes of the job have ended */
    JOB_DOOR_TAKEN,     /* client that redirects: this many OUTPUTs, counted
                           from PULL on, need not go to the console when the
                           client disconnects; later ones do. is_over: these
                           OUTPUTs reached no reader, and no TAKEN follows */

    /* Messages of a client that watches, and of the session to it. */
    JOB_DOOR_WATCH,     /* client, instead of ATTACH. The answer describes
                           all known jobs by the messages below, then WATCHED */
    JOB_DOOR_WATCHED,   /* session: from here on everything is new */
    JOB_DOOR_BEGUN,     /* session: this job exists */
    JOB_DOOR_STAGE,     /* session: the job has reached this stage */
    JOB_DOOR_BROKEN,    /* session: a channel ended with output missing */
    JOB_DOOR_FORGOTTEN, /* session: the job is no longer known */
    JOB_DOOR_DESCRIBE,  /* client: asks about the processes of this job. Answer:
                           PLACE, PIDS and EXITS in any order, then DESCRIBED */
    JOB_DOOR_PLACE,     /* session: ranks of one program on one host */
    JOB_DOOR_PIDS,      /* session: these processes were started */
    JOB_DOOR_EXITS,     /* session: these processes have ended, and how */
    JOB_DOOR_DESCRIBED, /* session: end of the answer. is_over: no such job */
    JOB_DOOR_NAME,      /* client: its tool wants this name, or ("") any name */
    JOB_DOOR_NAMED,     /* session: the tool's name. is_over: it is in use */
    JOB_DOOR_LOG,       /* client: text for the launcher's stdout or stderr;
                           is_more: not the last piece */
    JOB_DOOR_LOGGED,    /* session: LOG is written. is_over: it cannot be */
    JOB_DOOR_EVENT,     /* client: an event of its tool. The session passes it,
                           unread, to all other clients that watch */
    JOB_DOOR_NOTE,      /* client: a sentence that only --verbose shows */
    JOB_DOOR_KINDS
};

/* Why a job does not start. */
enum job_door_reason {
    JOB_DOOR_NO_ROOM = 1, /* too little room, or a reason not listed here */
    JOB_DOOR_NO_HOST,     /* a host does not belong to the dvm */
    JOB_DOOR_BAD_HOSTS,   /* a list or file of hosts is not valid */
    JOB_DOOR_NO_READER,   /* the job has no such rank to read stdin */
    JOB_DOOR_BLIND,       /* a host cannot report its cores and sockets */
    JOB_DOOR_NO_DIR,      /* a directory is missing or cannot be entered */
    JOB_DOOR_NO_PROGRAM,
    JOB_DOOR_NO_EXEC,   /* a program is missing, or cannot be executed */
    JOB_DOOR_FAILED,    /* a process could not be started for another reason */
    JOB_DOOR_NO_GROWTH, /* the tree cannot get a host that it needs */
    JOB_DOOR_REASONS
};

/* The stages of a job. */
enum job_door_stage {
    JOB_DOOR_STARTING = 1, /* a first process runs */
    JOB_DOOR_RUNNING,      /* all processes run */
    JOB_DOOR_OVER,         /* all processes ended or are lost */
    JOB_DOOR_STAGES
};

struct job_door {
    uint8_t kind;     /* enum job_door_kind */
    uint32_t version; /* HELLO: JOB_DOOR_VERSION of the client */
    bool is_dvm;      /* WELCOME: the session is a dvm. BEGUN: the processes of
                         this job are the daemons of a dvm */
    bool is_end;      /* OUTPUT: the channel ends */
    bool needs_all;   /* PUSH: refuse it unless all its ranks read stdin */
    bool is_over;     /* PUSHED: no process reads stdin, so the bytes were
                         dropped. Other kinds: see enum job_door_kind */
    bool is_more;     /* SPAWN, LOG: more follows. PUSH: others' bytes wait for
                         the next PUSH. STAGE: tools get no event of it */
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
    /* JOB, BEGUN, PART, PLACE, PIDS, EXITS: the first process. OUTPUT, BROKEN:
     * the process. NAME, NAMED: the rank. */
    uint32_t first;
    uint32_t base;        /* STAGE, FORGOTTEN, DESCRIBE: base of the job */
    uint32_t count;       /* JOB, BEGUN, PART, PLACE: number of processes */
    uint32_t parts;       /* JOB: how many PARTs it has. WHERE, PART: number of
                             a part. PLACE: index of the program */
    uint32_t push_bytes;  /* JOB: the most bytes in a PUSH */
    uint32_t cache_bytes; /* earlier output of each channel. PULL: how much the
                             client wants (JOB_CACHE_UNSAID: all). JOB: how much
                             is kept. BEGUN: how much its starter wanted kept */
    /* BEGUN: by default a tool gets output of a channel when this many bytes
     * are gathered, or after this many seconds (0: no time limit). */
    uint32_t buffer_bytes, buffer_s;
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
    const char *host;       /* PLACE: borrowed */
    /* HELLO: the version string of the client's xylem. WELCOME: the name of the
     * session's own job, or of the dvm. REFUSED: a sentence that says why.
     * TOOLS: the address. ATTACH: the name of the job, or "" for the only job.
     * JOB, BEGUN: the name of the job. PART: the host. UNSTARTED: further
     * details of the reason. PLACE: the program. NAME, NAMED: the namespace.
     * NOTE: the sentence. */
    char text[JOB_DOOR_TEXT_MAX];
    /* Borrowed; sizes are in bytes. RANGES: first 4, last 4 for each range; the
     * ranges of all RANGES messages ascend and do not touch. OUTPUT, LOG: the
     * text. PUSH: a message of overlay/wire/push.h. SPAWN: a piece of the
     * request. PIDS: 4 for each pid. EXITS: 4 for each status, as from
     * waitpid(), or JOB_DOOR_RUNS. EVENT: the bytes of the event. */
    struct ov_rd rest;
};

/* Writes the message, at most JOB_DOOR_BYTES_MAX bytes. */
void job_door_encode(struct ov_wr *wr, const struct job_door *msg);
/* Returns 0, or OV_EPROTO when the bytes are no valid message. */
int job_door_decode(struct ov_rd rd, struct job_door *msg);
/* The rows of the body of this kind. */
const struct job_schema_row *job_door_rows(unsigned kind);

#endif
