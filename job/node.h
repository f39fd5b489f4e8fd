/* A node of a session, as its launcher knows it: a step that decides whether
 * the node is still waited for.
 *
 * A node is *final* while nothing runs there that it was told to run; *lost*
 * once it is given up, and then final for ever; and *silent* if it was lost
 * before it was final, so that nobody reports how its processes have ended.
 * Words may come twice, and late.
 */
#ifndef JOB_NODE_H
#define JOB_NODE_H

#include <stdbool.h>
#include <stdint.h>

/* All zero: the node was told nothing and is not final. Small, because the
 * simulator has a million of these. */
struct job_node {
    uint32_t jobs : 29; /* how many jobs with processes there it was told */
    uint32_t is_final : 1, is_lost : 1, is_silent : 1;
};

/* What a step has changed. */
enum job_node_news { JOB_NODE_SAME, JOB_NODE_FINAL, JOB_NODE_BUSY };

/* Each is pure and O(1). */

/* The node is told of a further job. */
enum job_node_news job_node_told(struct job_node *node);
/* The node says that nothing runs there of the first `jobs` jobs that it was
 * told. When it was told more by now, that does not make it final. */
enum job_node_news job_node_over(struct job_node *node, uint32_t jobs);
/* The node is given up. */
enum job_node_news job_node_lost(struct job_node *node);

#endif
