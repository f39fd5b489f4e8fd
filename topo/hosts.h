/* Lists of hosts, with the number of slots of each.
 *
 * Hosts are numbered in the order of the user's text. A host that is named
 * again keeps its place in the list and gains slots: as many as the text says
 * there, or one. So "a,b,a" means a with 2 slots, then b; and in a list that
 * names a host once for each processor, as resource managers write them, the
 * host has a slot for each processor.
 *
 * Memory: the names once and about 20 bytes per host; up to twice as much while
 * the list grows.
 */
#ifndef TOPO_HOSTS_H
#define TOPO_HOSTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "topo/ranges.h"
#include "topo/why.h"

enum {
    TOPO_HOSTS_MAX = 1000000, /* hosts of a list */
    TOPO_SLOTS_MAX = 1000000, /* slots of a host */
    TOPO_HOST_NAME_MAX = 254, /* bytes of a name with its NUL */
    TOPO_HOST_DIMS_MAX = 8,   /* bracket pairs in one name */
};

struct topo_host {
    uint32_t name_at; /* where its name starts in the list's text */
    uint32_t slots;   /* 0: the host was named once, without a number of
                         slots */
};

struct topo_hosts {
    struct topo_host *items; /* owned */
    char *text;              /* owned: the names, each with its NUL */
    uint32_t *index;         /* owned: hash table of item numbers plus 1 */
    uint32_t count;
    uint32_t items_max;
    uint32_t text_bytes;
    uint32_t text_max;
    uint32_t index_max; /* 0 or a power of 2 */
};

void topo_hosts_init(struct topo_hosts *hosts);

/* Frees what the list owns; it is empty afterwards. */
void topo_hosts_fini(struct topo_hosts *hosts);

/* True when c may be part of a host's name: letters, digits and "._-@". (A name
 * must not start with '-', so that no program takes it for an option.) */
bool topo_host_has(char c);

/* Adds a host, or adds slots to the host that has that name. slots 0 means that
 * no number is given. Cost: O(1) amortised. Returns 0; OV_EINVAL for a name or
 * number of slots outside the bounds; OV_EFULL when the list, or the host's
 * slots, would pass their maximum; OV_ENOMEM. On failure the list is as
 * before. */
int topo_hosts_add(struct topo_hosts *hosts, const char *name, size_t len_bytes,
                   uint32_t slots);

/* The name of host i, below count; valid until the list changes. */
const char *topo_hosts_name(const struct topo_hosts *hosts, uint32_t i);

/* O(1). The number of the host of that name, or TOPO_NONE. */
uint32_t topo_hosts_find(const struct topo_hosts *hosts, const char *name,
                         size_t len_bytes);

/* Adds the hosts that the text names: terms with commas (and blanks, if wanted)
 * between them. A term is a name, with any part of it in brackets standing for
 * numbers, and after a colon the slots of each host:
 *
 *     login:4   node[001-128]   node[0-10/2,20]   rack[1-4]node[01-32]:2
 *
 * Numbers keep their leading zeros; both ends of a range with leading zeros
 * need the same number of digits. With several brackets the last one changes
 * fastest. `slots` is for terms that give no number (0: no number is given).
 * Returns 0, OV_EINVAL, OV_EFULL or OV_ENOMEM with a sentence in why
 * (TOPO_WHY_MAX bytes, may be NULL). On failure some hosts may have been added:
 * the list must then be freed with topo_hosts_fini.
 */
int topo_hosts_add_text(struct topo_hosts *hosts, const char *text,
                        size_t len_bytes, uint32_t slots, char *why);

/* Reads a text that ends with NUL and names at least one host into `hosts`,
 * which becomes a new list. The hosts of a term after '^' are removed from the
 * list: other terms, before it or after it, must name them. Returns as
 * topo_hosts_add_text(); after an error `hosts` is empty. */
int topo_hosts_parse(struct topo_hosts *hosts, const char *text, char *why);

/* Reads a file into `hosts`, which becomes a new list. Each line has one host,
 * written as a term above, and may end with `slots=N`; '#' starts a comment,
 * and blank lines are ignored. Errors name the file and the line; the list is
 * then empty. Returns 0, OV_EINVAL, OV_EFULL, OV_ENOMEM, OV_ENOENT or OV_ESYS
 * (the file is not there or cannot be read).
 */
int topo_hosts_read(struct topo_hosts *hosts, const char *path, char *why);

/* Reads a host file from the current place of an open file, which errors call
 * `name`. The caller closes the file. Returns the same as topo_hosts_read(). */
int topo_hosts_read_from(struct topo_hosts *hosts, FILE *in, const char *name,
                         char *why);

/* Removes the hosts of `list` from hosts; the others keep their order and
 * slots. Returns 0; OV_EINVAL with a sentence in why, which begins with `sign`,
 * for a host that is not in hosts, or when none is left; OV_EFULL; OV_ENOMEM.
 * hosts is as before on failure. O(hosts). */
int topo_hosts_exclude(struct topo_hosts *hosts, const struct topo_hosts *list,
                       const char *sign, char *why);

/* The short form of the first count hosts: a text that topo_hosts_parse turns
 * back into the same list, order and slots included. Only neighbours in the
 * list are folded. The caller frees the text; NULL: no memory. Cost: O(bytes of
 * the names) and 24 bytes per host for the time of the call.
 */
char *topo_hosts_fold(const struct topo_hosts *hosts, uint32_t count);

/* As topo_hosts_fold, but for a message to the user: a text of about max_bytes
 * at most, which ends in " and N more" where hosts are left out. */
char *topo_hosts_fold_short(const struct topo_hosts *hosts, size_t max_bytes);

#endif
