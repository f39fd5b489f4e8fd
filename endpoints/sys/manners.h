/* What processes take over from who starts the job, beside the environment:
 * umask and soft limits, as at a shell's prompt there.
 *
 * RLIMIT_MEMLOCK is not among them: how much may be locked for a network card
 * is a matter of each host.
 */
#ifndef ENDPOINTS_SYS_MANNERS_H
#define ENDPOINTS_SYS_MANNERS_H

#include <stdbool.h>
#include <stdint.h>

// clang-format off
#define EP_MANNERS_MAP(X) \
    X(AS, "as")           \
    X(CORE, "core")       \
    X(CPU, "cpu")         \
    X(DATA, "data")       \
    X(FSIZE, "fsize")     \
    X(NOFILE, "nofile")   \
    X(NPROC, "nproc")     \
    X(RSS, "rss")         \
    X(STACK, "stack")
// clang-format on

enum ep_manners_limit {
#define EP_MANNERS_ENUM(name, text) EP_MANNERS_##name,
    EP_MANNERS_MAP(EP_MANNERS_ENUM)
#undef EP_MANNERS_ENUM
        EP_MANNERS_LIMITS
};

/* Zeroed: nothing is said, and processes have what their daemon has. */
struct ep_manners {
    bool is_known;
    uint32_t umask;
    uint8_t nice; /* further steps of nice(2), which no launcher says */
    uint64_t soft[EP_MANNERS_LIMITS]; /* UINT64_MAX: unlimited */
};

/* "core" for EP_MANNERS_CORE, as setrlimit(2) has them. O(1). */
const char *ep_manners_name(enum ep_manners_limit limit);

/* Those of this process; of descriptors, those of its start. For one thread:
 * the umask is changed for a moment. */
void ep_manners_read(struct ep_manners *manners);

/* Takes them over; a soft limit goes as far as the hard one lets it. Returns
 * 0, or -1 with errno set. */
int ep_manners_apply(const struct ep_manners *manners);

#endif
