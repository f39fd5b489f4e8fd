/* The nodes of a run as its launcher knows them: what they do, what their
 * machines are, and what room they have. Nodes are named by their numbers in
 * the tree, 1 to N.
 */
#ifndef ENDPOINTS_RUN_NODES_H
#define ENDPOINTS_RUN_NODES_H

#include <stdbool.h>
#include <stdint.h>

#include "endpoints/run/relaunch.h"
#include "job/job.h"
#include "job/node.h"
#include "job/word.h"

/* How many processes of further jobs a node may run at a time. A daemon keeps
 * some 32 bytes for each of them, in each of its nodes. */
enum { RUN_SPARE_PROCS = 256 };

struct run_nodes;

/* At first nothing is known of the nodes, and none is final. Returns 0 or
 * OV_ENOMEM. */
int ep_run_nodes_open(uint32_t count, struct run_nodes **out);
void ep_run_nodes_close(struct run_nodes *nodes); /* NULL is fine */

/* --- what they do: see job/node.h */

/* The nodes are told about a job: those that live and have processes of it are
 * no longer final. O(N). */
void ep_run_nodes_told(struct run_nodes *nodes, const struct job *job);
/* A node says that nothing runs there of the first `jobs` jobs that it was
 * told. */
void ep_run_nodes_over(struct run_nodes *nodes, uint32_t node, uint32_t jobs);
/* There is no job yet, so all nodes are final. O(N). */
void ep_run_nodes_idle(struct run_nodes *nodes);
/* The node is given up. */
void ep_run_nodes_lose(struct run_nodes *nodes, uint32_t node);

bool ep_run_nodes_are_final(const struct run_nodes *nodes);
bool ep_run_nodes_is_final(const struct run_nodes *nodes, uint32_t node);
bool ep_run_nodes_is_lost(const struct run_nodes *nodes, uint32_t node);
bool ep_run_nodes_is_silent(const struct run_nodes *nodes, uint32_t node);

/* --- what their machines are
 *
 * Nothing is known at first. What a job is placed by is asked for, and kept for
 * later jobs: the caller sends the question to nodes that are *due*. A node
 * that is unable to tell is *blind* until it may be asked anew. */

/* Returns 0: the machines of these nodes are known. OV_EAGAIN: the machines of
 * *which nodes are not, and these nodes are due or have been asked. OV_ESYS:
 * the node with the number *which is blind; then no node becomes due.
 * O(count). */
int ep_run_nodes_ask(struct run_nodes *nodes, const uint32_t *list,
                     uint32_t count, uint32_t *which);
/* Returns the first node that is due, and counts it as asked. 0: none is due.
 * O(N) for all of them together. */
uint32_t ep_run_nodes_due(struct run_nodes *nodes);
/* Returns how many nodes have been asked and have not answered. */
uint32_t ep_run_nodes_asked(const struct run_nodes *nodes);
/* Returns why a blind node cannot tell. */
const char *ep_run_nodes_why(const struct run_nodes *nodes, uint32_t node);
/* Blind nodes may be asked anew. O(N). */
void ep_run_nodes_forgive(struct run_nodes *nodes);

/* Notes what a node says about its machine; word NULL: it never will. Returns
 * whether it had been asked; *is_news: its machine was not known before. */
bool ep_run_nodes_said(struct run_nodes *nodes, uint32_t node,
                       const struct job_word *word, bool *is_news);
/* Borrowed. */
const struct ep_machine *ep_run_nodes_machine(const struct run_nodes *nodes,
                                              uint32_t node);

/* --- what room they have for processes of further jobs */

/* A further job has its processes on these nodes; or no longer has. O(N). */
void ep_run_nodes_fill(struct run_nodes *nodes, const struct job *job);
void ep_run_nodes_empty(struct run_nodes *nodes, const struct job *job);
/* Returns how many processes of further jobs run there; and how many more
 * may. */
uint32_t ep_run_nodes_spare(const struct run_nodes *nodes, uint32_t node);
uint32_t ep_run_nodes_room(const struct run_nodes *nodes, uint32_t node);

#endif
