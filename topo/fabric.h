/* Fabrics: which host is under which switch.
 *
 * The text is that of Slurm's topology.conf, and of what `scontrol show
 * topology` prints:
 *
 *     SwitchName=s1 Nodes=node[001-032] LinkSpeed=200
 *     SwitchName=s2 Nodes=node[033-064]
 *     SwitchName=core Switches=s[1-2]        # a comment
 *
 * Words may be written in capitals or not; LinkSpeed and Level mean nothing
 * here. A line that ends in a backslash goes on in the next one. The nodes of
 * a switch that has switches are those of its switches, whatever is said.
 */
#ifndef TOPO_FABRIC_H
#define TOPO_FABRIC_H

#include <stddef.h>
#include <stdint.h>

#include "topo/hosts.h"
#include "topo/why.h"

/* Switches one above the other at most. */
enum { TOPO_FABRIC_LEVELS_MAX = 32 };

struct topo_fabric {
    struct topo_hosts hosts;    /* owned: all that are named */
    struct topo_hosts switches; /* owned: the names of switches */
    uint32_t *leaf;             /* owned: of each host its switch */
    uint32_t *above;            /* owned: of each switch the one above it, or
                                   TOPO_NONE */
    uint32_t leaf_max, above_max;
};

/* Makes fabric what the file, or the text that came from `source`, says.
 * Returns 0; OV_EINVAL (a sentence in why, TOPO_WHY_MAX bytes, with file and
 * line), OV_ENOMEM, OV_EFULL (too many hosts), OV_ENOENT or OV_ESYS (the file
 * cannot be read). On failure it is empty. Cost: O(bytes of all names). */
int topo_fabric_read(struct topo_fabric *fabric, const char *path, char *why);
int topo_fabric_parse(struct topo_fabric *fabric, const char *text,
                      size_t len_bytes, const char *source, char *why);
void topo_fabric_fini(struct topo_fabric *fabric);

/* O(levels). The switch of a host: by its name, or by what is left of it
 * without `user@` and the domain; TOPO_NONE when the fabric does not name it.
 */
uint32_t topo_fabric_leaf(const struct topo_fabric *fabric, const char *host);

/* The hosts of a job under switches, as topo_shape_init takes it. */
struct topo_under {
    uint32_t *under; /* owned: of each host its switch; those that the fabric
                        does not name share one of their own, the last */
    uint32_t *above; /* owned: of each switch the one above it, or itself */
    uint32_t switches;
    uint32_t launcher; /* TOPO_NONE: under none */
    uint32_t unnamed;  /* hosts that the fabric does not name */
};

/* For the first count hosts of the list, and the machine `launcher`. Returns 0
 * or OV_ENOMEM. */
int topo_under_init(struct topo_under *out, const struct topo_fabric *fabric,
                    const struct topo_hosts *hosts, uint32_t count,
                    const char *launcher);
void topo_under_fini(struct topo_under *under);

#endif
