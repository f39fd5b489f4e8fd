/* The nodes of a run as its launcher knows them: what they do, what their
 * machines are, and what room they have. Nodes are named by their numbers in
 * the tree, 1 to N.
 */
#ifndef ENDPOINTS_RUN_NODES_H
#define ENDPOINTS_RUN_NODES_H

#include <stdbool.h>
#include <stdint.h>

#include "endpoints/run/relaunch.h"
#include "job/clock.h"
#include "job/job.h"
#include "job/node.h"
#include "job/word.h"

/* How many processes of further jobs a node may run at a time. A daemon keeps
 * some 32 bytes for each such process, in each node that it hosts. */
enum { RUN_SPARE_PROCS = 256 };

struct run_nodes;

/* Makes the list of nodes 1 to count. At first nothing is known of the nodes,
 * and none is final. Returns 0 or OV_ENOMEM. */
int ep_run_nodes_open(uint32_t count, struct run_nodes **out);
void ep_run_nodes_close(struct run_nodes *nodes); /* NULL is fine */

/* --- what they do: job/node.h says what a final, lost or silent node is */

/* Notes that the nodes receive the description of a job: those that live and
 * have processes of the job are no longer final. O(N). */
void ep_run_nodes_told(struct run_nodes *nodes, const struct job *job);
/* Notes that on this node no process is left of the first `jobs` jobs whose
 * descriptions it received. */
void ep_run_nodes_over(struct run_nodes *nodes, uint32_t node, uint32_t jobs);
/* Notes that there is no job yet, so that all nodes are final. O(N). */
void ep_run_nodes_idle(struct run_nodes *nodes);
/* Notes that the tree has given the node up: it is lost. */
void ep_run_nodes_lose(struct run_nodes *nodes, uint32_t node);

bool ep_run_nodes_are_final(const struct run_nodes *nodes);
bool ep_run_nodes_is_final(const struct run_nodes *nodes, uint32_t node);
bool ep_run_nodes_is_lost(const struct run_nodes *nodes, uint32_t node);
bool ep_run_nodes_is_silent(const struct run_nodes *nodes, uint32_t node);

/* --- their clocks */

/* Notes that a word of the node was made at sent_ns by the clock of its host,
 * and was received at now_ns. O(1). */
void ep_run_nodes_heard(struct run_nodes *nodes, uint32_t node,
                        uint64_t sent_ns, uint64_t now_ns);
/* Returns when the process ended that this EXIT of the node reports, by the
 * launcher's clock. O(1). */
struct job_span ep_run_nodes_span(const struct run_nodes *nodes, uint32_t node,
                                  const struct job_word *word, uint64_t now_ns);

/* --- what their machines are
 *
 * At first nothing is known. When a job is placed by the machines of nodes, the
 * launcher asks the nodes what their machines are, and keeps the answers for
 * later jobs. A node is *due* while the caller has yet to send it the question.
 * A node that cannot examine its machine is *blind*, until
 * ep_run_nodes_forgive(). */

/* Asks for the machines of the nodes in `list`. Returns 0 when all are known.
 * Returns OV_EAGAIN when the machines of *which nodes are not known: these
 * nodes were asked before, or are due now. Returns OV_ESYS when the node *which
 * is blind; no node becomes due then. O(count). */
int ep_run_nodes_ask(struct run_nodes *nodes, const uint32_t *list,
                     uint32_t count, uint32_t *which);
/* Returns the first node that is due, and counts it as asked; 0 when no node is
 * due. All calls together cost O(N). */
uint32_t ep_run_nodes_due(struct run_nodes *nodes);
/* Returns how many nodes have been asked and have not answered. */
uint32_t ep_run_nodes_asked(const struct run_nodes *nodes);
/* Returns the reason that a blind node has given. */
const char *ep_run_nodes_why(const struct run_nodes *nodes, uint32_t node);
/* Lets blind nodes be asked again. O(N). */
void ep_run_nodes_forgive(struct run_nodes *nodes);

/* Notes what a node says about its machine; word NULL: the node will never
 * answer. Returns whether the node had been asked. *is_news becomes true when
 * its machine was not known before. */
bool ep_run_nodes_said(struct run_nodes *nodes, uint32_t node,
                       const struct job_word *word, bool *is_news);
/* Returns what is known of the node's machine; borrowed. */
const struct ep_machine *ep_run_nodes_machine(const struct run_nodes *nodes,
                                              uint32_t node);

/* --- what room they have for processes of further jobs */

/* Count the processes of a further job on its nodes; and no longer count them,
 * when the job is over. O(N). */
void ep_run_nodes_fill(struct run_nodes *nodes, const struct job *job);
void ep_run_nodes_empty(struct run_nodes *nodes, const struct job *job);
/* Return how many processes of further jobs run on the node; and how many more
 * may run there. */
uint32_t ep_run_nodes_spare(const struct run_nodes *nodes, uint32_t node);
uint32_t ep_run_nodes_room(const struct run_nodes *nodes, uint32_t node);

#endif
