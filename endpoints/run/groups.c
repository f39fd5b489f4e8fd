/* The groups of processes of a job that runs. */
#include "endpoints/run/groups.h"

#include <stdlib.h>
#include <string.h>

#include "endpoints/run/exits.h"
#include "endpoints/run/plan.h"
#include "endpoints/run/roll.h"
#include "job/life.h"
#include "text/fields.h"

enum {
    LINES_MAX = 9,
    /* A process that was not started yet. No state of job/life.h, and no number
     * of a group behind these, is as large. */
    UNHEARD = 255,
};

_Static_assert(JOB_PROCESS_STATES + JOB_CENSUS_GROUPS <= UNHEARD,
               "a state is free");

/* Marks the processes on this node that have not been heard of. */
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

/* Copies the states, and tells processes that run from those of which it is not
 * known yet. Returns NULL when memory is out. */
static uint8_t *copy_states(const struct job_life *life)
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
    return processes;
}

static void add_group(const struct run_plan *plan, const struct job_life *life,
                      uint8_t state, const char *words, struct text_buf *text)
{
    char who[RUN_ROLL_MAX];

    if (ep_run_roll_words(plan, life, state, 0, who) > 0)
        text_buf_printf(text, "%s: %s\n", words, who);
}

static void add_failed(const struct run_plan *plan, const struct job_life *life,
                       struct text_buf *text)
{
    struct job_census_view view;
    char line[RUN_EXITS_MAX];

    job_census_view(&life->census, LINES_MAX, UINT32_MAX, &view);
    for (uint32_t i = 0; i < view.shown_count; i++) {
        ep_run_exits_words(plan, life, view.shown[i], line);
        text_buf_printf(text, "%s\n", line);
    }
    if (view.left_groups > 0)
        text_buf_printf(text, "%u more processes ended in %u other ways\n",
                        view.left_processes, view.left_groups);
}

void ep_run_groups(const struct run_plan *plan, const struct job_life *life,
                   struct text_buf *text)
{
    struct job_life now = *life;

    now.processes = copy_states(life);
    if (now.processes == NULL) {
        text->bad = true;
        return;
    }
    add_group(plan, &now, JOB_PROCESS_TOLD, "running", text);
    add_group(plan, &now, UNHEARD, "not started yet", text);
    add_group(plan, &now, JOB_PROCESS_ENDED, "exit 0", text);
    add_failed(plan, &now, text);
    add_group(plan, &now, JOB_PROCESS_UNSTARTED, "could not be started", text);
    add_group(plan, &now, JOB_PROCESS_LOST, "lost with a node", text);
    free(now.processes);
}
