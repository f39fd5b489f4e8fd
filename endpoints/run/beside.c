/* Starts `xylem stack' as a process of the launcher. */
#include "config.h"

#include "endpoints/run/beside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "endpoints/run/voice.h"
#include "endpoints/spawn/spawner.h"
#include "overlay/base/err.h"
#include "topo/ranges.h"

enum {
    /* The kernel takes 128 KiB for one argument. */
    RANKS_BYTES = 100000,
    RANGES = RANKS_BYTES / 22, /* the longest range with its comma */
    ARGS = 11,
};

struct run_beside {
    struct run_beside_cfg cfg;
    struct ep_spawner *spawner; /* owned; NULL until it is needed */
    bool *due; /* owned, [size]: ranks to look at; NULL: nothing was asked */
    uint32_t size;
    bool is_running, is_bad;
    char pid[16], ranks[RANKS_BYTES], script[8192];
};

static void start(struct run_beside *beside);

static void complain(struct run_beside *beside, const char *why)
{
    ep_voice_say(beside->cfg.voice,
                 "cannot run the command of --on-stall beside the processes: "
                 "%s",
                 why);
    beside->is_bad = true;
    beside->is_running = false;
}

/* --- events of the spawner */

static void on_started(void *arg, uint32_t proc, int64_t pid)
{
    (void)arg;
    (void)proc;
    (void)pid;
}

static void on_failed(void *arg, uint32_t proc, const char *step, int err)
{
    (void)proc;
    (void)step;
    complain(arg, strerror(err));
}

static void on_exit_(void *arg, uint32_t proc, int status, uint64_t at_ns)
{
    struct run_beside *beside = arg;

    (void)proc;
    (void)status; /* what is wrong stands on stderr */
    (void)at_ns;
    beside->is_running = false;
    start(beside);
}

static void on_ended(void *arg)
{
    (void)arg;
}

static void on_lost(void *arg)
{
    complain(arg, "the process that starts it has died");
}

static bool has_spawner(struct run_beside *beside)
{
    static const struct ep_spawner_events events = {
        .on_started = on_started,
        .on_failed = on_failed,
        .on_exit = on_exit_,
        .on_ended = on_ended,
        .on_lost = on_lost,
    };

    if (beside->spawner != NULL)
        return true;
    if (ep_spawner_exec("/proc/self/exe", &beside->spawner) != 0) {
        beside->spawner = NULL;
        return false;
    }
    return ep_spawner_attach(beside->spawner, beside->cfg.base, &events,
                             beside) == 0;
}

/* --- one command */

/* Writes the ranks that are due, as many as fit, which are due no longer.
 * Returns false when there are none. */
static bool take_ranks(struct run_beside *beside)
{
    struct topo_range *items = calloc(RANGES, sizeof(*items));
    struct topo_ranges set;

    if (items == NULL)
        return false;
    topo_ranges_init(&set, items, RANGES);
    for (uint32_t rank = 0; rank < beside->size; rank++) {
        if (beside->due[rank] &&
            topo_ranges_add(&set, (struct topo_range){rank, rank}) == 0)
            beside->due[rank] = false;
    }
    topo_ranges_format(&set, beside->ranks, sizeof(beside->ranks));
    free(items);
    return set.count > 0;
}

/* Writes the arguments of `xylem stack'. */
static void fill(struct run_beside *beside, const char **args)
{
    const char *command = beside->cfg.command;
    const bool has_place = strstr(command, "{}") != NULL;
    unsigned count = 0;

    snprintf(beside->pid, sizeof(beside->pid), "%d", (int)beside->cfg.pid);
    snprintf(beside->script, sizeof(beside->script), "%s%s", command,
             has_place ? "" : " \"$@\"");
    args[count++] = "stack";
    args[count++] = "--pid";
    args[count++] = beside->pid;
    if (beside->cfg.job != NULL)
        args[count++] = beside->cfg.job;
    args[count++] = "--ranks";
    args[count++] = beside->ranks;
    if (strcmp(command, "stack") == 0)
        return;
    args[count++] = "--";
    args[count++] = "sh";
    args[count++] = "-c";
    args[count++] = beside->script;
    if (!has_place)
        args[count++] = "sh";
}

static void start(struct run_beside *beside)
{
    const char *args[ARGS + 1] = {NULL};
    static const char *const program[] = {"/proc/self/exe", NULL};
    const struct ep_spawn_job job = {.program = {.argv = program},
                                     .env = (const char *const *)environ};
    const struct ep_spawn_proc proc = {
        .args = args, .stdio = {-1, STDERR_FILENO, STDERR_FILENO}};

    if (beside->is_running || beside->is_bad || !take_ranks(beside))
        return;
    fill(beside, args);
    beside->is_running = true;
    if (!has_spawner(beside) || ep_spawner_job(beside->spawner, 0, &job) != 0 ||
        ep_spawner_start(beside->spawner, &proc) != 0)
        complain(beside, "no process can be started");
}

/* --- */

int ep_run_beside_open(const struct run_beside_cfg *cfg,
                       struct run_beside **out)
{
    struct run_beside *beside = calloc(1, sizeof(*beside));

    *out = beside;
    if (beside == NULL)
        return OV_ENOMEM;
    beside->cfg = *cfg;
    return 0;
}

void ep_run_beside_close(struct run_beside *beside)
{
    if (beside == NULL)
        return;
    ep_spawner_close(beside->spawner);
    free(beside->due);
    free(beside);
}

void ep_run_beside(struct run_beside *beside, const bool *ranks, uint32_t size)
{
    if (beside->due == NULL)
        beside->due = calloc((size_t)size + 1, sizeof(*beside->due));
    if (beside->due == NULL)
        return;
    beside->size = size;
    for (uint32_t rank = 0; rank < size; rank++)
        beside->due[rank] = beside->due[rank] || ranks[rank];
    start(beside);
}
