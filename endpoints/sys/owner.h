/* The owner of what lies in the file system: one process among those of all
 * hosts and times, so that what a dead process has left can be told from what a
 * living one needs.
 *
 * A process number alone is used again, and means nothing on another host or in
 * another container. With the start time, the boot and the namespace it names
 * one process for good.
 */
#ifndef ENDPOINTS_SYS_OWNER_H
#define ENDPOINTS_SYS_OWNER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { EP_OWNER_BYTES = 80 }; /* of an owner as text, with its NUL */

struct ep_owner {
    uint64_t host;  /* a hash of its name and machine-id, 48 bits */
    uint64_t boot;  /* a hash of the kernel's boot_id, 48 bits */
    uint64_t space; /* a hash of the namespaces of pids and times, 48 bits */
    uint64_t start; /* of the process, in ticks since the boot */
    uint32_t pid;
    /* The two below are only known of oneself, and are not in the text. */
    bool is_first; /* in the namespaces that the host itself has, */
    bool is_sure;  /* on a host with a machine-id */
};

/* Finds the calling process as an owner. Returns 0, or OV_ESYS: /proc is not
 * there, or shows other processes than ours. */
int ep_owner_self(struct ep_owner *out);

/* Finds when the process `pid` has begun, in ticks since the boot. Returns 0;
 * OV_ENOENT: there is none, or it is dead and its parent has not waited for it
 * yet; or OV_ESYS: /proc does not tell. */
int ep_owner_start(uint32_t pid, uint64_t *ticks);

/* Writes an owner as HOST-BOOT-SPACE-PID-START: at most EP_OWNER_BYTES, all
 * characters fit for a file name. */
void ep_owner_print(const struct ep_owner *whose, char *text);

/* Reads such a text, up to the end or another '-'. Returns what follows; NULL:
 * it is no such text, and *out is undefined. */
const char *ep_owner_read(const char *text, struct ep_owner *out);

/* True when this process is certainly dead; `own` is the caller. Either it
 * belongs to this host and boot, in the same namespaces, and there is no such
 * process. Or it is of an earlier boot of this host. The latter is only
 * concluded outside of containers, on a host with a machine-id: containers of
 * several hosts can have the same name. */
bool ep_owner_is_gone(const struct ep_owner *whose, const struct ep_owner *own);

#endif
