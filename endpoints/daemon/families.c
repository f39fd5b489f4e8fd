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

/* Counts what a member has moved since its bytes were counted. What it had
 * moved before that is news only if it has run since the last look. */
static void add_bytes(struct ep_family *family, struct ep_procs_row *row)
{
    const uint64_t bytes = moved_bytes(row->it.pid);

    if (row->is_counted)
        family->sample.moved_bytes += bytes - row->moved_bytes;
    else if (row->is_anew)
        family->sample.moved_bytes += bytes;
    row->moved_bytes = bytes;
    row->is_counted = true;
}

/* --- all of them */

static int family_order(const void *left, const void *right)
{
    const pid_t a = (*(struct ep_family *const *)left)->pid;
    const pid_t b = (*(struct ep_family *const *)right)->pid;

    return (a > b) - (a < b);
}

/* The families, and the process of the machine that each row is. */
struct scene {
    struct ep_family **heads; /* owned, ordered by pid */
    size_t heads_count;
    struct ep_procs *procs;
    struct ep_family **of; /* owned: the family of each row, or NULL */
    uint64_t *ticks;       /* owned: processor time of each family before */
};

/* The families of those with which they begin. Both lists are in the order of
 * their pids. */
static void place_heads(const struct scene *scene)
{
    size_t row = 0;

    for (size_t i = 0; i < scene->heads_count; i++) {
        while (row < scene->procs->count &&
               scene->procs->at[row].it.pid < scene->heads[i]->pid)
            row++;
        if (row < scene->procs->count &&
            scene->procs->at[row].it.pid == scene->heads[i]->pid)
            scene->of[row] = scene->heads[i];
    }
}

/* Finds the family of a process; NULL when it has none. */
static struct ep_family *family_of(const struct scene *scene, size_t at)
{
    const struct ep_procs *procs = scene->procs;

    for (unsigned i = 0; i < GENERATIONS_MAX; i++) {
        const struct ep_procs_row *row;

        if (scene->of[at] != NULL || procs->at[at].it.parent <= 1)
            return scene->of[at];
        row = ep_procs_find(procs, procs->at[at].it.parent);
        if (row == NULL)
            return NULL;
        at = (size_t)(row - procs->at);
    }
    return NULL;
}

/* Adds what a member does. In a close look it is read anew, as it may have been
 * woken without having run. */
static void look_at(struct ep_family *family, struct ep_procs_row *row)
{
    struct ep_process now;

    if (family->is_close && !row->is_anew &&
        ep_process_look(row->it.pid, &now) == 0)
        row->it = now;
    add_member(family, &row->it);
}

/* Tells whether the bytes of a member are to be counted: where all members
 * together have used the processor there is progress without them. */
static bool is_to_count(const struct scene *scene,
                        const struct ep_family *families, size_t at)
{
    const struct ep_family *family = scene->of[at];
    const struct ep_procs_row *row = &scene->procs->at[at];

    return !row->it.is_zombie &&
           (family->is_close ||
            (row->is_anew &&
             (family->counts_all ||
              family->sample.cpu_ticks == scene->ticks[family - families])));
}

static void look(const struct scene *scene, const struct ep_family *families)
{
    struct ep_procs *procs = scene->procs;

    place_heads(scene);
    for (size_t i = 0; i < procs->count; i++) {
        scene->of[i] = family_of(scene, i);
        if (scene->of[i] != NULL)
            look_at(scene->of[i], &procs->at[i]);
    }
    for (size_t i = 0; i < procs->count; i++) {
        if (scene->of[i] == NULL)
            continue;
        if (is_to_count(scene, families, i))
            add_bytes(scene->of[i], &procs->at[i]);
        else if (procs->at[i].is_anew)
            procs->at[i].is_counted = false;
    }
}

void ep_families_look(struct ep_family *families, size_t count,
                      struct ep_procs *known)
{
    struct scene scene = {.procs = known};

    scene.heads = calloc(count + 1, sizeof(struct ep_family *));
    scene.ticks = calloc(count + 1, sizeof(*scene.ticks));
    for (size_t i = 0; i < count; i++) {
        const struct job_stall_sample last = families[i].sample;

        families[i].sample = (struct job_stall_sample){
            .output_bytes = last.output_bytes, .moved_bytes = last.moved_bytes};
        if (scene.ticks != NULL)
            scene.ticks[i] = last.cpu_ticks;
        if (scene.heads != NULL && families[i].pid > 0)
            scene.heads[scene.heads_count++] = &families[i];
    }
    if (scene.heads_count > 0 && scene.ticks != NULL &&
        ep_procs_read_again(known) == 0) {
        qsort(scene.heads, scene.heads_count, sizeof(struct ep_family *),
              family_order);
        scene.of = calloc(known->count + 1, sizeof(struct ep_family *));
        if (scene.of != NULL)
            look(&scene, families);
    }
    free(scene.of);
    free(scene.ticks);
    free(scene.heads);
}
