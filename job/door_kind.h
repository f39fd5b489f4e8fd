/* The kinds of messages at a session's door (job/door.h): who sends which, and
 * what it means. */
#ifndef JOB_DOOR_KIND_H
#define JOB_DOOR_KIND_H

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
                           asks for; a PULL without RANGES asks for all.
                           Session: adds these to those of the next STALLED */
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
    JOB_DOOR_ENDED,     /* session: all processes of the job have ended; lines
                           that say how, except for the process that FIRST has
                           named */
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
    JOB_DOOR_NOTE,      /* client: a sentence that only --verbose shows.
                           Session, to who has started the job: a notice for
                           the end of it */

    JOB_DOOR_LIST,    /* client: asks for the first job whose base is not less
                         than this one */
    JOB_DOOR_LISTED,  /* session: that job. is_over: there is none */
    JOB_DOOR_GROUPS,  /* client: asks in which states the processes of the job
                         with this base are */
    JOB_DOOR_GROUPED, /* session: lines that say so. is_over: no such job runs
                       */
    JOB_DOOR_FIRST,   /* session, to who has started the job: this process is
                         the first one that has failed, as far as is known */
    JOB_DOOR_STALLED, /* session, to who has started the job: a sentence about
                         processes that make no progress or go on, or "" where
                         RANGES before it name those that make none */
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

#endif
