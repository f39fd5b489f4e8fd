/* Gathers processes that make no progress. */
#include "endpoints/run/stalls.h"

#include <stdio.h>
#include <stdlib.h>

#include "endpoints/run/groups.h"
#include "endpoints/run/plan.h"
#include "endpoints/run/roll.h"
#include "endpoints/run/watch.h"
#include "job/life.h"
#include "job/stall.h"
#include "job/word.h"
#include "overlay/base/err.h"

enum { MOST_MS = 10000, RUN_STALLS_WORDS_MAX = RUN_ROLL_MAX + 128 };

/* The state of a rank: an enum job_doing for one that is to be told, UNKNOWN
 * for one about which there is nothing to tell, and this. */
enum { STALL_TOLD = JOB_DOINGS };

struct run_stalls {
    struct run_stalls_cfg cfg;
    struct run_watch *watch; /* owned: tells those who were gathered */
    uint8_t *states; /* owned, by rank; NULL as long as nothing was heard */
};

static void set_all(struct run_stalls *stalls, uint8_t from, uint8_t to)
{
    for (uint32_t rank = 0; rank < stalls->cfg.life->job->size; rank++) {
        if (stalls->states[rank] == from)
            stalls->states[rank] = to;
    }
}

/* Leaves out those that have ended meanwhile. */
static void drop_ended(struct run_stalls *stalls)
{
    const struct job_life *life = stalls->cfg.life;

    for (uint32_t rank = 0; rank < life->job->size; rank++) {
        if (life->processes[rank] != JOB_PROCESS_TOLD)
            stalls->states[rank] = JOB_DOING_UNKNOWN;
    }
}

/* Tells those that do this. Returns false when there are none. */
static bool tell(struct run_stalls *stalls, uint8_t doing)
{
    const struct job_life shown = {.job = stalls->cfg.life->job,
                                   .processes = stalls->states};
    char who[RUN_ROLL_MAX], words[RUN_STALLS_WORDS_MAX];

    if (ep_run_roll_words(stalls->cfg.plan, &shown, doing, 0, who) == 0)
        return false;
    if (doing == JOB_DOING_GOES_ON)
        snprintf(words, sizeof(words), "going on again: %s", who);
    else
        snprintf(words, sizeof(words), "no progress for %g s: %s, %s",
                 shown.job->watch.ms / 1000.0, who, ep_run_doing_words(doing));
    stalls->cfg.events->say(stalls->cfg.arg, words);
    return true;
}

static void pass_on(struct run_stalls *stalls)
{
    const uint32_t size = stalls->cfg.life->job->size;
    bool *are_told = calloc((size_t)size + 1, sizeof(*are_told));

    if (are_told == NULL)
        return;
    for (uint32_t rank = 0; rank < size; rank++)
        are_told[rank] = stalls->states[rank] != JOB_DOING_UNKNOWN &&
                         stalls->states[rank] < JOB_DOING_GOES_ON;
    stalls->cfg.events->on_told(stalls->cfg.arg, are_told);
    free(are_told);
}

static void on_look(void *arg)
{
    struct run_stalls *stalls = arg;
    bool is_any = false, goes_on;

    drop_ended(stalls);
    if (stalls->cfg.life->is_killed)
        return;
    goes_on = tell(stalls, JOB_DOING_GOES_ON);
    if (goes_on)
        set_all(stalls, JOB_DOING_GOES_ON, JOB_DOING_UNKNOWN);
    for (uint8_t doing = JOB_DOING_COMPUTES; doing < JOB_DOING_GOES_ON; doing++)
        is_any = tell(stalls, doing) || is_any;
    if (is_any)
        pass_on(stalls);
    for (uint8_t doing = JOB_DOING_COMPUTES; doing < JOB_DOING_GOES_ON; doing++)
        set_all(stalls, doing, STALL_TOLD);
    if (is_any || goes_on)
        ep_watch_soon(stalls->watch); /* what comes soon is gathered longer */
}

int ep_run_stalls_open(const struct run_stalls_cfg *cfg,
                       struct run_stalls **out)
{
    struct run_stalls *stalls = calloc(1, sizeof(*stalls));

    *out = stalls;
    if (stalls == NULL)
        return OV_ENOMEM;
    stalls->cfg = *cfg;
    return ep_watch_open(cfg->base, JOB_STALL_GATHER_MS, MOST_MS, on_look,
                         stalls, &stalls->watch);
}

void ep_run_stalls_close(struct run_stalls *stalls)
{
    if (stalls == NULL)
        return;
    ep_watch_close(stalls->watch);
    free(stalls->states);
    free(stalls);
}

/* One that goes on before it was told is not told at all. */
static void hear_rank(uint8_t *state, uint8_t doing)
{
    if (doing != JOB_DOING_GOES_ON)
        *state = doing;
    else
        *state = *state == STALL_TOLD ? JOB_DOING_GOES_ON : JOB_DOING_UNKNOWN;
}

void ep_run_stalls_hear(struct run_stalls *stalls, const struct job_word *word)
{
    const struct job *job;

    if (stalls == NULL)
        return;
    job = stalls->cfg.life->job;
    if (stalls->states == NULL)
        stalls->states = calloc((size_t)job->size + 1, 1);
    if (stalls->states == NULL)
        return;
    for (uint32_t i = 0; i < word->ranges_count; i++) {
        for (uint32_t number = word->ranges[i].first;
             number <= word->ranges[i].last && number - job->base < job->size;
             number++)
            hear_rank(&stalls->states[number - job->base], word->doing);
    }
    ep_watch_soon(stalls->watch);
}
