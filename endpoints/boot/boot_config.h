/* The configuration that a daemon needs before it joins the tree.
 *
 * The daemon's starter makes it and sends it as endpoints/boot/boot.h
 * describes. The daemon reads it, and makes a smaller one from it for each
 * daemon that it starts in turn.
 */
#ifndef ENDPOINTS_BOOT_BOOT_CONFIG_H
#define ENDPOINTS_BOOT_BOOT_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "endpoints/fabric/auth.h"
#include "job/program.h"
#include "topo/tree.h"

enum {
    EP_BOOT_PARAMS_MAX = 64,
    EP_BOOT_NAME_MAX = 32, /* a parameter's name, with its NUL */
    EP_BOOT_GATES_MAX = 16,
    EP_BOOT_WHY_MAX = 1024 /* most bytes of a text for the user, with its NUL */
};

/* The launchers: a name, and the end of the name of its table (launcher.h). */
#define EP_LAUNCHER_MAP(X)                                                     \
    X(LOCAL, local)                                                            \
    X(SSH, ssh)                                                                \
    X(SLURM, slurm)

enum ep_launcher {
#define EP_LAUNCHER_NUMBER(NAME, row) EP_LAUNCHER_##NAME,
    EP_LAUNCHER_MAP(EP_LAUNCHER_NUMBER)
#undef EP_LAUNCHER_NUMBER
        EP_LAUNCHERS
};

/* The parameter that asks a daemon to describe its machine after joining. */
#define EP_BOOT_PARAM_MACHINE "machine"
/* Likewise: equal lines of processes share frames. */
#define EP_BOOT_PARAM_FOLDS "folds"

struct ep_boot_param {
    char name[EP_BOOT_NAME_MAX];
    uint64_t value;
};

struct ep_boot_host {
    uint32_t node;
    char *name; /* owned */
};

/* The tree's table of parents, if the tree has one, while it is being read. */
struct ep_boot_parents {
    uint32_t *table; /* owned; NULL: none */
    uint32_t told;   /* how many nodes' parents are known so far */
    uint32_t next;   /* the node whose children are read next */
};

/* The configuration of a daemon. An all-zero one is empty; ep_boot_config_fini
 * frees it. A NULL string or a zero number is not given: its default
 * applies. */
struct ep_boot_config {
    struct ep_auth auth;   /* session and key */
    struct topo_tree tree; /* the tree as planned */
    struct ep_boot_parents parents;
    enum ep_launcher launcher;
    bool is_virtual;    /* all nodes are on one machine, and have no hosts */
    bool no_tree_spawn; /* true: the launcher starts every daemon itself */
    bool verbose;
    uint16_t port_first, port_last; /* 0 and 0: any port */
    char *provider, *interface, *rsh, *xylemd;
    /* The folder of the daemon's mark (ep_mark_home); NULL: the daemon chooses
     * it itself. */
    char *home;
    uint32_t heartbeat_ms; /* this and the numbers below travel as params */
    uint32_t launch_timeout_ms;
    uint32_t frame_bytes;
    uint32_t down_window_frames;
    uint32_t up_window_bytes;
    uint32_t nofile;           /* how many descriptors the daemon may need */
    struct topo_range *hosted; /* owned, ascending, with gaps between them */
    uint32_t hosted_count;
    uint32_t hosted_cap;
    struct ep_boot_host *hosts; /* owned, ascending by node */
    uint32_t hosts_count;
    uint32_t hosts_cap;
    /* Variables for the fabric as NAME=VALUE: the daemon sets them in its
     * environment. */
    struct job_strings env;
    /* The addresses at which daemons can connect to the launcher, each as
     * "1.2.3.4:5" or "[::1]:5". Only for a launcher that starts all daemons by
     * one command. */
    struct job_strings gates;
    uint32_t params_count;
    /* parameters without a member */
    struct ep_boot_param params[EP_BOOT_PARAMS_MAX];
};

/* Frees all memory of the configuration and wipes it, the key included. */
void ep_boot_config_fini(struct ep_boot_config *config);

/* The functions below add to a configuration. Strings are copied; for single
 * strings use job_set_string. They return 0; OV_ENOMEM; OV_EINVAL for a value
 * that does not fit the tree or the ascending order, for a bad parameter name
 * ([a-z0-9_]+, not the name of a field), or for a host that is not fit for a
 * command line (empty, leading '-', control or space); or OV_EFULL when there
 * is no room for another parameter. Nothing changes on error. */
int ep_boot_add_hosted(struct ep_boot_config *config, struct topo_range range);
int ep_boot_add_host(struct ep_boot_config *config, uint32_t node,
                     const char *name);
/* `entry` is NAME=VALUE, and ep_boot_env_is_fabric() is true for it. */
int ep_boot_add_env(struct ep_boot_config *config, const char *entry);
/* Returns OV_EFULL when there is no room for another gate. */
int ep_boot_add_gate(struct ep_boot_config *config, const char *address);
int ep_boot_add_param(struct ep_boot_config *config, const char *name,
                      uint64_t value);

/* Copies the planned tree, and its table if it has one. Returns 0 or
 * OV_ENOMEM. */
int ep_boot_set_tree(struct ep_boot_config *config,
                     const struct topo_tree *tree);
/* Says that the next `nodes` nodes, from the root on, have `each` children
 * each. The tree's number of nodes must be set before. Returns 0, OV_EINVAL
 * when the tree has fewer nodes, or OV_ENOMEM. */
int ep_boot_add_children(struct ep_boot_config *config, uint32_t each,
                         uint32_t nodes);
/* Call it after the last ep_boot_add_children: config->tree then uses the
 * table, if there is one. Returns 0, or OV_EINVAL when the table is not
 * complete. */
int ep_boot_end_children(struct ep_boot_config *config);

/* Returns the parameter's value, or `otherwise` when it is not set.
 * O(params). */
uint64_t ep_boot_param(const struct ep_boot_config *config, const char *name,
                       uint64_t otherwise);

/* Makes the node on this host the only hosted one. Returns 0, OV_ENOENT or
 * OV_ENOMEM. O(hosts). */
int ep_boot_host_here(struct ep_boot_config *config, const char *host);

/* Returns the host of a node, borrowed; NULL when it is not known. O(log
 * hosts). */
const char *ep_boot_host(const struct ep_boot_config *config, uint32_t node);

/* True when this name of a host may be put on a command line. */
bool ep_boot_host_is_fit(const char *name);

/* True for a variable that configures the fabric, on which all daemons must
 * agree. These are libfabric's variables that choose and tune the providers
 * that xylem uses, and its log: FI_PROVIDER, FI_PROVIDER_PATH, FI_FORK_UNSAFE,
 * FI_LOG_*, FI_MR_*, FI_TCP_*, FI_VERBS_*. Other variables are not carried;
 * some of them hold keys of other providers. */
bool ep_boot_env_is_fabric(const char *entry);

/* Makes the configuration for a daemon that hosts `child` alone: a copy with
 * only the hosts of its subtree. A table of the tree stays with `config`; *out
 * borrows it. O(hosts x depth). Returns 0, OV_EINVAL (no such node) or
 * OV_ENOMEM; *out is then empty. */
int ep_boot_config_child(const struct ep_boot_config *config, uint32_t child,
                         struct ep_boot_config *out);

/* Checks that the configuration is complete and in range. Returns 0, or
 * OV_EINVAL with `why` (EP_BOOT_WHY_MAX bytes) filled. */
int ep_boot_config_check(const struct ep_boot_config *config, char *why);

/* The numbers that are members of the struct but travel as params: the name and
 * the offset of each. The last entry has the name NULL. */
struct ep_boot_number {
    const char *name;
    size_t offset; /* offset of a uint32_t in struct ep_boot_config */
};
extern const struct ep_boot_number ep_boot_numbers[];

#endif
