/* The owner of something: a process, as Linux has it in /proc. */
#include "endpoints/sys/owner.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "endpoints/sys/hash.h"
#include "endpoints/sys/pid_stat.h"
#include "overlay/base/err.h"

#define HASH_MASK UINT64_C(0xffffffffffff)

/* What the namespaces of a host itself are called on every Linux: their inodes
 * are constants of the kernel. A kernel without those of times has one. */
#define FIRST_PIDS  "pid:[4026531836]"
#define FIRST_TIMES "time:[4026531834]"

enum { STAT_BYTES_MAX = 4096, WORD_BYTES_MAX = 256 };

/* Of one word behind others. */
static uint64_t hash(uint64_t others, const char *word)
{
    return ep_hash(word, strlen(word), others) & HASH_MASK;
}

/* What a small file has; "" and false when there is none. */
static bool read_small(const char *path, char *mem, size_t size_bytes)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    ssize_t len = fd < 0 ? -1 : read(fd, mem, size_bytes - 1);
    int err = errno;

    if (fd >= 0)
        close(fd);
    mem[len > 0 ? len : 0] = '\0';
    errno = err;
    return len > 0;
}

static bool read_link(const char *path, char *mem, size_t size_bytes)
{
    ssize_t len = readlink(path, mem, size_bytes - 1);

    mem[len > 0 ? len : 0] = '\0';
    return len > 0;
}

/* --- the process */

int ep_owner_start(uint32_t pid, uint64_t *ticks)
{
    char path[64], mem[STAT_BYTES_MAX];
    struct ep_pid_stat stat;

    snprintf(path, sizeof(path), "/proc/%" PRIu32 "/stat", pid);
    if (!read_small(path, mem, sizeof(mem)))
        return errno == ENOENT || errno == ESRCH ? OV_ENOENT : OV_ESYS;
    if (ep_pid_stat_parse(mem, &stat) != 0)
        return OV_ESYS;
    *ticks = stat.start;
    return ep_pid_stat_is_dead(&stat) ? OV_ENOENT : 0;
}

/* --- where it is */

/* A /proc of another namespace has our number for another process. */
static bool is_proc_ours(void)
{
    char link[WORD_BYTES_MAX], own[32];

    snprintf(own, sizeof(own), "%ld", (long)getpid());
    return read_link("/proc/self", link, sizeof(link)) &&
           strcmp(link, own) == 0;
}

static void find_host(struct ep_owner *out)
{
    char name[HOST_NAME_MAX + 1] = "", machine[WORD_BYTES_MAX];

    gethostname(name, sizeof(name) - 1);
    out->is_sure =
        read_small("/etc/machine-id", machine, sizeof(machine)) ||
        read_small("/var/lib/dbus/machine-id", machine, sizeof(machine));
    out->host = hash(hash(0, name), machine);
}

static void find_space(struct ep_owner *out)
{
    char pids[WORD_BYTES_MAX], times[WORD_BYTES_MAX];
    bool has_times = read_link("/proc/self/ns/time", times, sizeof(times));

    read_link("/proc/self/ns/pid", pids, sizeof(pids));
    out->is_first = strcmp(pids, FIRST_PIDS) == 0 &&
                    (!has_times || strcmp(times, FIRST_TIMES) == 0);
    out->space = hash(hash(0, pids), times);
}

/* --- public */

int ep_owner_self(struct ep_owner *out)
{
    char boot[WORD_BYTES_MAX];

    *out = (struct ep_owner){.pid = (uint32_t)getpid()};
    if (!is_proc_ours() || ep_owner_start(out->pid, &out->start) != 0 ||
        !read_small("/proc/sys/kernel/random/boot_id", boot, sizeof(boot)))
        return OV_ESYS;
    out->boot = hash(0, boot);
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

/* Digits to the end or a '-', which is taken, too; NULL: it is no number, or
 * one beyond `max`. */
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
