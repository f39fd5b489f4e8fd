/* Reads the texts of files in /proc/PID. */
#include "endpoints/sys/pid_stat.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "overlay/base/err.h"

int ep_pid_stat_parse(const char *text, struct ep_pid_stat *out)
{
    /* The name between the parentheses may hold any character, even ")". */
    const char *after = strrchr(text, ')');
    uint64_t user_ticks, system_ticks;
    int parent;

    if (after == NULL ||
        sscanf(after + 1,
               " %c %d %*s %*s %*s %*s %" SCNu32 " %*s %*s %*s %*s %" SCNu64
               " %" SCNu64 " %*s %*s %*s %*s %*s %*s %" SCNu64,
               &out->state, &parent, &out->flags, &user_ticks, &system_ticks,
               &out->start) != 6)
        return OV_EPROTO;
    out->parent = parent;
    out->cpu_ticks = user_ticks + system_ticks;
    return 0;
}

bool ep_pid_stat_is_dead(const struct ep_pid_stat *stat)
{
    return stat->state == 'Z' || stat->state == 'X';
}

int ep_pid_io_parse(const char *text, uint64_t *moved_bytes)
{
    uint64_t in, out;

    if (sscanf(text, "rchar: %" SCNu64 " wchar: %" SCNu64, &in, &out) != 2)
        return OV_EPROTO;
    *moved_bytes = in + out;
    return 0;
}

int ep_pid_syscall_parse(const char *text, long *call, uint64_t *first)
{
    return sscanf(text, "%ld 0x%" SCNx64, call, first) == 2 ? 0 : OV_EPROTO;
}
