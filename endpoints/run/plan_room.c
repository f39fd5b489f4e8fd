/* What this machine is asked for by a run, before anything is started. */
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "endpoints/hub/need.h"
#include "endpoints/run/impl.h"
#include "endpoints/run/plan.h"
#include "endpoints/sys/why.h"

/* The number of /dev/null, on every Linux. */
enum { NULL_MAJOR = 1, NULL_MINOR = 3 };

bool ep_run_starts_all(const struct run *r)
{
    return r->config.launcher == EP_LAUNCHER_SSH && r->config.no_tree_spawn;
}

struct topo_range ep_run_started_here(const struct run *r)
{
    return ep_run_starts_all(r) ? (struct topo_range){1, r->nodes_count}
                                : topo_tree_children(&r->config.tree, 0);
}

uint32_t ep_run_daemons(const struct run *r)
{
    struct topo_range kids = ep_run_started_here(r);

    if (r->config.launcher == EP_LAUNCHER_LOCAL)
        return (r->nodes_count - 1) / r->nodes_per_daemon + 1;
    return kids.last - kids.first + 1;
}

uint64_t ep_run_descriptors(const struct run *r)
{
    return ep_session_descriptors(r->config.tree, 1, 0) +
           3 * (uint64_t)ep_run_daemons(r);
}

/* How much every process is sent, at most, as far as it can be told: whoever
 * types says little. */
static uint64_t stdin_bytes(const struct run *r)
{
    int fd = r->input_fd >= 0 ? r->input_fd : STDIN_FILENO;
    struct stat st;

    if (r->own.desc.readers_count == 0 || fstat(fd, &st) != 0 || isatty(fd))
        return 0;
    if (S_ISREG(st.st_mode))
        return (uint64_t)st.st_size;
    if (S_ISCHR(st.st_mode) && st.st_rdev == makedev(NULL_MAJOR, NULL_MINOR))
        return 0;
    return UINT64_MAX;
}

int ep_run_plan_room(struct run *r)
{
    struct ep_need_plan plan = {.has_launcher = true,
                                .files = ep_run_descriptors(r)};
    char why[EP_WHY_MAX];
    struct ep_need need;

    if (r->launcher == EP_LAUNCHER_LOCAL) {
        plan.daemons = ep_run_daemons(r);
        plan.nodes = r->nodes_count;
        plan.procs = r->options.is_dvm ? 0 : r->own.desc.size;
        plan.stdin_bytes = stdin_bytes(r);
        plan.sizes = &r->sizes;
        if (r->config.nofile > plan.files)
            plan.files = r->config.nofile;
    } else {
        plan.shells = r->launcher == EP_LAUNCHER_SSH ? ep_run_daemons(r)
                                                     : 1; /* one srun for all */
    }
    need = ep_need_of(&plan);
    if (ep_need_check(&need, &r->room, why) == 0)
        return 0;
    ep_voice_say(&r->voice, "%s", why);
    return 1;
}
