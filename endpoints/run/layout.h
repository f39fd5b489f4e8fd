/* The tree of a run, planned without starting the run. */
#ifndef ENDPOINTS_RUN_LAYOUT_H
#define ENDPOINTS_RUN_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "topo/cost.h"
#include "topo/fabric.h"
#include "topo/shape.h"

struct ep_run_options;

/* What decides the order of hosts in the tree, and their groups. */
enum ep_tree_by {
    EP_TREE_LIST,      /* the order of the user's list; no groups */
    EP_TREE_FILE,      /* switches in the file of --topology */
    EP_TREE_SLURM,     /* switches that Slurm names */
    EP_TREE_ORDER,     /* the natural order of names; no groups */
    EP_TREE_NAMES,     /* groups guessed from names */
    EP_TREE_ADDRESSES, /* groups guessed from addresses */
};

/* How the tree of a run was planned. */
struct ep_tree_plan {
    /* The costs by which the arity was chosen; only valid if is_chosen. */
    struct topo_cost cost;
    /* Which host is at which node. A complete tree has no table of parents. */
    struct topo_shape shape;
    /* switches, or groups of hosts used like switches */
    struct topo_fabric fabric;
    struct topo_under under; /* under which switch of `fabric` each host is */
    uint32_t arity;          /* the arity that was asked for, or chosen */
    uint32_t procs;          /* how many processes a host has on average */
    bool is_chosen;
    enum ep_tree_by by;
};

/* Frees what the plan holds, but not the plan itself. */
void ep_tree_plan_fini(struct ep_tree_plan *plan);

/* A planned tree, which a run with these options would have. The strings that
 * the functions below return are borrowed from the options, or from the layout,
 * which must still be open. */
struct ep_layout;

/* Plans the tree, with the hosts, exclusion, placement and shape that ep_run()
 * would use, and says on stderr what is impossible. Starts no process. Only one
 * layout may be open at a time. Returns 0, or the exit code that ep_run() would
 * return. */
int ep_layout_open(const struct ep_run_options *options,
                   struct ep_layout **out);
void ep_layout_close(struct ep_layout *layout);

const struct topo_tree *ep_layout_tree(const struct ep_layout *layout);
const struct ep_tree_plan *ep_layout_plan(const struct ep_layout *layout);

/* Returns the host of a node of the tree; node 0 is the launcher. */
const char *ep_layout_host(const struct ep_layout *layout, uint32_t node);
/* Returns the node's place in the list of hosts, which is its XYLEM_NODE.
 * `node` must be greater than 0. */
uint32_t ep_layout_place(const struct ep_layout *layout, uint32_t node);
/* Returns how many processes are on the node. */
uint32_t ep_layout_procs(const struct ep_layout *layout, uint32_t node);
/* Tells whether the nodes are virtual: parts of this machine instead of hosts
 * of their own. */
bool ep_layout_is_virtual(const struct ep_layout *layout);
/* Returns the number of the switch that the node is under; TOPO_NONE when
 * nothing is known about it. Hosts for which no switch is named are under the
 * last switch of the plan. */
uint32_t ep_layout_switch(const struct ep_layout *layout, uint32_t node);

#endif
