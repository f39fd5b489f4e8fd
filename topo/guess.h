/* Guesses from the names of hosts which hosts are close to each other.
 *
 * Sites usually number their hosts along racks and switches. So hosts are
 * sorted by name in natural order (node2 before node10), and hosts whose names
 * are equal but for the last number form a group, which is treated as a switch:
 *
 *     rack1-n2, rack1-n10   are in rack1, rack2-n1 is in rack2
 *     gpu3, gpu4            are in gpu, cpu1 is in cpu
 *     n1.rack7.site         is in rack7: the domain is read from its end
 *     10.1.0.5              is in 10.1.0
 *
 * An ending that all names share (such as "-ib0") is ignored. When all names
 * fall into one group, groups are formed by IPv4 addresses instead, which are
 * read from a file in the syntax of /etc/hosts: addresses that are equal but
 * for the last number form a group. Nothing is looked up over the network: a
 * guess must not delay a launch.
 */
#ifndef TOPO_GUESS_H
#define TOPO_GUESS_H

#include "topo/fabric.h"
#include "topo/hosts.h"

enum topo_guess_by {
    TOPO_GUESS_ORDER,     /* no useful groups: all hosts are in one group, or
                             each is alone */
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

/* Compares two names in natural order, where a run of digits counts as one
 * number. Returns a value as strcmp() does; 0 only for equal names. */
int topo_guess_compare(const char *a, const char *b);

/* Guesses for the first `count` (at least 1) hosts of a list, and for the
 * machine `launcher`, which may be in one of the groups. `addresses` is the
 * path of the file with addresses, or NULL. Cost: O(count log count), and
 * reading the file where it is tried. Returns 0 or OV_ENOMEM; out is then
 * empty. */
int topo_guess_init(struct topo_guess *out, const struct topo_hosts *hosts,
                    uint32_t count, const char *launcher,
                    const char *addresses);
void topo_guess_fini(struct topo_guess *guess);

#endif
