/* Plans the session of a run: its daemons and their sizes. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "endpoints/boot/launcher.h"
#include "endpoints/boot/starter.h"
#include "endpoints/hub/crowd.h"
#include "endpoints/run/nodes.h"
#include "endpoints/run/plan.h"
#include "endpoints/spawn/mark.h"
#include "endpoints/sys/beside.h"
#include "overlay/base/err.h"

#define RSH "ssh -o BatchMode=yes"

enum {
    DAEMONS_MIN = 2,
    DAEMONS_MAX = 64,
    PROC_DESCRIPTORS = 4, /* descriptors that a process needs while it starts */
    /* a node's channels that belong to no process: daemon/processes.h */
    NODE_INPUTS = 2,
};

extern char **environ;

/* Returns how many descriptors the processes of one node need. */
static uint32_t descriptors(const struct run_plan *p, uint32_t procs)
{
    return procs * (PROC_DESCRIPTORS + p->options->stddiag);
}

/* Returns how many virtual nodes share a daemon. There are as many daemons as
 * processors, and more when a daemon would need more descriptors than one
 * process can have. */
static uint32_t nodes_per_daemon(const struct run_plan *p, uint32_t most)
{
    uint32_t daemons = p->room.processors;
    uint32_t each;

    if (p->options->nodes_per_daemon > 0)
        return p->options->nodes_per_daemon;
    if (daemons < DAEMONS_MIN)
        daemons = DAEMONS_MIN;
    if (daemons > DAEMONS_MAX)
        daemons = DAEMONS_MAX;
    each = (p->nodes_count + daemons - 1) / daemons;
    while (each > 1 && ep_session_descriptors(p->config.tree, each,
                                              descriptors(p, most)) > 8192)
        each = (each + 1) / 2;
    return each;
}

/* Sets the home of the session's mark, if the daemons are our own xylemd and
 * started on this machine, so that they have the same home. When it cannot be
 * found here, xylemd finds it itself. */
static int set_home(struct run_plan *p)
{
    char home[EP_MARK_BYTES_MAX];

    if (!ep_launcher_ops(p->launcher)->is_here || p->options->xylemd != NULL ||
        ep_mark_home(home) != 0)
        return 0;
    return job_set_string(&p->config.home, home);
}

static int set_strings(struct run_plan *p)
{
    const struct ep_run_options *o = p->options;
    struct ep_boot_config *config = &p->config;
    char path[4096];

    if (o->xylemd == NULL && ep_beside_path("xylemd", path, sizeof(path)))
        return OV_ESYS;
    if (job_set_string(&config->provider, o->provider) ||
        job_set_string(&config->interface, o->interface) ||
        job_set_string(&config->rsh, o->rsh != NULL ? o->rsh : RSH) ||
        job_set_string(&config->xylemd, o->xylemd != NULL ? o->xylemd : path) ||
        set_home(p))
        return OV_ENOMEM;
    return 0;
}

static int list_hosts(struct run_plan *p)
{
    for (uint32_t node = 1; p->hosts.count > 0 && node <= p->nodes_count;
         node++) {
        if (ep_boot_add_host(&p->config, node, ep_run_host(p, node))) {
            ep_voice_say(p->voice, "'%s' is not a valid host name",
                         ep_run_host(p, node));
            return 2;
        }
    }
    return 0;
}

/* Passes the launcher's settings for libfabric on to all daemons. */
static int list_fabric_env(struct run_plan *p)
{
    for (char **e = environ; *e != NULL; e++) {
        if (ep_boot_env_is_fabric(*e) && ep_boot_add_env(&p->config, *e))
            return ep_voice_fail(p->voice, "out of memory");
    }
    return 0;
}

/* Sets the heartbeat, and how many daemons start at a time. Virtual nodes get a
 * heartbeat that a crowded machine can keep up. */
static void set_heartbeat(struct run_plan *p, bool is_local)
{
    uint32_t procs =
        p->job->size > p->nodes_count ? p->job->size : p->nodes_count;
    uint32_t processors = p->room.processors;
    struct ep_crowd crowd = ep_crowd_of(is_local ? procs : 0, processors);

    p->daemons_parallel = is_local ? crowd.starting : EP_STARTER_PARALLEL;
    p->config.heartbeat_ms = p->options->heartbeat_s > 0
                                 ? (uint32_t)(p->options->heartbeat_s * 1000)
                                 : crowd.heartbeat_ms;
    if (is_local)
        ep_voice_note(p->voice,
                      "heartbeat %g s, daemons started %u at a time, nice %u: "
                      "for %u processes on %u processor%s",
                      p->config.heartbeat_ms / 1000.0, crowd.starting,
                      crowd.nice, procs, processors,
                      processors == 1 ? "" : "s");
    else
        ep_voice_note(p->voice, "heartbeat %g s",
                      p->config.heartbeat_ms / 1000.0);
}

int ep_run_plan_session(struct run_plan *p, uint32_t most)
{
    const struct ep_run_options *o = p->options;
    struct ep_boot_config *config = &p->config;
    bool is_local;

    config->launcher = p->launcher;
    is_local = ep_launcher_ops(p->launcher)->is_here;
    config->is_virtual = is_local;
    config->no_tree_spawn = o->no_tree_spawn;
    config->verbose = o->verbose;
    config->port_first = o->port_first;
    config->port_last = o->port_last;
    set_heartbeat(p, is_local);
    config->launch_timeout_ms = (uint32_t)(o->launch_timeout_s * 1000);
    p->nodes_per_daemon = is_local ? nodes_per_daemon(p, most) : 1;
    p->sizes = ep_session_sizes(config->tree, p->nodes_per_daemon);
    config->nofile = (uint32_t)ep_session_descriptors(
        config->tree, p->nodes_per_daemon, descriptors(p, most));
    if (ep_auth_generate(&config->auth))
        return ep_voice_fail(p->voice,
                             "cannot get random numbers for the session's key");
    if (o->desk != NULL) /* a tool may start further jobs on each node */
        most += RUN_SPARE_PROCS;
    if (ep_run_survey_asks(p) &&
        ep_boot_add_param(config, EP_BOOT_PARAM_MACHINE, 1))
        return ep_voice_fail(p->voice, "out of memory");
    if (o->fold != EP_FOLD_NONE &&
        ep_boot_add_param(config, EP_BOOT_PARAM_FOLDS, 1))
        return ep_voice_fail(p->voice, "out of memory");
    if (set_strings(p) ||
        ep_session_pack(config, &p->sizes,
                        NODE_INPUTS + JOB_WORD_OUTPUTS * most))
        return ep_voice_fail(p->voice,
                             "out of memory, or too many processes on a node");
    snprintf(p->nspace, sizeof(p->nspace), "%s%08x",
             o->is_dvm ? EP_RUN_DVM_NAME : "xylem-",
             (unsigned)config->auth.session);
    if (is_local)
        return 0;
    return list_fabric_env(p) ? 1 : list_hosts(p);
}

int ep_run_plan(struct run_plan *plan, int input_fd)
{
    uint32_t most = 0;
    int rc = ep_run_plan_nodes(plan, &most);

    if (rc == 0)
        rc = ep_run_plan_job(plan);
    if (rc == 0) {
        ep_room_read(&plan->room);
        rc = ep_run_plan_session(plan, most);
    }
    if (rc == 0)
        rc = ep_run_plan_room(plan, input_fd);
    return rc == 0 ? ep_run_plan_bind(plan) : rc;
}
