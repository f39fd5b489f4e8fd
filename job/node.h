/* What the launcher of a session knows about a node. Each step changes that,
 * and decides whether the launcher still waits for the node.
 *
 * A node is *final* while none of the processes that the launcher told it to
 * run still run; *lost* once the launcher has given it up, and then final for
 * ever; and *silent* if it was lost before it was final, so that nobody reports
 * how its processes have ended. Messages of a node may come twice, and late.
 */
#ifndef JOB_NODE_H
#define JOB_NODE_H

#include <stdbool.h>
#include <stdint.h>

/* All zero: the launcher has told the node of no job, and the node is not
 * final. Small, because the simulator has a million of these. */
struct job_node {
    uint32_t jobs : 29; /* how many jobs with processes on this node the
                           launcher has told it of */
    uint32_t is_final : 1, is_lost : 1, is_silent : 1;
};

/* What a step has changed. */
enum job_node_news { JOB_NODE_SAME, JOB_NODE_FINAL, JOB_NODE_BUSY };

/* The following functions are pure and O(1). */

/* Notes that the launcher tells the node of a further job. */
enum job_node_news job_node_told(struct job_node *node);
/* Notes that the node has reported the end of the first `jobs` jobs that the
 * launcher told it of. If the launcher has told it of more jobs by now, the
 * node does not become final. */
enum job_node_news job_node_over(struct job_node *node, uint32_t jobs);
/* Notes that the launcher has given the node up. */
enum job_node_news job_node_lost(struct job_node *node);

#endif
