/* Hosts, ranks and sizes of a run. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "endpoints/run/impl.h"
#include "overlay/base/err.h"
#include "topo/place.h"
#include "topo/ranges.h"

enum { ARITY_DEFAULT = 16, DAEMONS_MIN = 2, DAEMONS_MAX = 64 };

extern char **environ;

const char *ep_run_host(const struct run *r, uint32_t node)
{
    if (node == 0 || r->hosts.count == 0 || node > r->hosts.count)
        return r->host;
    return topo_hosts_name(&r->hosts, node - 1);
}

const char *ep_run_host_of_rank(const struct run *r, uint32_t rank)
{
    return ep_run_host(r, ep_job_node_of(&r->job, rank));
}

static int fail(struct run *r, const char *why)
{
    ep_run_say(r, "%s", why);
    return 1;
}

static int read_hosts(struct run *r)
{
    const struct ep_run_options *o = &r->options;
    char why[TOPO_WHY_MAX] = "out of memory";
    int rc = 0;

    topo_hosts_init(&r->hosts);
    if (o->hosts != NULL)
        rc = topo_hosts_parse(&r->hosts, o->hosts, why);
    else if (o->hostfile != NULL)
        rc = topo_hosts_read(&r->hosts, o->hostfile, why);
    if (rc != 0) {
        ep_run_say(r, "%s", why);
        return rc == OV_EINVAL ? 2 : 1;
    }
    if (r->hosts.count == 0 && o->launcher == EP_RUN_SSH) {
        ep_run_say(r, "--launcher ssh needs hosts: give --hosts or --hostfile");
        return 2;
    }
    return 0;
}

static uint32_t count_on(const struct topo_place *place, uint32_t node)
{
    struct topo_range ranks = topo_place_ranks(place, node);

    return ranks.last - ranks.first + 1;
}

/* Processes by node become runs of nodes with equally many. */
static int list_ranks(struct run *r, const struct topo_place *place,
                      uint32_t *most)
{
    for (uint32_t node = 0; node < place->nodes;) {
        uint32_t each = count_on(place, node);
        struct ep_job_ranks ranks = {.nodes = {node + 1, node + 1},
                                     .each = each,
                                     .first_rank = place->first[node]};

        while (++node < place->nodes && count_on(place, node) == each)
            ranks.nodes.last++;
        if (ep_job_add_ranks(&r->job, ranks))
            return fail(r, "out of memory");
        if (each > *most)
            *most = each;
    }
    r->job.size = place->procs;
    r->job.nodes = place->nodes;
    r->nodes_count = place->nodes;
    return 0;
}

static int place_ranks(struct run *r, uint32_t *most)
{
    const struct ep_run_options *o = &r->options;
    struct topo_place_ask ask = {
        .hosts = r->hosts.count > 0 ? &r->hosts : NULL,
        .nodes = o->nodes,
        .procs = o->procs,
        .ppn = o->ppn,
    };
    char why[TOPO_WHY_MAX] = "out of memory";
    struct topo_place place;
    int rc;

    rc = topo_place_init(&place, &ask, why);
    if (rc != 0) {
        ep_run_say(r, "%s", why);
        return rc == OV_EINVAL ? 2 : 1;
    }
    rc = list_ranks(r, &place, most);
    topo_place_fini(&place);
    if (rc == 0 && r->hosts.count == 0 && (o->nodes > 0 || o->verbose))
        ep_run_say(r, "no hosts given: %u virtual node%s on this machine",
                   r->nodes_count, r->nodes_count == 1 ? "" : "s");
    return rc;
}

static int list_readers(struct run *r)
{
    const char *text = r->options.stdin_ranks;
    struct topo_range all = {0, r->job.size - 1};
    struct topo_ranges set;
    struct topo_fault fault;
    uint32_t terms;
    int rc = 0;

    if (strcmp(text, "none") == 0)
        return 0;
    if (strcmp(text, "all") == 0)
        return ep_job_add_reader(&r->job, all) ? 1 : 0;
    terms = topo_ranges_terms(text, strlen(text));
    set.items = calloc(terms + 1, sizeof(*set.items));
    if (set.items == NULL)
        return fail(r, "out of memory");
    topo_ranges_init(&set, set.items, terms + 1);
    if (topo_ranges_parse(&set, text, strlen(text), &fault)) {
        ep_run_say(r, "--stdin: at character %zu of '%s': %s",
                   fault.at_bytes + 1, text, fault.what);
        rc = 2;
    } else if (topo_ranges_nth(&set, topo_ranges_size(&set) - 1) >=
               r->job.size) {
        ep_run_say(r, "--stdin names rank %u but the job has ranks 0 to %u",
                   topo_ranges_nth(&set, topo_ranges_size(&set) - 1),
                   r->job.size - 1);
        rc = 2;
    }
    for (uint32_t i = 0; rc == 0 && i < set.count; i++)
        rc = ep_job_add_reader(&r->job, set.items[i]) ? 1 : 0;
    free(set.items);
    return rc;
}

/* --- the job
 * */

static bool is_named(const char *entry, const char *name, size_t len)
{
    return strncmp(entry, name, len) == 0 && entry[len] == '=';
}

/* Of the launcher's shell or xylem's own, or replaced by --env. */
static bool is_private(const struct run *r, const char *entry)
{
    static const char *const names[] = {"_", "OLDPWD", "PWD", "SHLVL"};

    if (strncmp(entry, "XYLEM_", 6) == 0 ||
        strncmp(entry, "BASH_FUNC_", 10) == 0)
        return true;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (is_named(entry, names[i], strlen(names[i])))
            return true;
    }
    for (uint32_t i = 0; i < r->options.env_count; i++) {
        if (is_named(entry, r->options.env[i], strcspn(r->options.env[i], "=")))
            return true;
    }
    return false;
}

static int list_env(struct run *r)
{
    char entry[4096];
    int rc = 0;

    for (char **e = environ; rc == 0 && *e != NULL; e++) {
        if (strchr(*e, '=') != NULL && !is_private(r, *e))
            rc = ep_job_add_env(&r->job, *e);
    }
    for (uint32_t i = 0; rc == 0 && i < r->options.env_count; i++) {
        const char *given = r->options.env[i];
        const char *value = getenv(given);

        if (strchr(given, '=') != NULL) {
            rc = ep_job_add_env(&r->job, given);
        } else if (value == NULL) {
            ep_run_say(r,
                       "--env %s: it is not in the environment; give "
                       "--env %s=VALUE",
                       given, given);
            return 2;
        } else if ((size_t)snprintf(entry, sizeof(entry), "%s=%s", given,
                                    value) >= sizeof(entry)) {
            ep_run_say(r,
                       "--env %s: its value is longer than 4000 bytes; leave "
                       "it out, it is passed on anyway",
                       given);
            return 2;
        } else {
            rc = ep_job_add_env(&r->job, entry);
        }
    }
    return rc == 0 ? 0 : fail(r, "out of memory");
}

static int describe_job(struct run *r)
{
    const struct ep_run_options *o = &r->options;
    char cwd[4096];
    int rc = 0;

    r->job.number = 1;
    r->job.is_raw = o->raw;
    r->job.merges_stderr = o->merge_stderr;
    r->job.open_ms = o->unbuffered || isatty(STDOUT_FILENO) ? 250 : 0;
    r->job.linger_ms = (uint32_t)(o->linger_s * 1000);
    r->job.cwd_is_optional = o->chdir == NULL;
    r->job.slow = o->slow;
    r->job.spill_bytes = o->spill_bytes;
    r->job.close_ms = (uint32_t)(o->close_s * 1000);
    if (o->spill_dir != NULL)
        rc = ep_job_set_spill_dir(&r->job, o->spill_dir);
    if (rc == 0 && o->chdir != NULL)
        rc = ep_job_set_cwd(&r->job, o->chdir);
    else if (rc == 0 && getcwd(cwd, sizeof(cwd)) != NULL)
        rc = ep_job_set_cwd(&r->job, cwd);
    for (char **arg = o->argv; rc == 0 && *arg != NULL; arg++)
        rc = ep_job_add_arg(&r->job, *arg);
    return rc == 0 ? list_env(r) : fail(r, "out of memory");
}

/* --- the session
 * */

/* Virtual nodes share few daemons: as many as there are processors to run
 * them, more where one process could not have all the descriptors. */
static uint32_t nodes_per_daemon(const struct run *r, uint32_t most)
{
    uint32_t daemons = (uint32_t)sysconf(_SC_NPROCESSORS_ONLN);
    uint32_t each;

    if (r->options.nodes_per_daemon > 0)
        return r->options.nodes_per_daemon;
    if (daemons < DAEMONS_MIN)
        daemons = DAEMONS_MIN;
    if (daemons > DAEMONS_MAX)
        daemons = DAEMONS_MAX;
    each = (r->nodes_count + daemons - 1) / daemons;
    while (each > 1 &&
           ep_session_descriptors(r->config.tree, each, most) > 8192)
        each = (each + 1) / 2;
    return each;
}

static int set_strings(struct run *r)
{
    const struct ep_run_options *o = &r->options;
    struct ep_boot_config *config = &r->config;
    char path[4096];

    if (o->xylemd == NULL && ep_starter_beside("xylemd", path, sizeof(path)))
        return OV_ESYS;
    if (ep_boot_set(&config->provider, o->provider) ||
        ep_boot_set(&config->interface, o->interface) ||
        ep_boot_set(&config->rsh, o->rsh) ||
        ep_boot_set(&config->xylemd, o->xylemd != NULL ? o->xylemd : path))
        return OV_ENOMEM;
    return 0;
}

static int list_hosts(struct run *r)
{
    for (uint32_t node = 1; r->hosts.count > 0 && node <= r->nodes_count;
         node++) {
        if (ep_boot_add_host(&r->config, node, ep_run_host(r, node))) {
            ep_run_say(r, "'%s' is not fit for the name of a host",
                       ep_run_host(r, node));
            return 2;
        }
    }
    return 0;
}

/* What libfabric is told here holds for all daemons. */
static int list_fabric_env(struct run *r)
{
    for (char **e = environ; *e != NULL; e++) {
        if (ep_boot_env_is_fabric(*e) && ep_boot_add_env(&r->config, *e))
            return fail(r, "out of memory");
    }
    return 0;
}

static int check_arity(struct run *r)
{
    uint32_t children = ep_session_children(r->config.tree);

    if (children <= EP_SESSION_CHILDREN_MAX)
        return 0;
    ep_run_say(r,
               "--arity %u gives a node %u children: the memory of a daemon "
               "is for %d; give a smaller one",
               r->options.arity, children, EP_SESSION_CHILDREN_MAX);
    return 2;
}

static int describe_session(struct run *r, uint32_t most)
{
    const struct ep_run_options *o = &r->options;
    struct ep_boot_config *config = &r->config;
    bool is_local = o->launcher == EP_RUN_LOCAL ||
                    (o->launcher == EP_RUN_AUTO && r->hosts.count == 0);

    config->tree.nodes = r->nodes_count + 1;
    config->tree.arity = o->arity > 0 ? o->arity : ARITY_DEFAULT;
    if (check_arity(r))
        return 2;
    config->launcher = is_local ? EP_LAUNCHER_LOCAL : EP_LAUNCHER_SSH;
    config->is_virtual = is_local;
    config->no_tree_spawn = o->no_tree_spawn;
    config->verbose = o->verbose;
    config->port_first = o->port_first;
    config->port_last = o->port_last;
    config->heartbeat_ms = (uint32_t)(o->heartbeat_s * 1000);
    config->launch_timeout_ms = (uint32_t)(o->launch_timeout_s * 1000);
    r->nodes_per_daemon = is_local ? nodes_per_daemon(r, most) : 1;
    r->sizes = ep_session_sizes(config->tree, r->nodes_per_daemon);
    config->nofile = (uint32_t)ep_session_descriptors(
        config->tree, r->nodes_per_daemon, most);
    if (ep_auth_generate(&config->auth))
        return fail(r, "the system gives no random numbers for a key");
    if (set_strings(r) || ep_session_pack(config, &r->sizes, 1 + 2 * most))
        return fail(r, "out of memory, or too many processes on a node");
    snprintf(r->nspace, sizeof(r->nspace), "xylem-%08x",
             (unsigned)config->auth.session);
    if (is_local)
        return 0;
    return list_fabric_env(r) ? 1 : list_hosts(r);
}

static int open_input_file(struct run *r)
{
    if (r->options.input == NULL)
        return 0;
    r->input_fd = open(r->options.input, O_RDONLY | O_CLOEXEC);
    if (r->input_fd >= 0)
        return 0;
    ep_run_say(r, "cannot read '%s': %s", r->options.input, strerror(errno));
    return 1;
}

int ep_run_plan(struct run *r)
{
    uint32_t most = 0;
    int rc;

    if (gethostname(r->host, sizeof(r->host) - 1))
        strcpy(r->host, "localhost");
    rc = open_input_file(r);
    if (rc == 0)
        rc = read_hosts(r);
    if (rc == 0)
        rc = place_ranks(r, &most);
    if (rc == 0)
        rc = list_readers(r);
    if (rc == 0)
        rc = describe_job(r);
    if (rc == 0)
        rc = describe_session(r, most);
    if (rc == 0) {
        r->nodes = calloc((size_t)r->nodes_count + 1, sizeof(*r->nodes));
        if (r->nodes == NULL)
            rc = fail(r, "out of memory");
    }
    return rc;
}
