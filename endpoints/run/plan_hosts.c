/* Hosts of a run. */
#include <stdlib.h>

#include "endpoints/boot/launcher.h"
#include "endpoints/run/impl.h"
#include "endpoints/run/plan.h"
#include "endpoints/sys/path.h"
#include "endpoints/sys/prelude.h"
#include "overlay/base/err.h"
#include "topo/allocation.h"

const char *ep_run_host(const struct run *r, uint32_t node)
{
    if (node == 0 || r->hosts.count == 0 || node > r->nodes_count)
        return r->host;
    return topo_hosts_name(&r->hosts, ep_run_place(r, node));
}

const char *ep_run_host_of_rank(const struct run *r, uint32_t rank)
{
    return ep_run_host(r, job_node_of(&r->own.desc, rank, NULL));
}

static const char *get_env(void *arg, const char *name)
{
    (void)arg;
    return getenv(name);
}

static int wrong(struct run *r, int rc, const char *why)
{
    if (rc != 0)
        ep_voice_say(&r->voice, "%s", why);
    return rc == OV_EINVAL ? 2 : rc != 0;
}

/* What --hosts or --hostfile names; empty without either. */
static int read_wanted(const struct ep_run_options *o, struct topo_hosts *out,
                       char *why)
{
    int rc;

    topo_hosts_init(out);
    if (o->hosts != NULL)
        return topo_hosts_parse(out, o->hosts, why);
    if (o->hostfile == NULL)
        return 0;
    rc = ep_path_look("--hostfile", o->hostfile, why);
    if (rc == 0)
        rc = topo_hosts_read(out, o->hostfile, why);
    ep_prelude_go_on();
    return rc;
}

/* The hosts that there are: of the user's list, within the allocation if there
 * is one. On this machine alone the list is of names only. */
static int find_hosts(struct run *r, enum topo_manager *manager, char *why)
{
    const struct ep_run_options *o = &r->options;
    struct topo_hosts wanted;
    int rc = read_wanted(o, &wanted, why);

    *manager = TOPO_MANAGER_NONE;
    if (rc == 0 && o->launcher != EP_LAUNCHER_LOCAL)
        rc = topo_allocation_read(get_env, NULL, &r->hosts, manager, why);
    if (rc == 0 && *manager == TOPO_MANAGER_NONE) {
        r->hosts = wanted;
        return 0;
    }
    if (rc == 0 && wanted.count > 0)
        rc = topo_allocation_choose(&r->hosts, &wanted, *manager, why);
    topo_hosts_fini(&wanted);
    return rc;
}

static int exclude(struct run *r, char *why)
{
    struct topo_hosts list;
    int rc;

    if (r->options.exclude == NULL)
        return 0;
    if (r->hosts.count == 0) {
        topo_why(why, "--exclude needs hosts to leave some out of: give "
                      "--hosts or --hostfile, or run in an allocation");
        return OV_EINVAL;
    }
    rc = topo_hosts_parse(&list, r->options.exclude, why);
    if (rc == 0)
        rc = topo_hosts_exclude(&r->hosts, &list, why);
    topo_hosts_fini(&list);
    return rc;
}

/* Hosts that launches before this one could not use. */
static int leave_out(struct run *r, char *why)
{
    int rc;

    if (r->again->left_out.count == 0)
        return 0;
    rc = topo_hosts_exclude(&r->hosts, &r->again->left_out, why);
    /* Where more hosts were named than are needed others take their places. */
    if (rc == 0 && r->options.nodes > r->hosts.count)
        r->options.nodes = r->hosts.count;
    return rc;
}

static int choose_launcher(struct run *r, enum topo_manager manager)
{
    bool is_in_slurm = manager == TOPO_MANAGER_SLURM;

    r->launcher = r->options.launcher;
    if (r->launcher == EP_LAUNCHERS)
        r->launcher =
            ep_launcher_auto(is_in_slurm, r->hosts.count > 0, getenv("PATH"));
    if (r->launcher == EP_LAUNCHER_SSH && r->hosts.count == 0) {
        ep_voice_say(&r->voice,
                     "--launcher ssh needs hosts: give --hosts or --hostfile");
        return 2;
    }
    if (r->launcher == EP_LAUNCHER_SLURM && !is_in_slurm) {
        ep_voice_say(&r->voice,
                     "--launcher slurm works in an allocation of Slurm: get "
                     "one by salloc or sbatch");
        return 2;
    }
    return 0;
}

int ep_run_plan_hosts(struct run *r)
{
    char why[TOPO_WHY_MAX] = "out of memory";
    enum topo_manager manager;
    int rc;

    topo_hosts_init(&r->hosts);
    rc = find_hosts(r, &manager, why);
    if (rc == 0)
        rc = exclude(r, why);
    if (rc == 0)
        rc = leave_out(r, why);
    if (rc != 0)
        return wrong(r, rc, why);
    if (manager != TOPO_MANAGER_NONE)
        ep_voice_note(&r->voice, "in an allocation of %s: %u hosts",
                      topo_manager_name(manager), r->hosts.count);
    return choose_launcher(r, manager);
}
