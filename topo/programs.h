/* Placement of several programs of one job.
 *
 * Each program has options as in topo/place.h. Its ranks follow the ranks of
 * the program before it:
 *
 *   without -n       one process, or --ppn, on each node of the job, beside
 *                    whatever else is there; takes no slots
 *   -n               goes on where the one before with -n stopped: on that
 *                    node if it has slots left, else on the next. Such
 *                    programs in a row are placed as one program whose -n is
 *                    the sum of theirs
 *   -n with --ppn    the same, with at most --ppn processes of its own on each
 *                    node, whatever its slots
 *
 * When the remaining nodes have too little room for a program with -n, the
 * program is placed from the first node on. The nodes of the job are the first
 * -N of the list, or all; without a list, as many as the programs with -n need.
 *
 * Memory: 20 bytes for each run of nodes with equally many processes of a
 * program, and 16 bytes per node for the time of the call.
 */
#ifndef TOPO_PROGRAMS_H
#define TOPO_PROGRAMS_H

#include <stdint.h>

#include "topo/hosts.h"
#include "topo/tree.h"
#include "topo/why.h"

/* What the user asks for one program; 0 where the user did not say. */
struct topo_program {
    const char *name;       /* the program's name, for messages */
    uint32_t procs;         /* the number given by -n */
    uint32_t ppn;           /* the number given by --ppn */
    const uint32_t *ppn_of; /* borrowed: --ppn of each host, at least 1, when it
                               differs between hosts; ppn is then the largest.
                               Else NULL */
};

struct topo_programs_ask {
    const struct topo_hosts *hosts; /* borrowed. NULL: no list */
    uint32_t nodes;                 /* the number given by -N; 0: not given */
    const struct topo_program *programs;
    uint32_t count; /* at least 1 */
};

/* Neighbouring nodes that run equally many processes of a program. */
struct topo_block {
    uint32_t program;
    struct topo_range nodes; /* from 0 */
    uint32_t each;           /* processes on each of them, at least 1 */
    uint32_t first_rank;
};

struct topo_programs {
    struct topo_block *blocks; /* owned; in the order of ranks */
    uint32_t count, max;
    uint32_t nodes; /* in use, from node 0 */
    uint32_t procs;
};

/* Sets --ppn of a program to `each` processes for each object (core or socket)
 * of a host. On entry ppn_of[i] is how many such objects host i has, at least
 * 1. The function replaces it by the number of processes, at most
 * TOPO_NUMBER_MAX; *out borrows the array when hosts differ. O(hosts). */
void topo_program_count(struct topo_program *out, uint32_t each,
                        uint32_t *ppn_of, uint32_t hosts);

/* Cost: O(nodes * programs).
 * Returns 0; OV_EINVAL when the wishes cannot be met, with a sentence in why
 * (TOPO_WHY_MAX bytes, may be NULL); OV_ENOMEM. On failure out is empty.
 */
int topo_programs_place(struct topo_programs *out,
                        const struct topo_programs_ask *ask, char *why);
void topo_programs_fini(struct topo_programs *out);

/* Returns the largest number of processes on one node; 0 when memory is out.
 * O(nodes * programs), and 4 bytes per node during the call. */
uint32_t topo_programs_most(const struct topo_programs *placed);

#endif
