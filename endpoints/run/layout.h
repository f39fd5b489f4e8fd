/* The tree of a run, planned and looked at without starting anything. */
#ifndef ENDPOINTS_RUN_LAYOUT_H
#define ENDPOINTS_RUN_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "topo/cost.h"
#include "topo/fabric.h"
#include "topo/shape.h"

struct ep_run_options;

/* Where the order of hosts in the tree and their groups come from. */
enum ep_tree_by {
    EP_TREE_LIST,      /* the user's list; no groups */
    EP_TREE_FILE,      /* switches of --topology */
    EP_TREE_SLURM,     /* switches */
    EP_TREE_ORDER,     /* names in their natural order; no groups */
    EP_TREE_NAMES,     /* groups guessed from names */
    EP_TREE_ADDRESSES, /* groups guessed from addresses */
};

/* What is known about the tree; part of the state of a run. */
struct ep_tree_plan {
    /* The costs by which an arity was chosen, if one was. */
    struct topo_cost cost;
    /* Which host is where; a complete tree has no table of parents. */
    struct topo_shape shape;
    struct topo_fabric fabric; /* switches, or groups that stand for them */
    struct topo_under under;   /* where in it the hosts of this run are */
    uint32_t arity;            /* the arity that was asked for, or chosen */
    uint32_t procs;            /* on a host, on average */
    bool is_chosen;
    enum ep_tree_by by;
};

/* Frees what it holds. */
void ep_tree_plan_fini(struct ep_tree_plan *plan);

/* The tree that a run with these options would have. Its strings are borrowed
 * from the options, or from here until it is closed. */
struct ep_layout;

/* Plans the tree, with the hosts, exclusion, placement and shape that ep_run()
 * would use, and says on stderr what is impossible. Starts and forks nothing;
 * one at a time. Returns 0, or the exit code that ep_run() would return. */
int ep_layout_open(const struct ep_run_options *options,
                   struct ep_layout **out);
void ep_layout_close(struct ep_layout *layout);

const struct topo_tree *ep_layout_tree(const struct ep_layout *layout);
const struct ep_tree_plan *ep_layout_plan(const struct ep_layout *layout);

/* The host of a node of the tree; node 0 is the launcher. */
const char *ep_layout_host(const struct ep_layout *layout, uint32_t node);
/* The node's place in the list, as XYLEM_NODE counts. node > 0. */
uint32_t ep_layout_place(const struct ep_layout *layout, uint32_t node);
/* How many processes are on the node. */
uint32_t ep_layout_procs(const struct ep_layout *layout, uint32_t node);
/* Tells whether nodes are virtual ones of this machine, without hosts of their
 * own. */
bool ep_layout_is_virtual(const struct ep_layout *layout);
/* The number of the switch that the node is under; TOPO_NONE: nothing is known.
 * The last switch of the plan stands for hosts that are not named. */
uint32_t ep_layout_switch(const struct ep_layout *layout, uint32_t node);

#endif
