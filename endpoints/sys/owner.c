/* The owner of a file or folder: a process, as Linux shows it in /proc. */
#include "endpoints/sys/owner.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "job/hash.h"
#include "endpoints/sys/process.h"
#include "overlay/base/err.h"

#define HASH_MASK UINT64_C(0xffffffffffff)

/* The names of a host's first namespaces on every Linux: their inodes are
 * constants of the kernel. A kernel without time namespaces has a single
 * one. */
#define FIRST_PIDS  "pid:[4026531836]"
#define FIRST_TIMES "time:[4026531834]"

enum { WORD_BYTES_MAX = 256 };

/* Adds a word to the hash of earlier words. */
static uint64_t hash(uint64_t others, const char *word)
{
    return job_hash(word, strlen(word), others) & HASH_MASK;
}

int ep_owner_start(uint32_t pid, uint64_t *ticks)
{
    struct ep_process it;
    int rc = ep_process_look((pid_t)pid, &it);

    if (rc != 0)
        return rc;
    *ticks = it.start;
    return it.is_zombie ? OV_ENOENT : 0;
}

/* --- the host */

static void find_host(struct ep_owner *out)
{
    char name[HOST_NAME_MAX + 1] = "", machine[WORD_BYTES_MAX];

    gethostname(name, sizeof(name) - 1);
    out->is_sure =
        ep_process_read("/etc/machine-id", machine, sizeof(machine)) > 0 ||
        ep_process_read("/var/lib/dbus/machine-id", machine, sizeof(machine)) >
            0;
    out->host = hash(hash(0, name), machine);
}

static void find_space(struct ep_owner *out)
{
    static const char *const kinds[] = {"pid", "time", NULL};
    uint64_t pids = job_hash(FIRST_PIDS, strlen(FIRST_PIDS), 0);
    uint64_t found = ep_process_spaces(getpid(), kinds, 0);

    out->is_first = found == job_hash(FIRST_TIMES, strlen(FIRST_TIMES), pids) ||
                    found == job_hash("", 0, pids);
    out->space = found & HASH_MASK;
}

/* --- the owner */

int ep_owner_self(struct ep_owner *out)
{
    *out = (struct ep_owner){.pid = (uint32_t)getpid()};
    out->boot = ep_process_boot() & HASH_MASK;
    if (!ep_process_can_look() || out->boot == 0 ||
        ep_owner_start(out->pid, &out->start) != 0)
        return OV_ESYS;
    find_host(out);
    find_space(out);
    return 0;
}

void ep_owner_print(const struct ep_owner *whose, char *text)
{
    snprintf(text, EP_OWNER_BYTES,
             "%012" PRIx64 "-%012" PRIx64 "-%012" PRIx64 "-%" PRIu32
             "-%" PRIx64,
             whose->host & HASH_MASK, whose->boot & HASH_MASK,
             whose->space & HASH_MASK, whose->pid, whose->start);
}

/* Reads digits up to the end or a '-', which is skipped; returns NULL when
 * there is no number, or it is larger than `max`. */
static const char *read_number(const char *at, int base, uint64_t max,
                               uint64_t *out)
{
    const char *digits = base == 16 ? "0123456789abcdef" : "0123456789";
    size_t len = at != NULL ? strspn(at, digits) : 0;

    if (len == 0 || len > 16 || (at[len] != '-' && at[len] != '\0'))
        return NULL;
    *out = strtoull(at, NULL, base);
    return *out > max ? NULL : at + len + (at[len] == '-');
}

const char *ep_owner_read(const char *text, struct ep_owner *out)
{
    uint64_t pid = 0;

    *out = (struct ep_owner){.pid = 0};
    text = read_number(text, 16, HASH_MASK, &out->host);
    text = read_number(text, 16, HASH_MASK, &out->boot);
    text = read_number(text, 16, HASH_MASK, &out->space);
    text = read_number(text, 10, INT_MAX, &pid);
    text = read_number(text, 16, UINT64_MAX, &out->start);
    out->pid = (uint32_t)pid;
    return pid > 0 ? text : NULL;
}

bool ep_owner_is_gone(const struct ep_owner *whose, const struct ep_owner *own)
{
    uint64_t start;
    int rc;

    if (whose->host != own->host || whose->space != own->space)
        return false;
    if (whose->boot != own->boot)
        return own->is_first && own->is_sure;
    rc = ep_owner_start(whose->pid, &start);
    return rc == OV_ENOENT || (rc == 0 && start != whose->start);
}
