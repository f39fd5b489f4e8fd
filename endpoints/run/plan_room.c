/* Checks whether this machine has room for a run, before anything starts. */
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "endpoints/boot/launcher.h"
#include "endpoints/hub/need.h"
#include "endpoints/run/plan.h"
#include "endpoints/sys/why.h"

/* The device number of /dev/null on every Linux. */
enum { NULL_MAJOR = 1, NULL_MINOR = 3 };

bool ep_run_starts_all(const struct run_plan *p)
{
    return ep_launcher_ops(p->config.launcher)->is_shell &&
           p->config.no_tree_spawn;
}

struct topo_range ep_run_started_here(const struct run_plan *p)
{
    return ep_run_starts_all(p) ? (struct topo_range){1, p->nodes_count}
                                : topo_tree_children(&p->config.tree, 0);
}

uint32_t ep_run_daemons(const struct run_plan *p)
{
    struct topo_range kids = ep_run_started_here(p);

    if (ep_launcher_ops(p->config.launcher)->is_here)
        return (p->nodes_count - 1) / p->nodes_per_daemon + 1;
    return kids.last - kids.first + 1;
}

uint64_t ep_run_descriptors(const struct run_plan *p)
{
    return ep_session_descriptors(p->config.tree, 1, 0) +
           3 * (uint64_t)ep_run_daemons(p);
}

/* Returns how much stdin each process gets at most; UINT64_MAX when this is not
 * known. A user who types is counted as sending nothing. */
static uint64_t stdin_bytes(const struct run_plan *p, int fd)
{
    struct stat st;

    if (p->job->readers_count == 0 || fstat(fd, &st) != 0 || isatty(fd))
        return 0;
    if (S_ISREG(st.st_mode))
        return (uint64_t)st.st_size;
    if (S_ISCHR(st.st_mode) && st.st_rdev == makedev(NULL_MAJOR, NULL_MINOR))
        return 0;
    return UINT64_MAX;
}

int ep_run_plan_room(struct run_plan *p, int input_fd)
{
    struct ep_need_plan plan = {.has_launcher = true,
                                .files = ep_run_descriptors(p)};
    char why[EP_WHY_MAX];
    struct ep_need need;

    if (ep_launcher_ops(p->launcher)->is_here) {
        plan.daemons = ep_run_daemons(p);
        plan.nodes = p->nodes_count;
        plan.procs = p->options->is_dvm ? 0 : p->job->size;
        plan.stdin_bytes = stdin_bytes(p, input_fd);
        plan.sizes = &p->sizes;
        if (p->config.nofile > plan.files)
            plan.files = p->config.nofile;
    } else {
        plan.shells = ep_launcher_ops(p->launcher)->is_shell
                          ? ep_run_daemons(p)
                          : 1; /* a single srun starts all daemons */
    }
    need = ep_need_of(&plan);
    if (ep_need_check(&need, &p->room, why) == 0)
        return 0;
    ep_voice_say(p->voice, "%s", why);
    return 1;
}
