/* Reads the line of /proc/PID/stat. */
#include "endpoints/sys/pid_stat.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "overlay/base/err.h"

int ep_pid_stat_parse(const char *text, struct ep_pid_stat *out)
{
    /* The name between the parentheses may hold any character, even ")". */
    const char *after = strrchr(text, ')');
    int parent;

    if (after == NULL ||
        sscanf(after + 1,
               " %c %d %*s %*s %*s %*s %" SCNu32
               " %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %" SCNu64,
               &out->state, &parent, &out->flags, &out->start) != 4)
        return OV_EPROTO;
    out->parent = parent;
    return 0;
}

bool ep_pid_stat_is_dead(const struct ep_pid_stat *stat)
{
    return stat->state == 'Z' || stat->state == 'X';
}
