/* The owner of what lies in the file system: which process of all hosts and
 * times, so that what a dead one has left can be told from what one needs that
 * lives.
 *
 * A process number alone is used again, and means nothing on another host or in
 * another container. With the start time, the boot and the namespace it is the
 * name of one process for ever.
 */
#ifndef ENDPOINTS_SYS_OWNER_H
#define ENDPOINTS_SYS_OWNER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { EP_OWNER_BYTES = 80 }; /* as text, with its end */

struct ep_owner {
    uint64_t host;  /* a hash of its name and machine-id, 48 bits */
    uint64_t boot;  /* a hash of the kernel's boot_id, 48 bits */
    uint64_t space; /* a hash of the namespaces of pids and times, 48 bits */
    uint64_t start; /* of the process, in ticks since the boot */
    uint32_t pid;
    /* The two below are of one's own alone, and in no text. */
    bool is_first; /* in the namespaces that the host itself has, */
    bool is_sure;  /* and it has a machine-id */
};

/* That of the calling process. Returns 0, or OV_ESYS where /proc is not there,
 * or shows other processes than ours. */
int ep_owner_self(struct ep_owner *out);

/* When the process `pid` has begun, in ticks since the boot. Returns 0, or
 * OV_ENOENT: there is none, or it is dead and its parent has yet to hear of it;
 * or OV_ESYS: /proc does not tell. */
int ep_owner_start(uint32_t pid, uint64_t *ticks);

/* Writes it, as HOST-BOOT-SPACE-PID-START: EP_OWNER_BYTES at most, of the
 * letters of a file name. */
void ep_owner_print(const struct ep_owner *whose, char *text);

/* Reads what the above has written, up to the end or another '-'. Returns what
 * follows; NULL: it is no such text, and *out is undefined. */
const char *ep_owner_read(const char *text, struct ep_owner *out);

/* True when it is certain that this process does not live any more: `own` is
 * that of who asks. It is of this host and boot, in the same namespaces, and
 * there is no such process; or it is of another boot of this host, which so is
 * over. The latter is only said from outside of containers, on a host with a
 * machine-id: containers of several hosts can have the same name. */
bool ep_owner_is_gone(const struct ep_owner *whose, const struct ep_owner *own);

#endif
