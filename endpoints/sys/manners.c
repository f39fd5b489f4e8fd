/* Reads and sets umask and soft limits. */
#include "config.h"

#include "endpoints/sys/manners.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "endpoints/sys/limits.h"

static const struct {
    unsigned resource; /* glibc has an enum type for it with GNU sources */
} limits[JOB_MANNERS_LIMITS] = {
#define LIMIT(name, text) {RLIMIT_##name},
    JOB_MANNERS_MAP(LIMIT)
#undef LIMIT
};

void ep_manners_read(struct job_manners *manners)
{
    mode_t mask = umask(0);

    umask(mask);
    manners->is_known = true;
    manners->umask = (uint32_t)mask;
    for (unsigned i = 0; i < JOB_MANNERS_LIMITS; i++) {
        struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};

        (void)getrlimit(limits[i].resource, &limit);
        manners->soft[i] = limit.rlim_cur == RLIM_INFINITY
                               ? UINT64_MAX
                               : (uint64_t)limit.rlim_cur;
    }
    manners->soft[JOB_MANNERS_NOFILE] = ep_limits_descriptors_at_start();
}

int ep_manners_apply(const struct job_manners *manners)
{
    if (!manners->is_known)
        return 0;
    umask((mode_t)(manners->umask & 0777));
    if (manners->nice > 0)
        (void)nice(manners->nice); /* lowering the priority is always allowed */
    for (unsigned i = 0; i < JOB_MANNERS_LIMITS; i++) {
        uint64_t soft = manners->soft[i];
        struct rlimit limit;

        if (getrlimit(limits[i].resource, &limit) != 0)
            return -1;
        limit.rlim_cur = soft == UINT64_MAX ? RLIM_INFINITY : (rlim_t)soft;
        /* RLIM_INFINITY is above all other limits. */
        if (limit.rlim_cur > limit.rlim_max)
            limit.rlim_cur = limit.rlim_max;
        if (setrlimit(limits[i].resource, &limit) != 0)
            return -1;
    }
    return 0;
}
