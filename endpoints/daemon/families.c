/* Finds the descendants of processes, and adds up what they do. */
#include "endpoints/daemon/families.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "endpoints/spawn/procs.h"
#include "endpoints/sys/pid_stat.h"
#include "endpoints/sys/process.h"

enum {
    TEXT_BYTES = 256,
    GENERATIONS_MAX = 64, /* a family that is deeper is not followed */
};

/* --- one member */

/* Counts the bytes that a process has moved by system calls. */
static uint64_t moved_bytes(pid_t pid)
{
    char path[64], text[TEXT_BYTES];
    uint64_t bytes;

    snprintf(path, sizeof(path), "/proc/%d/io", (int)pid);
    return ep_process_read(path, text, sizeof(text)) > 0 &&
                   ep_pid_io_parse(text, &bytes) == 0
               ? bytes
               : 0;
}

static bool stat_stdin(pid_t pid, struct stat *out)
{
    char path[64];

    snprintf(path, sizeof(path), "/proc/%d/fd/0", (int)pid);
    return stat(path, out) == 0;
}

/* True when a process waits in read() for the same stdin as the process that
 * its family begins with has. */
static bool reads_stdin(pid_t pid, pid_t first)
{
    char path[64], text[TEXT_BYTES];
    struct stat own, of_first;
    long call;
    uint64_t fd;

    snprintf(path, sizeof(path), "/proc/%d/syscall", (int)pid);
    if (ep_process_read(path, text, sizeof(text)) <= 0 ||
        ep_pid_syscall_parse(text, &call, &fd) != 0 || fd != 0 ||
        (call != SYS_read && call != SYS_readv))
        return false;
    return stat_stdin(pid, &own) && stat_stdin(first, &of_first) &&
           own.st_dev == of_first.st_dev && own.st_ino == of_first.st_ino;
}

static bool is_stopped(char state)
{
    return state == 'T' || state == 't';
}

/* Returns what the family does when its members do these two things: one that
 * computes is enough. */
static enum job_doing more_of(enum job_doing one, enum job_doing other)
{
    static const unsigned char weights[JOB_DOINGS] = {
        [JOB_DOING_WAITS] = 1,
        [JOB_DOING_READS] = 2,
        [JOB_DOING_STOPPED] = 3,
        [JOB_DOING_COMPUTES] = 4,
    };

    return weights[one] >= weights[other] ? one : other;
}

static enum job_doing doing_of(const struct ep_process *it,
                               const struct ep_family *family)
{
    if (it->state == 'R')
        return JOB_DOING_COMPUTES;
    if (is_stopped(it->state))
        return it->pid == family->pid ? JOB_DOING_STOPPED : JOB_DOING_WAITS;
    return family->is_close && it->state == 'S' &&
                   reads_stdin(it->pid, family->pid)
               ? JOB_DOING_READS
               : JOB_DOING_WAITS;
}

static void add_member(struct ep_family *family, const struct ep_process *it)
{
    struct job_stall_sample *sample = &family->sample;

    /* any mixture will do that differs when a member comes or goes */
    sample->members +=
        (uint64_t)it->pid * UINT64_C(0x9e3779b97f4a7c15) ^ it->start;
    if (it->is_zombie)
        return;
    sample->cpu_ticks += it->cpu_ticks;
    sample->doing = more_of(sample->doing, doing_of(it, family));
}

/* --- all of them */

static int family_order(const void *left, const void *right)
{
    const pid_t a = (*(struct ep_family *const *)left)->pid;
    const pid_t b = (*(struct ep_family *const *)right)->pid;

    return (a > b) - (a < b);
}

struct index {
    struct ep_family **at; /* owned, ordered by pid */
    size_t count;
};

static struct ep_family *find(const struct index *index, pid_t pid)
{
    const struct ep_family key = {.pid = pid}, *const at = &key;
    struct ep_family *const *found = bsearch(
        &at, index->at, index->count, sizeof(struct ep_family *), family_order);

    return found != NULL ? *found : NULL;
}

/* Finds the family of a process; NULL when it has none. */
static struct ep_family *family_of(const struct index *index,
                                   const struct ep_procs *procs, pid_t pid)
{
    for (unsigned i = 0; pid > 1 && i < GENERATIONS_MAX; i++) {
        struct ep_family *family = find(index, pid);
        const struct ep_procs_row *row;

        if (family != NULL)
            return family;
        row = ep_procs_find(procs, pid);
        pid = row != NULL ? row->it.parent : 0;
    }
    return NULL;
}

/* A process of the machine, and the family that it belongs to. */
struct member {
    struct ep_family *family;
    pid_t pid;
};

/* Adds what all members do, and keeps a list of them. Returns their number. */
static size_t add_members(const struct index *index,
                          const struct ep_procs *procs, struct member *members)
{
    size_t count = 0;

    for (size_t i = 0; i < procs->count; i++) {
        const struct ep_process *it = &procs->at[i].it;
        struct ep_family *family = family_of(index, procs, it->pid);

        if (family == NULL)
            continue;
        add_member(family, it);
        if (!it->is_zombie)
            members[count++] = (struct member){family, it->pid};
    }
    return count;
}

/* Counts the bytes of families in which nobody has used the processor, and of
 * those that are looked at closely. `before` are their samples of before. */
static void add_bytes(const struct ep_family *families,
                      const struct job_stall_sample *before,
                      const struct member *members, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct ep_family *family = members[i].family;
        const struct job_stall_sample *last = &before[family - families];

        if (family->is_close || family->sample.cpu_ticks == last->cpu_ticks)
            family->sample.moved_bytes += moved_bytes(members[i].pid);
        else
            family->sample.moved_bytes = last->moved_bytes;
    }
}

static void look(struct ep_family *families, const struct index *index,
                 const struct job_stall_sample *before)
{
    struct ep_procs procs;
    struct member *members;

    if (ep_procs_read(&procs) != 0)
        return;
    members = calloc(procs.count + 1, sizeof(*members));
    if (members != NULL)
        add_bytes(families, before, members,
                  add_members(index, &procs, members));
    free(members);
    ep_procs_fini(&procs);
}

void ep_families_look(struct ep_family *families, size_t count)
{
    struct index index = {.at = calloc(count + 1, sizeof(struct ep_family *))};
    struct job_stall_sample *before = calloc(count + 1, sizeof(*before));

    for (size_t i = 0; i < count; i++) {
        const struct job_stall_sample last = families[i].sample;

        families[i].sample =
            (struct job_stall_sample){.output_bytes = last.output_bytes};
        if (before != NULL)
            before[i] = last;
        if (index.at != NULL && families[i].pid > 0)
            index.at[index.count++] = &families[i];
    }
    if (index.count > 0 && before != NULL) {
        qsort(index.at, index.count, sizeof(struct ep_family *), family_order);
        look(families, &index, before);
    }
    free(index.at);
    free(before);
}
