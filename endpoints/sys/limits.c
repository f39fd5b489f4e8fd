/* Raises limits of the operating system as far as the user may. */
#include "config.h"

#include "endpoints/sys/limits.h"

#include <errno.h>
#include <inttypes.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "endpoints/sys/why.h"
#include "overlay/base/err.h"

enum { KEPT_BYTES = 4 << 20 };

/* The limits of the whole process, as they were when it started. */
static struct {
    rlim_t soft;
    bool is_known;
} at_start;

static uint64_t as_number(rlim_t limit)
{
    return limit == RLIM_INFINITY ? UINT64_MAX : (uint64_t)limit;
}

static int read_limit(struct rlimit *out)
{
    if (getrlimit(RLIMIT_NOFILE, out) != 0)
        return OV_ESYS;
    if (!at_start.is_known) {
        at_start.soft = out->rlim_cur;
        at_start.is_known = true;
    }
    return 0;
}

int ep_limits_descriptors(uint64_t need, char *why)
{
    struct rlimit limit;

    if (read_limit(&limit) != 0) {
        snprintf(why, EP_WHY_MAX, "cannot read the limit on open files: %s",
                 strerror(errno));
        return OV_ESYS;
    }
    if (as_number(limit.rlim_cur) >= need)
        return 0;
    if (as_number(limit.rlim_max) < need) {
        snprintf(why, EP_WHY_MAX,
                 "%" PRIu64 " open files are needed here, but the hard limit "
                 "is %" PRIu64 ": raise it (`ulimit -Hn %" PRIu64 "` as root, "
                 "or limits.conf), or run fewer nodes in one daemon",
                 need, as_number(limit.rlim_max), need);
        return OV_EINVAL;
    }
    limit.rlim_cur = limit.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0) {
        snprintf(why, EP_WHY_MAX,
                 "%" PRIu64 " open files are needed here, and raising the "
                 "limit to %" PRIu64 " failed: %s",
                 need, as_number(limit.rlim_max), strerror(errno));
        return OV_ESYS;
    }
    return 0;
}

void ep_limits_wish(uint64_t wish)
{
    struct rlimit limit;

    if (read_limit(&limit) != 0 || as_number(limit.rlim_cur) >= wish)
        return;
    limit.rlim_cur = limit.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
}

uint64_t ep_limits_descriptors_at_start(void)
{
    struct rlimit limit;

    if (!at_start.is_known && read_limit(&limit) != 0)
        return 0;
    return as_number(at_start.soft);
}

void ep_limits_keep_memory(void)
{
    (void)mallopt(M_MMAP_THRESHOLD, KEPT_BYTES);
    (void)mallopt(M_TRIM_THRESHOLD, KEPT_BYTES);
}
