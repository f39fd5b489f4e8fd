/* The steps in the life of a job. */
#include "job/life.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "overlay/base/err.h"
#include "topo/tree.h"

/* The state that a process in TOLD gets by an event; these states are final. */
static const enum job_process_state ends[JOB_LIFE_KINDS] = {
    [JOB_LIFE_PROCESS_ENDED] = JOB_PROCESS_ENDED,
    [JOB_LIFE_PROCESS_UNSTARTED] = JOB_PROCESS_UNSTARTED,
    [JOB_LIFE_PROCESS_LOST] = JOB_PROCESS_LOST,
};

/* What has happened to the job as a whole. */
enum turn { ALL_STARTED, ONE_UNSTARTED, ALL_OVER, TURNS };

static const enum job_life_state moves[JOB_LIFE_STATES][TURNS] = {
    [JOB_LIFE_STARTING] = {JOB_LIFE_RUNNING, JOB_LIFE_FAILED, JOB_LIFE_OVER},
    [JOB_LIFE_RUNNING] = {JOB_LIFE_RUNNING, JOB_LIFE_FAILED, JOB_LIFE_OVER},
    [JOB_LIFE_FAILED] = {JOB_LIFE_FAILED, JOB_LIFE_FAILED, JOB_LIFE_OVER},
    [JOB_LIFE_OVER] = {JOB_LIFE_OVER, JOB_LIFE_OVER, JOB_LIFE_OVER},
};

_Static_assert(JOB_PROCESS_STATES + JOB_CENSUS_GROUPS <= UINT8_MAX + 1,
               "the group of a process does not fit into a byte");

int job_life_open(struct job_life *life, const struct job *job)
{
    *life = (struct job_life){
        .job = job,
        .processes = calloc((size_t)job->size + 1, sizeof(*life->processes)),
        .nodes = calloc((size_t)job->nodes + 1, sizeof(*life->nodes)),
    };
    return life->processes == NULL || life->nodes == NULL ? OV_ENOMEM : 0;
}

void job_life_close(struct job_life *life)
{
    free(life->processes);
    free(life->nodes);
    *life = (struct job_life){0};
}

static bool turn(struct job_life *life, enum turn turn)
{
    enum job_life_state before = life->state;

    life->state = moves[before][turn];
    return life->state != before;
}

/* Handles that a node has started its processes or is lost: the start of the
 * job no longer waits for this node. */
static struct job_life_news node_is_there(struct job_life *life,
                                          const struct job_life_event *event)
{
    uint32_t place = job_place(life->job, event->node);
    bool is_lost = event->kind == JOB_LIFE_NODE_LOST;
    struct job_life_news news = {0};

    if (place == 0 || place > life->job->nodes)
        return news;
    if (is_lost)
        job_failure_lost(&life->failure);
    if (life->nodes[place])
        return news;
    life->nodes[place] = true;
    life->nodes_count++;
    life->nodes_unheard += is_lost;
    if (life->nodes_count == life->job->nodes)
        news.is_started = turn(life, ALL_STARTED);
    return news;
}

/* Only SIGKILL is a sign that the kill has ended the process: others may have
 * ended at the same time. */
static enum job_exit_cause cause_of(const struct job_life *life, int status)
{
    const int signo = WIFSIGNALED(status) ? WTERMSIG(status) : 0;

    if (signo != 0 && (life->signals & UINT64_C(1) << (signo & 63)) != 0)
        return JOB_EXIT_SIGNAL;
    return life->is_killed && signo == SIGKILL ? JOB_EXIT_KILLED
                                               : JOB_EXIT_ITSELF;
}

/* Notes that a process has ended and did not return 0. */
static void count_exit(struct job_life *life,
                       const struct job_life_event *event)
{
    const uint8_t group =
        job_census_add(&life->census, event->rank, event->status,
                       cause_of(life, event->status));

    life->processes[event->rank] = (uint8_t)(JOB_PROCESS_STATES + group);
    if (!life->is_killed || event->at.latest_ns < life->killed_ns)
        job_failure_add(&life->failure, event->rank, event->status, event->at);
}

static struct job_life_news process_is_over(struct job_life *life,
                                            const struct job_life_event *event)
{
    enum job_process_state next = ends[event->kind];
    struct job_life_news news = {0};

    if (event->rank >= life->job->size ||
        life->processes[event->rank] != JOB_PROCESS_TOLD)
        return news;
    life->processes[event->rank] = (uint8_t)next;
    life->processes_over++;
    news.is_process = true;
    if (next == JOB_PROCESS_LOST)
        job_failure_lost(&life->failure);
    if (next == JOB_PROCESS_ENDED && event->status != 0)
        count_exit(life, event);
    if (next == JOB_PROCESS_UNSTARTED)
        news.is_failed = turn(life, ONE_UNSTARTED);
    if (life->processes_over == life->job->size)
        news.is_over = turn(life, ALL_OVER);
    return news;
}

struct job_life_news job_life_step(struct job_life *life,
                                   const struct job_life_event *event)
{
    switch (event->kind) {
    case JOB_LIFE_NODE_STARTED:
    case JOB_LIFE_NODE_LOST:
        return node_is_there(life, event);
    case JOB_LIFE_PROCESS_ENDED:
    case JOB_LIFE_PROCESS_UNSTARTED:
    case JOB_LIFE_PROCESS_LOST:
        return process_is_over(life, event);
    case JOB_LIFE_KINDS:
        break;
    }
    return (struct job_life_news){0};
}

enum job_process_state job_life_process(const struct job_life *life,
                                        uint32_t rank)
{
    const uint8_t state = life->processes[rank];

    return state < JOB_PROCESS_STATES ? (enum job_process_state)state
                                      : JOB_PROCESS_ENDED;
}

void job_life_kill(struct job_life *life, uint64_t now_ns)
{
    if (life->is_killed)
        return;
    life->is_killed = true;
    life->killed_ns = now_ns;
}

void job_life_signalled(struct job_life *life, int signo)
{
    life->signals |= UINT64_C(1) << (signo & 63);
}

int job_life_code(const struct job_life *life)
{
    return job_failure_exit(&life->failure);
}
