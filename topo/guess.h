/* Where hosts may be, guessed from what they are called.
 *
 * Sites number their hosts along racks and switches. So the tree goes by names
 * in their natural order (node2 before node10), and names that share all but
 * their last number are taken for a group, which stands for a switch:
 *
 *     rack1-n2, rack1-n10   are in rack1, rack2-n1 is in rack2
 *     gpu3, gpu4            are in gpu, cpu1 is in cpu
 *     n1.rack7.site         is in rack7: the domain is read from its end
 *     10.1.0.5              is in 10.1.0
 *
 * An ending that all names share (such as "-ib0") is ignored. Where all names
 * fall into one group, their IPv4 addresses are tried, read from a file in the
 * syntax of /etc/hosts: addresses that share all but the last number form a
 * group. Nothing is looked up over the network: a guess must not delay a
 * launch.
 */
#ifndef TOPO_GUESS_H
#define TOPO_GUESS_H

#include "topo/fabric.h"
#include "topo/hosts.h"

enum topo_guess_by {
    TOPO_GUESS_ORDER,     /* no groups were found: there is one, or each has
                             one host */
    TOPO_GUESS_NAMES,     /* groups were found by names */
    TOPO_GUESS_ADDRESSES, /* groups were found by addresses */
};

struct topo_guess {
    uint32_t *order;           /* owned [hosts]: the numbers of the hosts in
                                  natural order */
    struct topo_fabric fabric; /* the groups as switches; empty where none
                                  were found */
    enum topo_guess_by by;
};

/* Compares in natural order: a run of digits counts as one number. Returns what
 * strcmp returns, 0 for equal texts only. */
int topo_guess_compare(const char *a, const char *b);

/* Guesses for the first count hosts of a list, at least one, and for the
 * machine `launcher`, which may belong to a group, too. `addresses` is the path
 * of the file with addresses, or NULL. Cost: O(count log count), and reading
 * the file where it is tried. Returns 0 or OV_ENOMEM; out is then empty. */
int topo_guess_init(struct topo_guess *out, const struct topo_hosts *hosts,
                    uint32_t count, const char *launcher,
                    const char *addresses);
void topo_guess_fini(struct topo_guess *guess);

#endif
