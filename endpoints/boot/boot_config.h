/* What a daemon needs to know before it joins the tree.
 *
 * Its starter builds one, endpoints/boot/boot.h carries it, the daemon reads it
 * and narrows it for the daemons that it starts in turn.
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
    EP_BOOT_WHY_MAX = 1024 /* words for the user */
};

/* The launchers, each with the end of the name of its row (launcher.h). */
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

/* A parameter: the daemon tells of its machine when it has joined. */
#define EP_BOOT_PARAM_MACHINE "machine"

struct ep_boot_param {
    char name[EP_BOOT_NAME_MAX];
    uint64_t value;
};

struct ep_boot_host {
    uint32_t node;
    char *name; /* owned */
};

/* The tree's table, where it has one, and how much of it is read. */
struct ep_boot_parents {
    uint32_t *table; /* owned; NULL: none */
    uint32_t told;   /* nodes whose parent is known */
    uint32_t next;   /* the next one of whose children we hear */
};

/* What a daemon needs to know. Zeroed it is empty; ep_boot_config_fini frees
 * it. A NULL string or a zero number means: not given, use the default. */
struct ep_boot_config {
    struct ep_auth auth;   /* session and key */
    struct topo_tree tree; /* the planned tree 0 */
    struct ep_boot_parents parents;
    enum ep_launcher launcher;
    bool is_virtual;    /* many nodes on one machine: no host for each */
    bool no_tree_spawn; /* the launcher starts every daemon itself */
    bool verbose;
    uint16_t port_first, port_last; /* 0, 0: any */
    char *provider, *interface, *rsh, *xylemd;
    char *home; /* of the daemon's mark (ep_mark_home); NULL: it looks itself */
    uint32_t heartbeat_ms; /* these travel as params */
    uint32_t launch_timeout_ms;
    uint32_t frame_bytes;
    uint32_t down_window_frames;
    uint32_t up_window_bytes;
    uint32_t nofile;           /* descriptors the daemon may come to need */
    struct topo_range *hosted; /* ascending, apart from each other */
    uint32_t hosted_count;
    uint32_t hosted_cap;
    struct ep_boot_host *hosts; /* ascending */
    uint32_t hosts_count;
    uint32_t hosts_cap;
    struct job_strings env; /* NAME=VALUE: for the fabric, set by the daemon */
    /* Where daemons can call the launcher, each as "1.2.3.4:5", "[::1]:5".
     * Only with a launcher
     * that starts all daemons by one command. */
    struct job_strings gates;
    uint32_t params_count;
    struct ep_boot_param params[EP_BOOT_PARAMS_MAX]; /* further ones */
};

/* Frees all it holds and wipes it, the key included. */
void ep_boot_config_fini(struct ep_boot_config *config);

/* Builders. Strings are copied (job_set_string for the single ones).
 * Return 0; OV_ENOMEM; OV_EINVAL for what does not fit the tree or the
 * ascending order, a bad parameter name ([a-z0-9_]+, not one of the fields'),
 * a host that is not fit for a command line (empty, leading '-', control or
 * space); OV_EFULL for one parameter too many. Nothing changes on error. */
int ep_boot_add_hosted(struct ep_boot_config *config, struct topo_range range);
int ep_boot_add_host(struct ep_boot_config *config, uint32_t node,
                     const char *name);
/* `entry` is NAME=VALUE and passes ep_boot_env_is_fabric(). */
int ep_boot_add_env(struct ep_boot_config *config, const char *entry);
/* Returns OV_EFULL for one too many. */
int ep_boot_add_gate(struct ep_boot_config *config, const char *address);
int ep_boot_add_param(struct ep_boot_config *config, const char *name,
                      uint64_t value);

/* Makes the plan the tree; its table is copied, where it has one. Returns 0 or
 * OV_ENOMEM. */
int ep_boot_set_tree(struct ep_boot_config *config,
                     const struct topo_tree *tree);
/* The next `nodes` nodes, from the root on, have `each` children. The tree's
 * number of nodes is known before. Returns 0, OV_EINVAL for more than there
 * are, or OV_ENOMEM. */
int ep_boot_add_children(struct ep_boot_config *config, uint32_t each,
                         uint32_t nodes);
/* All that is to be said about children was: the table, if there is any,
 * becomes the tree. Returns 0, or OV_EINVAL when it is not whole. */
int ep_boot_end_children(struct ep_boot_config *config);

/* The parameter's value, or `otherwise`. O(params). */
uint64_t ep_boot_param(const struct ep_boot_config *config, const char *name,
                       uint64_t otherwise);

/* Makes the node of this host the one that is hosted. Returns 0, OV_ENOENT or
 * OV_ENOMEM. O(hosts). */
int ep_boot_host_here(struct ep_boot_config *config, const char *host);

/* The host of a node, borrowed, or NULL. O(log hosts). */
const char *ep_boot_host(const struct ep_boot_config *config, uint32_t node);

/* Is this text fit to stand for a host on a command line? */
bool ep_boot_host_is_fit(const char *name);

/* Is this entry of an environment about the fabric, so that all daemons must
 * agree on it? Of libfabric's variables those that choose and tune the
 * providers xylem uses, and its log: FI_PROVIDER, FI_PROVIDER_PATH,
 * FI_FORK_UNSAFE, FI_LOG_*, FI_MR_*, FI_TCP_*, FI_VERBS_*. Others stay where
 * they are; some are keys of other providers. */
bool ep_boot_env_is_fabric(const char *entry);

/* The configuration for a daemon that hosts `child` alone: a copy with the
 * hosts of its subtree only; a table of the tree stays with `config` and is
 * borrowed. O(hosts x depth). Returns 0, OV_EINVAL (no such node) or
 * OV_ENOMEM; *out is then empty. */
int ep_boot_config_child(const struct ep_boot_config *config, uint32_t child,
                         struct ep_boot_config *out);

/* Is it complete and in range? Returns 0, or OV_EINVAL with `why`
 * (EP_BOOT_WHY_MAX bytes) filled. */
int ep_boot_config_check(const struct ep_boot_config *config, char *why);

/* The numbers that have a field of their own but travel as params: the name
 * and its place, ended by a NULL name. */
struct ep_boot_number {
    const char *name;
    size_t offset; /* of a uint32_t in struct ep_boot_config */
};
extern const struct ep_boot_number ep_boot_numbers[];

#endif
