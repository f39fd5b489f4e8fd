/* Fabrics: which host is under which switch.
 *
 * The syntax is that of Slurm's topology.conf and of the output of `scontrol
 * show topology`:
 *
 *     SwitchName=s1 Nodes=node[001-032] LinkSpeed=200
 *     SwitchName=s2 Nodes=node[033-064]
 *     SwitchName=core Switches=s[1-2]        # a comment
 *
 * Case does not matter in keywords; LinkSpeed and Level are ignored. A line
 * that ends in a backslash continues on the next line. A switch above other
 * switches has the nodes of these, whatever its own line says.
 */
#ifndef TOPO_FABRIC_H
#define TOPO_FABRIC_H

#include <stddef.h>
#include <stdint.h>

#include "topo/hosts.h"
#include "topo/why.h"

/* The most switches above each other. */
enum { TOPO_FABRIC_LEVELS_MAX = 32 };

struct topo_fabric {
    struct topo_hosts hosts;    /* owned: all hosts that the fabric names */
    struct topo_hosts switches; /* owned: the names of switches */
    uint32_t *leaf;             /* owned: the switch of each host */
    uint32_t *above;            /* owned: the switch above each switch, or
                                   TOPO_NONE */
    uint32_t leaf_max, above_max;
};

/* Reads a fabric from a file, or from a text; `source` names the origin of the
 * text in messages. Returns 0; OV_EINVAL (with a sentence that names file and
 * line in why, TOPO_WHY_MAX bytes), OV_ENOMEM, OV_EFULL (too many hosts),
 * OV_ENOENT or OV_ESYS (the file cannot be read). On failure *fabric is empty.
 * Cost: O(bytes of all names). */
int topo_fabric_read(struct topo_fabric *fabric, const char *path, char *why);
int topo_fabric_parse(struct topo_fabric *fabric, const char *text,
                      size_t len_bytes, const char *source, char *why);
void topo_fabric_fini(struct topo_fabric *fabric);

/* O(levels). The switch of a host. The host is looked up by its name and then
 * by its name without `user@` and the domain; TOPO_NONE when the fabric does
 * not name it.
 */
uint32_t topo_fabric_leaf(const struct topo_fabric *fabric, const char *host);

/* The hosts of a job and their switches, in the form that topo_shape_init()
 * needs. */
struct topo_under {
    uint32_t *under; /* owned: the switch of each host; hosts that the fabric
                        does not name share an additional switch, the last */
    uint32_t *above; /* owned: the switch above each switch; a switch with none
                        above it has its own number here */
    uint32_t switches;
    uint32_t launcher; /* the launcher's switch; TOPO_NONE: the launcher is
                          under no switch */
    uint32_t unnamed;  /* how many hosts the fabric does not name */
};

/* Fills out for the first count hosts of the list and for the machine
 * `launcher`. Returns 0 or OV_ENOMEM. */
int topo_under_init(struct topo_under *out, const struct topo_fabric *fabric,
                    const struct topo_hosts *hosts, uint32_t count,
                    const char *launcher);
void topo_under_fini(struct topo_under *under);

#endif
