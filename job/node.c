/* Decides whether the launcher still waits for a node. */
#include "job/node.h"

static enum job_node_news make_final(struct job_node *node)
{
    if (node->is_final)
        return JOB_NODE_SAME;
    node->is_final = true;
    return JOB_NODE_FINAL;
}

enum job_node_news job_node_told(struct job_node *node)
{
    node->jobs++;
    if (!node->is_final || node->is_lost)
        return JOB_NODE_SAME;
    node->is_final = false;
    return JOB_NODE_BUSY;
}

enum job_node_news job_node_over(struct job_node *node, uint32_t jobs)
{
    return jobs == node->jobs ? make_final(node) : JOB_NODE_SAME;
}

enum job_node_news job_node_lost(struct job_node *node)
{
    node->is_lost = true;
    node->is_silent |= !node->is_final;
    return make_final(node);
}
