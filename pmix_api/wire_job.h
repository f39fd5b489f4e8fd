/* The words of wire.h about jobs.
 *
 *     14 JOB      u32 token of the SPAWN (0: it is not answered), u32 base,
 *                 u32 processes, u32 programs, u32 parts, u8 channels that are
 *                 forwarded (1 << channel each), u32 pull that gets its output
 *                 from the start (0: none), u32 bytes of each of these channels
 *                 from before that are kept, text namespace: a job beside the
 *                 run's own; its PARTs follow
 *     2  PART     u32 program's number, u32 first rank, u32 processes, text
 *                 host, text program: neighbours by rank, on one host
 *     3  EXIT     u32 rank, u32 status as of waitpid
 *     7  PIDS     u32 first rank, u16 count, u32 each: processes were started
 *     8  STAGE    u32 base, u8 stage, u64 time as of time(), u8 1 when a
 *                 process has failed, u32 its rank, u32 status as of waitpid;
 *                 of an ended job beside the run's own it is the last word;
 *                 stage 0: so it is of one that never began
 *     27 SPAWN    u32 token, u8 1 when more of it follows, u32 length, bytes: a
 *                 piece of what spawn.h has; from the helper
 *     28 HANGUP   u32 token of the SPAWN: who has sent that has gone
 */
#ifndef PMIX_API_WIRE_JOB_H
#define PMIX_API_WIRE_JOB_H

#include <stdbool.h>
#include <stdint.h>

#include "pmix_api/wire_text.h"

enum {
    PX_PIDS_MAX = 4096,         /* in one PIDS */
    PX_SPAWN_PIECE = 16 * 1024, /* in one SPAWN */
};

/* How far a job is. */
enum px_stage_name {
    PX_STAGE_NONE,
    PX_STAGE_STARTED, /* a process runs */
    PX_STAGE_RUNNING, /* all do */
    PX_STAGE_ENDED,
};

struct px_job_word {
    uint32_t token, base, size, apps, parts;
    uint8_t forwards; /* bits, 1 << channel */
    uint32_t pull;
    uint32_t cache_bytes;
    struct px_text nspace;
};

struct px_part {
    uint32_t app, first_rank, ranks;
    struct px_text host, program;
};

struct px_exit {
    uint32_t rank, status;
};

struct px_pids {
    uint32_t first;
    uint16_t count;
    const uint8_t *mem; /* borrowed; 4 bytes each, little-endian */
};

struct px_stage {
    uint32_t base;
    uint8_t name; /* enum px_stage_name */
    uint64_t time_s;
    bool has_failed, is_lost; /* a node was lost before any failed */
    uint32_t rank, status;    /* of the first one */
};

struct px_spawn_piece {
    uint32_t token;
    bool is_more;
    uint32_t len_bytes;
    const uint8_t *mem; /* borrowed */
};

#endif
