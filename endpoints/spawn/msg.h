/* The messages between the owner and the spawner.
 *
 *   owner to spawner
 *   JOB      job u32, flags u8, cwd, argc u32, argv..., envc u32, env...;
 *            with flag 4 then umask u32, nice u8, soft limits u64 each
 *   START    job u32, proc u32, mask u8 (bit i: a descriptor for i follows),
 *            cpus, argc u32, further argv..., envc u32, env...; with the
 *            descriptors
 *   SIGNAL   proc u32, signal u8, all u8
 *   END      end everything that was started, with its descendants
 *   CLOSE    the same as END, and end the spawner too
 *   LEAVE    the owner leaves on purpose: nothing else has to be cleaned up
 *   SWEEP    end what dead daemons have left on this machine
 *
 *   spawner to owner
 *   (each a proc u32, a step u8, a value u32 and a time u64)
 *   STARTED  value: pid
 *   FAILED   step: what failed; value: errno
 *   EXIT     value: status as from waitpid; time: when that was known
 *   ENDED    everything was ended, as END has asked
 *   ELSEWHERE  value: errno; the job's directory cannot be entered, and the
 *            process starts in the spawner's
 *
 * Strings end with NUL. A cwd of "" means none, cpus of "" means all.
 */
#ifndef ENDPOINTS_SPAWN_MSG_H
#define ENDPOINTS_SPAWN_MSG_H

#include <stdbool.h>
#include <stdint.h>

#include "endpoints/spawn/spawner.h"
#include "endpoints/spawn/wire.h"
#include "endpoints/sys/manners.h"

enum ep_spawn_msg {
    EP_SPAWN_JOB = 1,
    EP_SPAWN_START,
    EP_SPAWN_SIGNAL,
    EP_SPAWN_END,
    EP_SPAWN_CLOSE,
    EP_SPAWN_STARTED,
    EP_SPAWN_FAILED,
    EP_SPAWN_EXIT,
    EP_SPAWN_ENDED,
    EP_SPAWN_ELSEWHERE,
    EP_SPAWN_SWEEP,
    EP_SPAWN_LEAVE,
};

/* The steps of a start that can fail, in their order. */
// clang-format off
#define EP_STEP_MAP(X)             \
    X(START,       "start")        \
    X(MEMORY,      "memory")       \
    X(DESCRIPTORS, "descriptors")  \
    X(FORK,        "fork")         \
    X(SESSION,     "session")      \
    X(STDIO,       "stdio")        \
    X(LIMITS,      "limits")       \
    X(BIND,        "bind")         \
    X(CHDIR,       "chdir")        \
    X(ENV,         "env")          \
    X(EXEC,        "exec")         \
    X(INTERPRETER, "interpreter")
// clang-format on

enum ep_step {
#define EP_STEP_ENUM(name, text) EP_STEP_##name,
    EP_STEP_MAP(EP_STEP_ENUM)
#undef EP_STEP_ENUM
        EP_STEPS
};

/* Returns the name of a step for messages; "step" for a number out of range. */
const char *ep_step_name(unsigned step);

/* A job, as the spawner keeps it. */
struct ep_held_job {
    uint32_t job;
    struct ep_spawn_job what; /* arrays are owned; strings lie in body */
    uint8_t *body;            /* owned */
};

/* A START, as the spawner decodes it. */
struct ep_start {
    uint32_t job;
    uint32_t proc;
    uint8_t mask;
    const char *cpus;        /* points into the received body; "": not bound */
    const char *const *args; /* owned; the strings lie in the received body */
    const char *const *env;  /* owned; the strings lie in the received body */
};

struct ep_signal {
    uint32_t proc;
    uint8_t signo;
};

struct ep_report {
    uint32_t proc;
    uint8_t step;   /* used by FAILED */
    uint32_t value; /* a pid, an errno or a status */
    uint64_t at_ns; /* used by EXIT: when it was seen, as of ep_clock_ns() */
};

/* Encoders return a message to post, or NULL with *err set to OV_EINVAL (over 8
 * MiB, no program, a variable that is not NAME=VALUE) or OV_ENOMEM. */
struct ep_wire_out *
ep_spawn_job_encode(uint32_t job, const struct ep_spawn_job *what, int *err);
struct ep_wire_out *ep_start_encode(const struct ep_spawn_proc *what, int *err);
struct ep_wire_out *ep_signal_encode(const struct ep_signal *sig, int *err);
struct ep_wire_out *ep_report_encode(enum ep_spawn_msg type,
                                     const struct ep_report *report, int *err);

/* Decoders return 0, OV_EPROTO or OV_ENOMEM; after an error `out` holds
 * nothing. ep_spawn_job_decode copies the body. */
int ep_spawn_job_decode(const struct ep_wire_in *in, struct ep_held_job *out);
void ep_spawn_job_fini(struct ep_held_job *job);
int ep_start_decode(const struct ep_wire_in *in, struct ep_start *out);
void ep_start_fini(struct ep_start *start);
int ep_signal_decode(const struct ep_wire_in *in, struct ep_signal *out);
int ep_report_decode(const struct ep_wire_in *in, struct ep_report *out);

#endif
