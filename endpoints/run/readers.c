/* Gathers processes that do not read their stdin, to report them together. */
#include "endpoints/run/readers.h"

#include <stdlib.h>

#include "endpoints/run/plan.h"
#include "endpoints/run/roll.h"
#include "endpoints/run/watch.h"
#include "job/life.h"
#include "overlay/base/err.h"

enum { GATHER_MS = 10000 };

enum reader_state {
    READER_NEW,
    READER_SLOW, /* the process is to be reported */
    READER_TOLD,
};

struct run_readers {
    const struct run_plan *plan;
    const struct job_life *life;
    struct run_watch *watch; /* owned: fires when the gathered processes are to
                              * be reported */
    uint8_t *states; /* owned: an enum reader_state for each rank of the job;
                      * NULL as long as no process was slow */
    bool is_held;    /* the job has waited for one of these processes */
};

/* Reports the gathered processes, except those that have ended meanwhile. */
static void on_look(void *arg)
{
    struct run_readers *readers = arg;
    const struct job_life shown = {.job = readers->life->job,
                                   .processes = readers->states};
    char who[RUN_ROLL_MAX];

    for (uint32_t rank = 0; rank < shown.job->size; rank++) {
        if (readers->life->processes[rank] != JOB_PROCESS_TOLD)
            readers->states[rank] = READER_TOLD;
    }
    if (readers->life->is_killed ||
        ep_run_roll_words(readers->plan, &shown, READER_SLOW, 0, who) == 0)
        return;
    ep_voice_say(readers->plan->voice,
                 "further processes do not read their stdin: %s", who);
    for (uint32_t rank = 0; rank < shown.job->size; rank++) {
        if (readers->states[rank] == READER_SLOW)
            readers->states[rank] = READER_TOLD;
    }
}

int ep_run_readers_open(const struct run_plan *plan,
                        const struct job_life *life, struct event_base *base,
                        struct run_readers **out)
{
    struct run_readers *readers = calloc(1, sizeof(*readers));

    *out = readers;
    if (readers == NULL)
        return OV_ENOMEM;
    readers->plan = plan;
    readers->life = life;
    return ep_watch_open(base, GATHER_MS, GATHER_MS, on_look, readers,
                         &readers->watch);
}

void ep_run_readers_close(struct run_readers *readers)
{
    if (readers == NULL)
        return;
    ep_watch_close(readers->watch);
    free(readers->states);
    free(readers);
}

/* Returns the state of a rank, or NULL when memory is out. */
static uint8_t *state_of(struct run_readers *readers, uint32_t rank)
{
    if (readers->states == NULL)
        readers->states = calloc(readers->life->job->size, 1);
    return readers->states != NULL ? &readers->states[rank] : NULL;
}

void ep_run_readers_held(struct run_readers *readers, uint32_t rank)
{
    uint8_t *state = state_of(readers, rank);

    if (state == NULL || *state != READER_TOLD)
        ep_voice_say(readers->plan->voice,
                     "rank %u on %s does not read its stdin: the job waits for "
                     "it (see --stdin-slow)",
                     rank, ep_run_host_of_rank(readers->plan, rank));
    if (state == NULL)
        return;
    *state = READER_TOLD;
    readers->is_held = true;
    ep_watch_soon(readers->watch);
}

void ep_run_readers_unread(struct run_readers *readers, uint32_t rank)
{
    uint8_t *state = state_of(readers, rank);

    if (state == NULL || *state != READER_NEW)
        return;
    *state = READER_SLOW;
    if (readers->is_held)
        ep_watch_soon(readers->watch);
}
