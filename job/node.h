/* A node of a session, as its launcher knows it: a step that decides whether it
 * is still waited for.
 *
 * A node is *final* while nothing runs there that it was told to run; *lost*
 * once it is given up, and final then for ever; and *silent* if it was lost
 * before it was final, so that nobody says how its processes have ended. Words
 * come twice, and late.
 */
#ifndef JOB_NODE_H
#define JOB_NODE_H

#include <stdbool.h>
#include <stdint.h>

/* Zeroed: it was told nothing, and is not final. Small, as the simulator has a
 * million of them. */
struct job_node {
    uint32_t jobs : 29; /* told so far that have processes there */
    uint32_t is_final : 1, is_lost : 1, is_silent : 1;
};

/* What a step has changed. */
enum job_node_news { JOB_NODE_SAME, JOB_NODE_FINAL, JOB_NODE_BUSY };

/* Pure, O(1) each. */

/* It is told of a further job. */
enum job_node_news job_node_told(struct job_node *node);
/* It says that nothing runs there of the first `jobs` that it was told: where
 * there are more by now that says nothing. */
enum job_node_news job_node_over(struct job_node *node, uint32_t jobs);
/* It is given up. */
enum job_node_news job_node_lost(struct job_node *node);

#endif
