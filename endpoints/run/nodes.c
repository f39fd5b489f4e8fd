/* The nodes of a run, as its launcher knows them. */
#include "endpoints/run/nodes.h"

#include <stdlib.h>
#include <string.h>

#include "overlay/base/err.h"

enum asking { ASK_NOT, ASK_DUE, ASK_SENT };

struct node {
    struct job_node life;
    struct job_clock clock;
    uint8_t asking; /* one of enum asking */
    uint32_t spare; /* how many processes of further jobs run there */
    struct ep_machine machine; /* the machine that the node has reported */
    char *blind; /* owned: why the node is blind; NULL: it is not */
};

struct run_nodes {
    uint32_t count;
    uint32_t finals;
    uint32_t asked;   /* how many nodes were asked and have not answered */
    uint32_t due;     /* no node before this one is due */
    struct node at[]; /* [1 + count]: the nodes, by their numbers */
};

int ep_run_nodes_open(uint32_t count, struct run_nodes **out)
{
    struct run_nodes *nodes =
        calloc(1, sizeof(*nodes) + (count + (size_t)1) * sizeof(struct node));

    *out = nodes;
    if (nodes == NULL)
        return OV_ENOMEM;
    nodes->count = count;
    nodes->due = count + 1;
    return 0;
}

void ep_run_nodes_close(struct run_nodes *nodes)
{
    if (nodes != NULL)
        ep_run_nodes_forgive(nodes);
    free(nodes);
}

/* --- which nodes are final */

static void count_final(struct run_nodes *nodes, enum job_node_news news)
{
    nodes->finals += news == JOB_NODE_FINAL;
    nodes->finals -= news == JOB_NODE_BUSY;
}

void ep_run_nodes_told(struct run_nodes *nodes, const struct job *job)
{
    for (uint32_t n = 1; n <= nodes->count; n++) {
        if (job_on_node(job, n) > 0)
            count_final(nodes, job_node_told(&nodes->at[n].life));
    }
}

void ep_run_nodes_over(struct run_nodes *nodes, uint32_t node, uint32_t jobs)
{
    count_final(nodes, job_node_over(&nodes->at[node].life, jobs));
}

void ep_run_nodes_idle(struct run_nodes *nodes)
{
    for (uint32_t n = 1; n <= nodes->count; n++)
        ep_run_nodes_over(nodes, n, 0);
}

void ep_run_nodes_lose(struct run_nodes *nodes, uint32_t node)
{
    count_final(nodes, job_node_lost(&nodes->at[node].life));
}

bool ep_run_nodes_are_final(const struct run_nodes *nodes)
{
    return nodes->finals == nodes->count;
}

bool ep_run_nodes_is_final(const struct run_nodes *nodes, uint32_t node)
{
    return nodes->at[node].life.is_final;
}

bool ep_run_nodes_is_lost(const struct run_nodes *nodes, uint32_t node)
{
    return nodes->at[node].life.is_lost;
}

bool ep_run_nodes_is_silent(const struct run_nodes *nodes, uint32_t node)
{
    return nodes->at[node].life.is_silent;
}

/* --- the clocks of nodes */

void ep_run_nodes_heard(struct run_nodes *nodes, uint32_t node,
                        uint64_t sent_ns, uint64_t now_ns)
{
    job_clock_hear(&nodes->at[node].clock, sent_ns, now_ns);
}

struct job_span ep_run_nodes_span(const struct run_nodes *nodes, uint32_t node,
                                  const struct job_word *word, uint64_t now_ns)
{
    const uint64_t latest_ns =
        job_clock_latest(&nodes->at[node].clock, word->exit_ns, now_ns);

    return (struct job_span){
        word->since_ns < latest_ns ? word->since_ns : latest_ns, latest_ns};
}

/* --- the machines of nodes */

static void make_due(struct run_nodes *nodes, uint32_t node)
{
    if (nodes->at[node].machine.is_known || nodes->at[node].asking != ASK_NOT)
        return;
    nodes->at[node].asking = ASK_DUE;
    if (node < nodes->due)
        nodes->due = node;
}

int ep_run_nodes_ask(struct run_nodes *nodes, const uint32_t *list,
                     uint32_t count, uint32_t *which)
{
    *which = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (nodes->at[list[i]].blind != NULL) {
            *which = list[i];
            return OV_ESYS;
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        *which += !nodes->at[list[i]].machine.is_known;
        make_due(nodes, list[i]);
    }
    return *which == 0 ? 0 : OV_EAGAIN;
}

uint32_t ep_run_nodes_due(struct run_nodes *nodes)
{
    while (nodes->due <= nodes->count &&
           nodes->at[nodes->due].asking != ASK_DUE)
        nodes->due++;
    if (nodes->due > nodes->count)
        return 0;
    nodes->at[nodes->due].asking = ASK_SENT;
    nodes->asked++;
    return nodes->due++;
}

uint32_t ep_run_nodes_asked(const struct run_nodes *nodes)
{
    return nodes->asked;
}

const char *ep_run_nodes_why(const struct run_nodes *nodes, uint32_t node)
{
    return nodes->at[node].blind;
}

void ep_run_nodes_forgive(struct run_nodes *nodes)
{
    for (uint32_t n = 1; n <= nodes->count; n++) {
        free(nodes->at[n].blind);
        nodes->at[n].blind = NULL;
    }
}

bool ep_run_nodes_said(struct run_nodes *nodes, uint32_t node,
                       const struct job_word *word, bool *is_news)
{
    struct node *of = &nodes->at[node];
    const bool was_asked = of->asking == ASK_SENT;

    *is_news = word != NULL && word->packages > 0 && !of->machine.is_known;
    if (*is_news)
        of->machine = (struct ep_machine){word->packages, word->cores, true};
    if (!was_asked) {
        if (word == NULL)
            /* a node that will never answer is not asked */
            of->asking = ASK_NOT;
        return false;
    }
    if (word != NULL && word->packages == 0)
        of->blind = strdup(word->text);
    of->asking = ASK_NOT;
    nodes->asked--;
    return true;
}

const struct ep_machine *ep_run_nodes_machine(const struct run_nodes *nodes,
                                              uint32_t node)
{
    return &nodes->at[node].machine;
}

/* --- room for processes of further jobs */

void ep_run_nodes_fill(struct run_nodes *nodes, const struct job *job)
{
    for (uint32_t n = 1; n <= nodes->count; n++)
        nodes->at[n].spare += job_on_node(job, n);
}

void ep_run_nodes_empty(struct run_nodes *nodes, const struct job *job)
{
    for (uint32_t n = 1; n <= nodes->count; n++)
        nodes->at[n].spare -= job_on_node(job, n);
}

uint32_t ep_run_nodes_spare(const struct run_nodes *nodes, uint32_t node)
{
    return nodes->at[node].spare;
}

uint32_t ep_run_nodes_room(const struct run_nodes *nodes, uint32_t node)
{
    return RUN_SPARE_PROCS - nodes->at[node].spare;
}
