/* The groups of processes of a job that runs. */
#include "endpoints/run/groups.h"

#include <stdlib.h>
#include <string.h>

#include "endpoints/run/exits.h"
#include "endpoints/run/plan.h"
#include "endpoints/run/roll.h"
#include "endpoints/run/voice.h"
#include "job/doing.h"
#include "job/life.h"
#include "text/fields.h"

enum {
    /* States of processes beyond those of job/life.h and the numbers of groups:
     * a process about which nothing was reported, and running processes, by
     * what they are doing. */
    UNHEARD = 255,
    DOES = UNHEARD - JOB_DOINGS,
};

_Static_assert(JOB_PROCESS_STATES + JOB_CENSUS_GROUPS <= DOES,
               "states are free");

/* What running processes are doing, in the order in which they are listed. */
static const struct {
    uint8_t doing;
    const char *words;
} activities[] = {
    {JOB_DOING_COMPUTES, "computing"},
    {JOB_DOING_READS, "reading stdin"},
    {JOB_DOING_WAITS, "waiting"},
    {JOB_DOING_STOPPED, "stopped"},
    {JOB_DOING_LEFT, "ended, but its output is still open"},
};

enum { ACTIVITIES = sizeof(activities) / sizeof(activities[0]) };

const char *ep_run_doing_words(uint8_t doing)
{
    for (unsigned i = 0; i < ACTIVITIES; i++) {
        if (activities[i].doing == doing)
            return activities[i].words;
    }
    return "running";
}

/* Marks the processes on this node about which nothing was reported. */
static void mark_node(const struct job_life *life, uint32_t node,
                      uint8_t *processes)
{
    struct job_part part = {0};

    while (job_next_on_node(life->job, node, &part)) {
        for (uint32_t i = 0; i < part.count; i++) {
            uint8_t *state = &processes[part.first_rank + i];

            if (*state == JOB_PROCESS_TOLD)
                *state = UNHEARD;
        }
    }
}

/* Marks the running processes by what they are doing, as far as that is
 * known. */
static void mark_doing(const struct job_life *life, const uint8_t *doing,
                       uint8_t *processes)
{
    for (uint32_t rank = 0; rank < life->job->size; rank++) {
        if (processes[rank] == JOB_PROCESS_TOLD &&
            doing[rank] != JOB_DOING_UNKNOWN)
            processes[rank] = (uint8_t)(DOES + doing[rank]);
    }
}

/* Copies the states, and separates running processes from those that may not
 * run yet. Returns NULL when memory is out. */
static uint8_t *copy_states(const struct job_life *life, const uint8_t *doing)
{
    const size_t size = life->job->size;
    uint8_t *processes = malloc(size + 1);

    if (processes == NULL)
        return NULL;
    memcpy(processes, life->processes, size);
    for (uint32_t place = 1; place <= life->job->nodes; place++) {
        if (!life->nodes[place])
            mark_node(life, job_node_at(life->job, place), processes);
    }
    if (doing != NULL)
        mark_doing(life, doing, processes);
    return processes;
}

static void add_group(const struct run_plan *plan, const struct job_life *life,
                      uint8_t state, const char *words, struct text_buf *text)
{
    char who[RUN_ROLL_MAX];

    if (ep_run_roll_words(plan, life, state, 0, who) > 0)
        text_buf_printf(text, "%s: %s\n", words, who);
}

void ep_run_groups(const struct run_plan *plan, const struct job_life *life,
                   const uint8_t *doing, struct text_buf *text)
{
    struct job_life now = *life;

    now.processes = copy_states(life, doing);
    if (now.processes == NULL) {
        text->bad = true;
        return;
    }
    for (unsigned i = 0; i < ACTIVITIES; i++)
        add_group(plan, &now, (uint8_t)(DOES + activities[i].doing),
                  activities[i].words, text);
    add_group(plan, &now, JOB_PROCESS_TOLD, "running", text);
    add_group(plan, &now, UNHEARD, "not started yet", text);
    add_group(plan, &now, JOB_PROCESS_ENDED, "exit 0", text);
    ep_run_exits_groups(plan, &now, UINT32_MAX, text);
    add_group(plan, &now, JOB_PROCESS_UNSTARTED, "could not be started", text);
    add_group(plan, &now, JOB_PROCESS_LOST, "lost with a node", text);
    free(now.processes);
}

/* --- processes that run */

/* Counts the kinds of activity among the processes whose activity is known;
 * *last is the last kind found. */
static unsigned count_activities(const struct job_life *life, uint8_t *last)
{
    bool is_there[JOB_DOINGS + 1] = {false};
    unsigned count = 0;

    for (uint32_t rank = 0; rank < life->job->size; rank++) {
        const uint8_t state = life->processes[rank];

        if (state > DOES && state < UNHEARD)
            is_there[state - DOES] = true;
        else if (state == JOB_PROCESS_TOLD)
            is_there[JOB_DOING_UNKNOWN] = true;
    }
    for (unsigned i = 0; i < JOB_DOINGS; i++) {
        if (!is_there[i])
            continue;
        count++;
        *last = (uint8_t)i;
    }
    return count;
}

static void tell_activities(const struct run_plan *plan,
                            const struct job_life *now, struct run_voice *voice)
{
    char who[RUN_ROLL_MAX];

    for (unsigned i = 0; i < ACTIVITIES; i++) {
        if (ep_run_roll_words(plan, now, (uint8_t)(DOES + activities[i].doing),
                              0, who) > 0)
            ep_voice_say(voice, "  %s: %s", activities[i].words, who);
    }
    if (ep_run_roll_words(plan, now, JOB_PROCESS_TOLD, 0, who) > 0)
        ep_voice_say(voice, "  no answer from their hosts: %s", who);
}

bool ep_run_groups_rest(const struct run_plan *plan,
                        const struct job_life *life, const uint8_t *doing,
                        struct run_voice *voice, const char *words)
{
    struct job_life now = *life;
    uint8_t last = JOB_DOING_UNKNOWN;
    char who[RUN_ROLL_MAX];
    unsigned count = 0;

    if (ep_run_roll_words(plan, life, JOB_PROCESS_TOLD, life->job->size, who) ==
        0)
        return false;
    now.processes = doing != NULL ? copy_states(life, doing) : NULL;
    if (now.processes != NULL)
        count = count_activities(&now, &last);
    if (count == 1)
        ep_voice_say(voice, "%s: %s, %s", words, who,
                     last != JOB_DOING_UNKNOWN ? ep_run_doing_words(last)
                                               : "no answer from their hosts");
    else
        ep_voice_say(voice, "%s: %s", words, who);
    if (count > 1)
        tell_activities(plan, &now, voice);
    free(now.processes);
    return true;
}
