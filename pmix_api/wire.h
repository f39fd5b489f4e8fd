/* The words between the launcher and its PMIx helper.
 *
 * They travel over a SOCK_SEQPACKET socketpair. A packet holds one or more
 * messages back to back; numbers are little-endian, a text is u16 length and
 * bytes without NUL.
 *
 *     1  START    u16 version, u32 pid of the launcher, u32 processes,
 *                 u32 programs, u32 parts, u8 who may connect (1: the
 *                 user, 2: root), u8 1 when the processes are the daemons of a
 *                 dvm, u32 bytes of each channel from before that are kept,
 *                 text namespace, text folder
 *     2, 3, 7, 8, 14, 27, 28: wire_job.h
 *     4  OUTPUT   u32 rank, u8 channel, u8 flags (1: the channel ends here, 2:
 *                 redirected, 4: `to` gets the channel from here on, 8:
 *                 shared), u32 to (a pull; 0: all that get the channel), u64
 *                 bytes of this channel dropped just before, u64 bytes of it
 *                 that are missing there because they were not kept for `to`,
 *                 u32 length, then bytes, or with `shared` u64 where they are
 *                 (share.h)
 *     5  FLUSH    no more OUTPUT follows
 *     6  PING     u32 token
 *     9  DONE     u32 token, u8 answer to LOG, SIGNAL or
 *                 SPAWN
 *     10, 11, 15, 25, 26, 29: wire_push.h
 *     16 UP       text uri: tools can connect
 *     12 BROKEN   u32 rank, u8 channel: it has ended, and not all of it came
 *     13 LIVE     u32 pull: it gets all its channels from here on
 *     17 PULL     u32 pull, u8 channels (1 << channel each), u8 flags (1:
 *                 redirect, 2: more of it follows, 4: the last bytes from
 *                 before and not the first), u32 first rank, u32 last, u32
 *                 bytes of each channel of these from before that it wants
 *     18 QUIET    no tool is left
 *     19 NOTE     text: for a user who wants to know all
 *     20 FLUSHED  what came before FLUSH has gone to the tools, or cannot
 *     21 PONG     u32 token
 *     22 TOOL     one has connected
 *     23 LOG      u32 token (0: no answer is due), u8 channel, u8 1 when more
 *                 of it follows, text
 *     24 SIGNAL   u32 token, u32 number, u8 count, u32 first and u32 last rank
 *                 each; none: all processes
 *     40 END      u32 pull, u64 bytes redirected to it that nobody got, u8 1
 *                 when the launcher is to show what was redirected to it from
 *                 a position on (share.h), u64 this
 *     41 BEHIND   u32 pull: it takes too little, and is to get copies only
 *     43 ROOM     half of what is shared is free again, as was asked for
 *                 (share.h)
 *     44 STOP     u32 pull: it is over, and what is redirected to it comes back
 *                 as OUTPUT, then END; and the launcher's answer to that:
 *                 nothing is on its way to it any more
 *     45 TAKEN    one more OUTPUT can come back; from the launcher
 *     46 HEARD    u32 pull: the nodes of all its processes have heard of it;
 *                 from the launcher, where it gets output from before
 *
 * The launcher sends those below 16, START and all PARTs first, and the last
 * three. Both ends are of one installation; the version is there to say so when
 * they are not.
 *
 * Ranks here are numbers of processes: those of all jobs of the tree have one
 * space of them, in which the run's own job comes first.
 */
#ifndef PMIX_API_WIRE_H
#define PMIX_API_WIRE_H

#include <stdbool.h>
#include <stdint.h>

#include "overlay/base/wire.h"
#include "pmix_api/wire_ask.h"
#include "pmix_api/wire_job.h"
#include "pmix_api/wire_output.h"
#include "pmix_api/wire_pull.h"
#include "pmix_api/wire_push.h"
#include "pmix_api/wire_text.h"

enum { PX_ALLOW_USER = 1, PX_ALLOW_ROOT = 2 };

enum {
    PX_WIRE_VERSION = 20,
    PX_PACKET_BYTES_MAX = 72 * 1024,
    PX_LOG_BYTES_MAX = 60000, /* all pieces together */
    PX_BACK_MAX = 8,          /* OUTPUTs that come back without TAKEN */
};

enum px_kind {
    PX_START = 1,
    PX_PART,
    PX_EXIT,
    PX_OUTPUT,
    PX_FLUSH,
    PX_PING,
    PX_PIDS,
    PX_STAGE,
    PX_DONE,
    PX_STDIN,
    PX_GRANT,
    PX_BROKEN,
    PX_LIVE,
    PX_JOB,
    PX_HELD,
    PX_UP = 16,
    PX_PULL,
    PX_QUIET,
    PX_NOTE,
    PX_FLUSHED,
    PX_PONG,
    PX_TOOL,
    PX_LOG,
    PX_SIGNAL,
    PX_PUSH,
    PX_REST,
    PX_SPAWN,
    PX_HANGUP,
    PX_PUSHER,
    PX_END = 40,
    PX_BEHIND,
    PX_ROOM = 43,
    PX_STOP,
    PX_TAKEN,
    PX_HEARD,
};

struct px_start {
    uint16_t version;
    uint32_t pid, size, apps, parts;
    uint8_t allow; /* PX_ALLOW_ bits */
    bool is_dvm;   /* the processes are the daemons */
    uint32_t cache_bytes;
    struct px_text nspace, folder;
};

struct px_log {
    uint32_t token;
    uint8_t channel; /* enum ov_channel: stdout or stderr */
    bool is_more;
    struct px_text text;
};

struct px_msg {
    enum px_kind kind;
    union {
        struct px_start start;
        struct px_part part;
        struct px_job_word job;
        struct px_spawn_piece spawn;
        struct px_exit exit;
        struct px_output output;
        struct px_pull pull;
        struct px_end end;
        struct px_broken broken;
        uint32_t id; /* LIVE, HEARD, BEHIND, STOP: a pull */
        struct px_pids pids;
        struct px_stage stage;
        struct px_done done;
        struct px_log log;
        struct px_signal signal;
        struct px_stdin in;
        struct px_grant grant;
        struct px_push push;
        struct px_text text; /* UP, NOTE */
        uint32_t token;      /* PING, PONG, HANGUP */
    };
};

/* Appends a message; what does not fit or is no message of the list above sets
 * wr->bad. O(length). */
void px_msg_encode(struct ov_wr *wr, const struct px_msg *msg);

/* Reads one message. Returns 0, or OV_EPROTO for what is none: an unknown kind
 * or flag, bytes that are missing, a text or an output that is too long, a
 * channel that is no output, a range that goes back, a stage or answer that is
 * none. *out is then undefined.
 * O(1). */
int px_msg_decode(struct ov_rd *rd, struct px_msg *out);

#endif
