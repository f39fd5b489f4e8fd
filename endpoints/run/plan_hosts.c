/* Plans the hosts of a run. */
#include <stdlib.h>
#include <string.h>

#include "endpoints/boot/launcher.h"
#include "endpoints/run/plan.h"
#include "endpoints/sys/path.h"
#include "endpoints/sys/prelude.h"
#include "overlay/base/err.h"
#include "topo/allocation.h"

const char *ep_run_host(const struct run_plan *p, uint32_t node)
{
    if (node == 0 || p->hosts.count == 0 || node > p->nodes_count)
        return p->host;
    return topo_hosts_name(&p->hosts, ep_run_place(p, node));
}

const char *ep_run_host_of_rank(const struct run_plan *p, uint32_t rank)
{
    return ep_run_host(p, job_node_of(p->job, rank, NULL));
}

static const char *get_env(void *arg, const char *name)
{
    (void)arg;
    return getenv(name);
}

static int wrong(struct run_plan *p, int rc, const char *why)
{
    if (rc != 0)
        ep_voice_say(p->voice, "%s", why);
    return rc == OV_EINVAL ? 2 : rc != 0;
}

/* Reads the list of --hosts or --hostfile; *out is empty when neither was
 * given. */
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

/* Finds the hosts: those of the user's list, or of the allocation if there is
 * one; with both, the user's list chooses within the allocation. With
 * --launcher local the list only gives names to virtual nodes. */
static int find_hosts(struct run_plan *p, enum topo_manager *manager, char *why)
{
    const struct ep_run_options *o = p->options;
    /* The user named a launcher, not `auto`. */
    bool is_here =
        o->launcher != EP_LAUNCHERS && ep_launcher_ops(o->launcher)->is_here;
    struct topo_hosts wanted;
    int rc = read_wanted(o, &wanted, why);

    *manager = TOPO_MANAGER_NONE;
    if (rc == 0 && !is_here)
        rc = topo_allocation_read(get_env, NULL, &p->hosts, manager, why);
    if (rc == 0 && *manager == TOPO_MANAGER_NONE) {
        p->hosts = wanted;
        return 0;
    }
    if (rc == 0 && wanted.count > 0)
        rc = topo_allocation_choose(&p->hosts, &wanted, *manager, why);
    topo_hosts_fini(&wanted);
    return rc;
}

static int exclude(struct run_plan *p, char *why)
{
    struct topo_hosts list;
    int rc;

    if (p->options->exclude == NULL)
        return 0;
    if (p->hosts.count == 0) {
        topo_why(why, "--exclude needs hosts to leave some out of: give "
                      "--hosts or --hostfile, or run in an allocation");
        return OV_EINVAL;
    }
    rc = topo_hosts_parse(&list, p->options->exclude, why);
    if (rc == 0)
        rc = topo_hosts_exclude(&p->hosts, &list, "--exclude", why);
    topo_hosts_fini(&list);
    return rc;
}

/* Leaves out the hosts that launches before this one could not use. */
static int leave_out(struct run_plan *p, char *why)
{
    int rc;

    if (p->relaunch->left_out.count == 0)
        return 0;
    rc =
        topo_hosts_exclude(&p->hosts, &p->relaunch->left_out, "--exclude", why);
    /* When the user named more hosts than needed, the spare hosts replace those
     * that are left out; else fewer nodes are used. */
    if (rc == 0 && p->nodes_wanted > p->hosts.count)
        p->nodes_wanted = p->hosts.count;
    return rc;
}

/* Tells whether two names of hosts are equal, or one is the other with a
 * domain. */
static bool is_same_host(const char *a, const char *b)
{
    size_t a_len = strlen(a), b_len = strlen(b);
    size_t len = a_len < b_len ? a_len : b_len;

    return strncmp(a, b, len) == 0 && (a[len] == '\0' || a[len] == '.') &&
           (b[len] == '\0' || b[len] == '.');
}

/* Tells whether the user's list names this machine alone, and no remote shell
 * with which to reach it. */
static bool is_own_list(const struct run_plan *p, enum topo_manager manager)
{
    const char *name;

    if (manager != TOPO_MANAGER_NONE || p->hosts.count != 1 ||
        p->options->rsh != NULL)
        return false;
    name = topo_hosts_name(&p->hosts, 0);
    return strcmp(name, "localhost") == 0 || strncmp(name, "127.", 4) == 0 ||
           is_same_host(name, p->host);
}

static int choose_launcher(struct run_plan *p, enum topo_manager manager)
{
    bool is_in_slurm = manager == TOPO_MANAGER_SLURM;
    bool has_others = p->hosts.count > 0 && !is_own_list(p, manager);
    const struct ep_launcher_ops *ops;
    const char *why = NULL;

    p->launcher = p->options->launcher;
    if (p->launcher == EP_LAUNCHERS)
        p->launcher = ep_launcher_auto(is_in_slurm, has_others, getenv("PATH"));
    ops = ep_launcher_ops(p->launcher);
    if (ops->unfit != NULL)
        why = ops->unfit(p->hosts.count > 0, is_in_slurm);
    if (why == NULL)
        return 0;
    ep_voice_say(p->voice, "--launcher %s %s", ops->name, why);
    return 2;
}

int ep_run_plan_hosts(struct run_plan *p)
{
    char why[TOPO_WHY_MAX] = "out of memory";
    enum topo_manager manager;
    int rc;

    topo_hosts_init(&p->hosts);
    rc = find_hosts(p, &manager, why);
    if (rc == 0)
        rc = exclude(p, why);
    if (rc == 0)
        rc = leave_out(p, why);
    if (rc != 0)
        return wrong(p, rc, why);
    if (manager != TOPO_MANAGER_NONE)
        ep_voice_note(p->voice, "in an allocation of %s: %u hosts",
                      topo_manager_name(manager), p->hosts.count);
    return choose_launcher(p, manager);
}
