/* Where hosts may be, guessed from what they are called.
 *
 * Sites number their hosts along racks and switches. So the tree goes by names
 * in their natural order (node2 before node10), and names that share all but
 * their last number are taken for a group, which stands for a switch:
 *
 *     rack1-n2, rack1-n10   are in rack1, rack2-n1 is in rack2
 *     gpu3, gpu4            are in gpu, cpu1 is in cpu
 *     n1.rack7.site         is in rack7; of a domain the last part goes first
 *     10.1.0.5              is in 10.1.0
 *
 * What all names end in alike (an "-ib0") does not count. Where the names make
 * one group only, the addresses that a file gives them in the syntax of
 * /etc/hosts are tried: those of IPv4 that share all but the last number.
 * Nobody is asked over the network: a guess must not delay a launch.
 */
#ifndef TOPO_GUESS_H
#define TOPO_GUESS_H

#include "topo/fabric.h"
#include "topo/hosts.h"

enum topo_guess_by {
    TOPO_GUESS_ORDER,     /* one group, or nothing but single hosts */
    TOPO_GUESS_NAMES,     /* groups */
    TOPO_GUESS_ADDRESSES, /* groups */
};

struct topo_guess {
    uint32_t *order;           /* owned [hosts]: their numbers, naturally */
    struct topo_fabric fabric; /* the groups as switches; else empty */
    enum topo_guess_by by;
};

/* Natural order: digits count as the number they write. As strcmp; 0 for equal
 * texts only. */
int topo_guess_compare(const char *a, const char *b);

/* For the first count hosts of a list, at least one, and the machine
 * `launcher`, which may be in a group, too. `addresses` is the file, or NULL.
 * Cost: O(count log count), and the reading of the file where it is tried.
 * Returns 0 or OV_ENOMEM; out is then empty. */
int topo_guess_init(struct topo_guess *out, const struct topo_hosts *hosts,
                    uint32_t count, const char *launcher,
                    const char *addresses);
void topo_guess_fini(struct topo_guess *guess);

#endif
