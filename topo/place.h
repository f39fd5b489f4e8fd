/* Placement: which node runs which ranks.
 *
 * Nodes are numbered from 0 here, like the hosts of the list; the launcher's
 * own node in the overlay runs no process and is not among them. Ranks go to
 * the nodes in blocks: node 0 runs the first ranks, and each node in use runs
 * at least one.
 *
 *   neither -n nor --ppn  one process on each node
 *   --ppn                 that many on each node, whatever its slots
 *   -n                    node after node is filled: to its slots, or to
 *                         --ppn; nodes behind the last process are not used.
 *                         Where the list says nothing about slots, they
 *                         share evenly, as below
 *   -n with -N            N nodes share the processes evenly, the first ones
 *                         taking one more where it does not come out even; at
 *                         most --ppn, or the slots the list names, on each
 *
 * Memory: 4 bytes per node.
 */
#ifndef TOPO_PLACE_H
#define TOPO_PLACE_H

#include <stdint.h>

#include "topo/hosts.h"
#include "topo/ranges.h"
#include "topo/why.h"

struct topo_place {
    uint32_t *first; /* owned: the first rank of each node; at the end the
                        number of ranks */
    uint32_t nodes;  /* in use, from node 0 */
    uint32_t procs;
};

/* What the user asks for; 0 for an option that the user did not give. */
struct topo_place_ask {
    const struct topo_hosts *hosts; /* borrowed. NULL: the user gave no list;
                                       nodes are invented on this machine as
                                       needed */
    uint32_t nodes;                 /* the number given by -N */
    uint32_t procs;                 /* the number given by -n */
    uint32_t ppn;                   /* the number given by --ppn */
    uint32_t slots_unsaid; /* with -n alone: the slots of a node for which the
                              list gives no number. 0: one slot when the list
                              gives a number for other nodes, else no limit */
};

/* Cost: O(nodes); with -n and -N up to 32 times that.
 * Returns 0; OV_EINVAL when the wishes cannot be met, with a sentence in why
 * (TOPO_WHY_MAX bytes, may be NULL); OV_ENOMEM. On failure out is empty.
 */
int topo_place_init(struct topo_place *out, const struct topo_place_ask *ask,
                    char *why);
void topo_place_fini(struct topo_place *place);

#endif
