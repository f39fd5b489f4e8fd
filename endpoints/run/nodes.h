/* The nodes of a run, as its launcher knows them: what they do, what their
 * machines are, and what room they have. By their numbers in the tree, 1 to N.
 */
#ifndef ENDPOINTS_RUN_NODES_H
#define ENDPOINTS_RUN_NODES_H

#include <stdbool.h>
#include <stdint.h>

#include "endpoints/run/again.h"
#include "job/job.h"
#include "job/node.h"
#include "job/word.h"

/* Processes of further jobs that a node may run at a time. For each that there
 * may be a daemon has some 32 bytes in each of its nodes. */
enum { RUN_SPARE_PROCS = 256 };

struct run_nodes;

/* Nothing is known of them, and none is final. Returns 0 or OV_ENOMEM. */
int ep_run_nodes_open(uint32_t count, struct run_nodes **out);
void ep_run_nodes_close(struct run_nodes *nodes); /* NULL is fine */

/* --- what they do: see job/node.h
 * */

/* They are told of a job: those that live and have processes of it are not
 * final. O(N). */
void ep_run_nodes_told(struct run_nodes *nodes, const struct job *job);
/* A node says that nothing runs there of so many jobs. */
void ep_run_nodes_over(struct run_nodes *nodes, uint32_t node, uint32_t jobs);
/* There is no job yet: all are final. O(N). */
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
 * the jobs after it: the caller sends the question to nodes that are *due*. A
 * node may be unable to tell: it is *blind* until it may be asked anew. */

/* Returns 0: these are known. OV_EAGAIN: *which of them are not, and these are
 * due or have been asked. OV_ESYS: the node *which is blind, and none of them
 * is due for this. O(count). */
int ep_run_nodes_ask(struct run_nodes *nodes, const uint32_t *list,
                     uint32_t count, uint32_t *which);
/* The first one that is due: it has been asked now. 0: none is. O(N) for all.
 */
uint32_t ep_run_nodes_due(struct run_nodes *nodes);
/* Those that have been asked and have not answered. */
uint32_t ep_run_nodes_asked(const struct run_nodes *nodes);
/* Why the one that is blind cannot tell. */
const char *ep_run_nodes_why(const struct run_nodes *nodes, uint32_t node);
/* Those that are blind may be asked anew. O(N). */
void ep_run_nodes_forgive(struct run_nodes *nodes);

/* What a node says, or that it never will (word: NULL). Returns whether it had
 * been asked; *is_news: its machine was not known before. */
bool ep_run_nodes_said(struct run_nodes *nodes, uint32_t node,
                       const struct job_word *word, bool *is_news);
/* Borrowed. */
const struct ep_machine *ep_run_nodes_machine(const struct run_nodes *nodes,
                                              uint32_t node);

/* --- what room they have, for processes of further jobs
 * */

/* A further job has its processes there; or no longer. O(N). */
void ep_run_nodes_fill(struct run_nodes *nodes, const struct job *job);
void ep_run_nodes_empty(struct run_nodes *nodes, const struct job *job);
/* Processes of them that run there; how many more there may be. */
uint32_t ep_run_nodes_spare(const struct run_nodes *nodes, uint32_t node);
uint32_t ep_run_nodes_room(const struct run_nodes *nodes, uint32_t node);

#endif
