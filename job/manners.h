/* What processes inherit from whoever starts the job, besides the environment:
 * the umask and the soft limits, as programs inherit them from a shell.
 *
 * RLIMIT_MEMLOCK is not among them: how much may be locked for a network card
 * is a matter of each host.
 */
#ifndef JOB_MANNERS_H
#define JOB_MANNERS_H

#include <stdbool.h>
#include <stdint.h>

// clang-format off
#define JOB_MANNERS_MAP(X) \
    X(AS, "as")            \
    X(CORE, "core")        \
    X(CPU, "cpu")          \
    X(DATA, "data")        \
    X(FSIZE, "fsize")      \
    X(NOFILE, "nofile")    \
    X(NPROC, "nproc")      \
    X(RSS, "rss")          \
    X(STACK, "stack")
// clang-format on

enum job_manners_limit {
#define JOB_MANNERS_ENUM(name, text) JOB_MANNERS_##name,
    JOB_MANNERS_MAP(JOB_MANNERS_ENUM)
#undef JOB_MANNERS_ENUM
        JOB_MANNERS_LIMITS
};

/* When all members are zero nothing is known, and processes inherit from their
 * daemon. */
struct job_manners {
    bool is_known;
    uint32_t umask;
    uint8_t nice; /* added to the daemon's nice value, see nice(2); a launcher
                     never sets this */
    uint64_t soft[JOB_MANNERS_LIMITS]; /* UINT64_MAX: unlimited */
};

/* The name of a limit as in setrlimit(2): "core" for JOB_MANNERS_CORE. O(1). */
const char *job_manners_name(enum job_manners_limit limit);

#endif
