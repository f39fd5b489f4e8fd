/* Processes, descriptors and memory that a plan needs, and whether there is
 * room. */
#include "endpoints/hub/need.h"

#include <inttypes.h>
#include <stdio.h>

#include "endpoints/sys/why.h"
#include "overlay/base/err.h"

enum {
    /* The launcher with the threads that read stdin and write for it, its
     * spawner, and the helper for PMIx tools with its threads. */
    LAUNCHER_TASKS = 12,
    DAEMON_TASKS = 2, /* a daemon and its spawner */
    /* The kernel uses process numbers below this one only once. */
    PIDS_KEPT = 300,
};

/* Memory that a process does not share, with the kernel's memory for it:
 * measured with 1,000 nodes, each of which runs `sleep`, on x86_64. */
#define KIB            UINT64_C(1024)
#define LAUNCHER_BYTES (16 * 1024 * KIB)
#define DAEMON_BYTES   (1024 * KIB)
/* libfabric takes half of it, for two links */
#define NODE_BYTES (100 * KIB)
#define PROC_BYTES (192 * KIB) /* page tables take a quarter of it */
#define PIPE_BYTES (64 * KIB)

/* The buffers that stdin fills on its way through a node: those for frames that
 * two links have to send, and the window. */
static uint64_t window_bytes(const struct ep_session_sizes *sizes)
{
    return (2 * (uint64_t)sizes->posted_receives + sizes->down_frames) *
           sizes->frame_bytes;
}

static uint64_t lesser(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

struct ep_need ep_need_of(const struct ep_need_plan *plan)
{
    uint64_t node = NODE_BYTES;
    uint64_t proc = PROC_BYTES + lesser(plan->stdin_bytes, PIPE_BYTES);
    struct ep_need need = {
        .tasks = plan->shells + DAEMON_TASKS * plan->daemons + plan->procs,
        .files = plan->files,
    };

    if (plan->sizes != NULL)
        node += lesser(plan->stdin_bytes, window_bytes(plan->sizes));
    if (plan->has_launcher)
        need.tasks += LAUNCHER_TASKS;
    need.memory_bytes = plan->shells * PROC_BYTES +
                        plan->daemons * DAEMON_BYTES + plan->nodes * node +
                        plan->procs * proc +
                        (plan->has_launcher ? LAUNCHER_BYTES : 0);
    return need;
}

/* --- comparison with the room */

static uint64_t left(uint64_t max, uint64_t used)
{
    if (max == UINT64_MAX)
        return UINT64_MAX;
    return max > used ? max - used : 0;
}

static int check_tasks(uint64_t need, const struct ep_room *room, char *why)
{
    const struct {
        uint64_t max, left;
        const char *what;
    } limits[] = {
        {room->pid_max, left(room->pid_max, room->tasks + PIDS_KEPT),
         "kernel.pid_max"},
        {room->threads_max, left(room->threads_max, room->tasks),
         "kernel.threads-max"},
        {room->user_max, left(room->user_max, room->user_tasks),
         "the limit of this user, `ulimit -u`,"},
        {room->group_max, left(room->group_max, room->group_tasks),
         "pids.max of the control group"},
    };

    for (unsigned i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
        if (need <= limits[i].left)
            continue;
        snprintf(why, EP_WHY_MAX,
                 "%" PRIu64 " processes and threads are needed here, but "
                 "there is room for %" PRIu64 " (%s is %" PRIu64 "): raise it, "
                 "or run fewer nodes or processes on this machine",
                 need, limits[i].left, limits[i].what, limits[i].max);
        return OV_EFULL;
    }
    return 0;
}

static int check_files(uint64_t need, const struct ep_room *room, char *why)
{
    if (need <= room->files)
        return 0;
    snprintf(why, EP_WHY_MAX,
             "%" PRIu64 " open files are needed here, but the hard limit "
             "is %" PRIu64 ": raise it (`ulimit -Hn %" PRIu64 "` as root, "
             "or limits.conf), or run fewer nodes in one daemon",
             need, room->files, need);
    return OV_EFULL;
}

static int check_memory(uint64_t need, const struct ep_room *room, char *why)
{
    const double mib = 1024 * 1024;
    bool is_group = room->group_bytes < room->memory_bytes;
    uint64_t has = lesser(room->group_bytes, room->memory_bytes);

    if (need <= has)
        return 0;
    snprintf(why, EP_WHY_MAX,
             "at least %.0f MiB of memory are needed here, but %.0f MiB are "
             "available (%s): run fewer nodes or processes on this machine",
             (double)need / mib, (double)has / mib,
             is_group ? "memory.max of the control group"
                      : "MemAvailable of /proc/meminfo, and free swap");
    return OV_EFULL;
}

int ep_need_check(const struct ep_need *need, struct ep_room *room, char *why)
{
    int rc;

    if (!room->is_counted &&
        need->tasks > left(room->user_max, room->user_tasks))
        ep_room_count(room);
    rc = check_tasks(need->tasks, room, why);
    if (rc == 0)
        rc = check_files(need->files, room, why);
    return rc == 0 ? check_memory(need->memory_bytes, room, why) : rc;
}
