/* The configuration of a daemon: fills it, finds things in it, and makes a
 * smaller one for a child. */
#include "config.h"

#include "endpoints/boot/boot_config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sodium.h>

#include "endpoints/boot/launcher.h"
#include "overlay/base/err.h"
#include "topo/hosts.h"

#define NUMBER(field)                                                          \
    {                                                                          \
#field, offsetof(struct ep_boot_config, field)                         \
    }

const struct ep_boot_number ep_boot_numbers[] = {
    NUMBER(heartbeat_ms),
    NUMBER(launch_timeout_ms),
    NUMBER(frame_bytes),
    NUMBER(down_window_frames),
    NUMBER(up_window_bytes),
    NUMBER(nofile),
    {NULL, 0},
};

void ep_boot_config_fini(struct ep_boot_config *config)
{
    for (uint32_t i = 0; i < config->hosts_count; i++)
        free(config->hosts[i].name);
    free(config->hosts);
    free(config->parents.table);
    free(config->hosted);
    free(config->provider);
    free(config->interface);
    free(config->rsh);
    free(config->xylemd);
    free(config->home);
    job_strings_fini(&config->env);
    job_strings_fini(&config->gates);
    sodium_memzero(config, sizeof(*config));
}

int ep_boot_add_hosted(struct ep_boot_config *config, struct topo_range range)
{
    uint32_t count = config->hosted_count;
    struct topo_range *items;

    if (range.first > range.last || range.last >= config->tree.nodes)
        return OV_EINVAL;
    if (count > 0 && range.first <= config->hosted[count - 1].last)
        return OV_EINVAL;
    items =
        job_grown(config->hosted, &config->hosted_cap, count, sizeof(*items));
    if (items == NULL)
        return OV_ENOMEM;
    config->hosted = items;
    config->hosted[config->hosted_count++] = range;
    return 0;
}

int ep_boot_set_tree(struct ep_boot_config *config,
                     const struct topo_tree *tree)
{
    uint32_t *parents = NULL;

    if (tree->parents != NULL) {
        parents = calloc(tree->nodes, sizeof(*parents));
        if (parents == NULL)
            return OV_ENOMEM;
        memcpy(parents, tree->parents, tree->nodes * sizeof(*parents));
    }
    free(config->parents.table);
    config->tree = *tree;
    config->parents.table = parents;
    config->tree.parents = parents;
    return 0;
}

int ep_boot_add_children(struct ep_boot_config *config, uint32_t each,
                         uint32_t nodes)
{
    uint64_t told;

    if (config->tree.nodes < 2 || config->tree.nodes - 1 > TOPO_HOSTS_MAX)
        return OV_EINVAL;
    if (config->parents.table == NULL) {
        config->parents.table =
            calloc(config->tree.nodes, sizeof(*config->parents.table));
        if (config->parents.table == NULL)
            return OV_ENOMEM;
        config->parents.told = 1;
    }
    told = config->parents.told + (uint64_t)each * nodes;
    if (each > TOPO_ARITY_MAX || told > config->tree.nodes ||
        nodes > config->tree.nodes - config->parents.next)
        return OV_EINVAL;
    for (; nodes > 0; nodes--, config->parents.next++) {
        for (uint32_t child = 0; child < each; child++)
            config->parents.table[config->parents.told++] =
                config->parents.next;
    }
    return 0;
}

int ep_boot_end_children(struct ep_boot_config *config)
{
    if (config->parents.table == NULL)
        return 0;
    if (config->parents.told != config->tree.nodes)
        return OV_EINVAL;
    return topo_tree_init(&config->tree, config->parents.table,
                          config->tree.nodes);
}

bool ep_boot_host_is_fit(const char *name)
{
    if (*name == '\0' || *name == '-')
        return false;
    for (; *name != '\0'; name++) {
        unsigned char c = (unsigned char)*name;

        if (c <= ' ' || c == 0x7f)
            return false;
    }
    return true;
}

int ep_boot_add_host(struct ep_boot_config *config, uint32_t node,
                     const char *name)
{
    uint32_t count = config->hosts_count;
    struct ep_boot_host *items;
    char *copy;

    if (node >= config->tree.nodes || !ep_boot_host_is_fit(name))
        return OV_EINVAL;
    if (count > 0 && node <= config->hosts[count - 1].node)
        return OV_EINVAL;
    items = job_grown(config->hosts, &config->hosts_cap, count, sizeof(*items));
    if (items == NULL)
        return OV_ENOMEM;
    config->hosts = items;
    copy = strdup(name);
    if (copy == NULL)
        return OV_ENOMEM;
    config->hosts[config->hosts_count++] =
        (struct ep_boot_host){.node = node, .name = copy};
    return 0;
}

bool ep_boot_env_is_fabric(const char *entry)
{
    static const char *const starts[] = {
        "FI_PROVIDER=", "FI_PROVIDER_PATH=", "FI_FORK_UNSAFE=", "FI_LOG_",
        "FI_MR_",       "FI_TCP_",           "FI_VERBS_",
    };

    for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++) {
        if (strncmp(entry, starts[i], strlen(starts[i])) == 0)
            return strchr(entry, '=') != NULL;
    }
    return false;
}

int ep_boot_add_env(struct ep_boot_config *config, const char *entry)
{
    return ep_boot_env_is_fabric(entry) ? job_strings_add(&config->env, entry)
                                        : OV_EINVAL;
}

int ep_boot_add_gate(struct ep_boot_config *config, const char *address)
{
    return config->gates.count < EP_BOOT_GATES_MAX
               ? job_strings_add(&config->gates, address)
               : OV_EFULL;
}

static const struct ep_boot_param *
param_find(const struct ep_boot_config *config, const char *name)
{
    for (uint32_t i = 0; i < config->params_count; i++) {
        if (strcmp(config->params[i].name, name) == 0)
            return &config->params[i];
    }
    return NULL;
}

static bool param_name_is_good(const char *name)
{
    size_t len = strlen(name);

    for (const struct ep_boot_number *n = ep_boot_numbers; n->name; n++) {
        if (strcmp(n->name, name) == 0)
            return false;
    }
    return len > 0 && len < EP_BOOT_NAME_MAX &&
           strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_") == len;
}

int ep_boot_add_param(struct ep_boot_config *config, const char *name,
                      uint64_t value)
{
    struct ep_boot_param *param;

    if (!param_name_is_good(name) || param_find(config, name) != NULL)
        return OV_EINVAL;
    if (config->params_count == EP_BOOT_PARAMS_MAX)
        return OV_EFULL;
    param = &config->params[config->params_count++];
    strcpy(param->name, name);
    param->value = value;
    return 0;
}

uint64_t ep_boot_param(const struct ep_boot_config *config, const char *name,
                       uint64_t otherwise)
{
    const struct ep_boot_param *param = param_find(config, name);

    return param == NULL ? otherwise : param->value;
}

/* Returns the index of the first host whose node is `node` or above. */
static uint32_t hosts_lower_bound(const struct ep_boot_config *config,
                                  uint32_t node)
{
    uint32_t low = 0, high = config->hosts_count;

    while (low < high) {
        uint32_t mid = low + (high - low) / 2;

        if (config->hosts[mid].node < node)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

int ep_boot_host_here(struct ep_boot_config *config, const char *host)
{
    for (uint32_t i = 0; i < config->hosts_count; i++) {
        uint32_t node = config->hosts[i].node;

        if (strcmp(config->hosts[i].name, host) == 0)
            return ep_boot_add_hosted(config, (struct topo_range){node, node});
    }
    return OV_ENOENT;
}

const char *ep_boot_host(const struct ep_boot_config *config, uint32_t node)
{
    uint32_t at = hosts_lower_bound(config, node);

    if (at == config->hosts_count || config->hosts[at].node != node)
        return NULL;
    return config->hosts[at].name;
}

static int copy_strings(const struct ep_boot_config *from,
                        struct ep_boot_config *to)
{
    int rc = job_set_string(&to->provider, from->provider);

    if (rc == 0)
        rc = job_set_string(&to->interface, from->interface);
    if (rc == 0)
        rc = job_set_string(&to->rsh, from->rsh);
    if (rc == 0)
        rc = job_set_string(&to->xylemd, from->xylemd);
    if (rc == 0)
        rc = job_set_string(&to->home, from->home);
    for (uint32_t i = 0; rc == 0 && i < from->env.count; i++)
        rc = ep_boot_add_env(to, from->env.at[i]);
    return rc;
}

/* Copies the hosts of a subtree. Its nodes are not a single range, so each host
 * is tested; nodes with numbers below `child` cannot be in its subtree. */
static int copy_hosts(const struct ep_boot_config *from, uint32_t child,
                      struct ep_boot_config *to)
{
    int rc = 0;

    for (uint32_t i = hosts_lower_bound(from, child);
         rc == 0 && i < from->hosts_count; i++) {
        const struct ep_boot_host *host = &from->hosts[i];

        if (topo_tree_contains(&from->tree, child, host->node))
            rc = ep_boot_add_host(to, host->node, host->name);
    }
    return rc;
}

int ep_boot_config_child(const struct ep_boot_config *config, uint32_t child,
                         struct ep_boot_config *out)
{
    struct topo_range itself = {.first = child, .last = child};
    int rc;

    *out = *config;
    out->parents =
        (struct ep_boot_parents){0}; /* config owns the tree's table */
    out->provider = out->interface = out->rsh = out->xylemd = NULL;
    out->home = NULL;
    out->hosted = NULL;
    out->hosted_count = out->hosted_cap = 0;
    out->hosts = NULL;
    out->hosts_count = out->hosts_cap = 0;
    out->env = out->gates = (struct job_strings){0};
    rc = ep_boot_add_hosted(out, itself);
    if (rc == 0)
        rc = copy_strings(config, out);
    if (rc == 0)
        rc = copy_hosts(config, child, out);
    if (rc != 0)
        ep_boot_config_fini(out);
    return rc;
}

static const char *what_is_wrong(const struct ep_boot_config *config)
{
    bool has_ports = config->port_first != 0 || config->port_last != 0;

    if (sodium_is_zero(config->auth.key, sizeof(config->auth.key)))
        return "no session key";
    if (config->tree.nodes == 0 || config->tree.nodes == TOPO_NONE)
        return "no tree";
    if (config->tree.arity == 0 || config->tree.arity > TOPO_ARITY_MAX)
        return "the tree's arity is out of range";
    if ((unsigned)config->launcher >= EP_LAUNCHERS)
        return "no such launcher";
    /* Daemons that are all started alike find out themselves which node they
     * are. */
    if (config->hosted_count == 0 &&
        !ep_launcher_ops(config->launcher)->is_for_all)
        return "no hosted node";
    if (has_ports &&
        (config->port_first == 0 || config->port_first > config->port_last))
        return "the port range is empty";
    if (ep_launcher_ops(config->launcher)->is_for_all &&
        (config->gates.count == 0 || config->hosts_count == 0))
        return "no address to connect to, or no hosts";
    if (!ep_launcher_ops(config->launcher)->is_for_all &&
        config->hosts_count > 0 && (!config->rsh || !config->xylemd))
        return "hosts to start daemons on, but no rsh or no xylemd";
    return NULL;
}

int ep_boot_config_check(const struct ep_boot_config *config, char *why)
{
    const char *what = what_is_wrong(config);

    if (what == NULL)
        return 0;
    snprintf(why, EP_BOOT_WHY_MAX, "the start-up text is not complete: %s",
             what);
    return OV_EINVAL;
}
