/* The owner of a file or folder: one process among those of all hosts and
 * times. With it, files that a dead process has left can be told from files
 * that a living process needs.
 *
 * A pid alone is used again by later processes, and means nothing on another
 * host or in another container. Together with the start time, the boot and the
 * namespace it names one process for good.
 */
#ifndef ENDPOINTS_SYS_OWNER_H
#define ENDPOINTS_SYS_OWNER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { EP_OWNER_BYTES = 80 }; /* length of an owner as text, with its NUL */

struct ep_owner {
    uint64_t host;  /* a hash of the host's name and machine-id, 48 bits */
    uint64_t boot;  /* a hash of the kernel's boot_id, 48 bits */
    uint64_t space; /* a hash of the namespaces of pids and times, 48 bits */
    uint64_t start; /* when the process began, in ticks since the boot */
    uint32_t pid;
    /* Known only for the calling process itself, and not in the text. */
    bool is_first; /* the process is in the first namespaces of the host */
    bool is_sure;  /* the process's host has a machine-id */
};

/* Makes an owner of the calling process. Returns 0, or OV_ESYS: /proc is not
 * there, or shows the processes of another namespace. */
int ep_owner_self(struct ep_owner *out);

/* Finds when the process `pid` began, in ticks since the boot. Returns 0;
 * OV_ENOENT: there is no such process, or it is dead and its parent has not
 * waited for it yet; or OV_ESYS: /proc cannot be read. */
int ep_owner_start(uint32_t pid, uint64_t *ticks);

/* Writes an owner as HOST-BOOT-SPACE-PID-START: at most EP_OWNER_BYTES, all
 * characters fit for a file name. */
void ep_owner_print(const struct ep_owner *whose, char *text);

/* Reads an owner's text, up to its end or another '-'. Returns the rest of the
 * text; NULL when it is not an owner's, and *out is then undefined. */
const char *ep_owner_read(const char *text, struct ep_owner *out);

/* True when the process `whose` is certainly dead; `own` is the caller. Either
 * the process belongs to this host and boot, and to the same namespaces, and
 * does not exist; or it belongs to an earlier boot of this host. The latter is
 * concluded only outside of containers, on a host with a machine-id: containers
 * of several hosts can have the same name. */
bool ep_owner_is_gone(const struct ep_owner *whose, const struct ep_owner *own);

#endif
