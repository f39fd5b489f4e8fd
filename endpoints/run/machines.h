/* What the machines of nodes are: asked for, and heard.
 *
 * A further job that is placed by machines is put off until the nodes that it
 * may be on have been asked, and have answered or are lost (nodes.h). Of others
 * that are put off meanwhile none goes on before all that was asked is
 * answered.
 */
#ifndef ENDPOINTS_RUN_MACHINES_H
#define ENDPOINTS_RUN_MACHINES_H

#include <stdbool.h>
#include <stdint.h>

struct job_word;
struct run;

/* Asks the nodes that are due. O(nodes). */
void ep_run_machines_ask(struct run *r);
/* The word of a node. True: its machine was not known. */
bool ep_run_machines_word(struct run *r, uint32_t node,
                          const struct job_word *word);
/* It is lost: its answer is not waited for. */
void ep_run_machines_lost(struct run *r, uint32_t node);

#endif
