/* The plan of a run: hosts, ranks, job and session, before anything starts.
 *
 * Functions that return int give 0, or an exit code after words on stderr.
 */
#ifndef ENDPOINTS_RUN_PLAN_H
#define ENDPOINTS_RUN_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "job/program.h"
#include "topo/tree.h"

struct run;

/* Fills hosts, job, config and sizes, by those that follow. */
int ep_run_plan(struct run *r);

/* Of these what decides the tree: hosts, ranks and the tree itself. */
int ep_run_plan_nodes(struct run *r, uint32_t *most);

/* --- plan_hosts.c: the list of hosts. */
int ep_run_plan_hosts(struct run *r);
/* --- plan_ranks.c: the ranks on them; *most becomes the number of processes of
 * the node that has most. */
int ep_run_plan_ranks(struct run *r, uint32_t *most);

/* The name of a node's host; of a rank's. */
const char *ep_run_host(const struct run *r, uint32_t node);
const char *ep_run_host_of_rank(const struct run *r, uint32_t rank);

/* --- plan_job.c */
int ep_run_plan_job(struct run *r);
/* What a program of a job is; without a directory it runs in this one, where
 * that exists. Returns 0 or OV_ENOMEM. */
int ep_run_plan_app(const struct job_program *program, struct job_app *app);

/* --- plan_tree.c: the tree, and who is where in it. Ranks are listed for
 * places of the list; which nodes those are is in the job from here on. */
int ep_run_plan_tree(struct run *r);

/* --- plan_guess.c: order and groups of hosts from their names, where nothing
 * better is known. */
int ep_run_plan_guess(struct run *r);

/* Tells the session of the tree that r->tree.shape has, and the job which place
 * is which node. */
int ep_run_use_shape(struct run *r);

/* The place in the list of a node > 0: its number for the user. */
uint32_t ep_run_place(const struct run *r, uint32_t node);

/* --- plan_machine.c: what is known or guessed of the hosts' machines, before
 * ranks are placed, where anything depends on them (survey.h). */
int ep_run_plan_machines(struct run *r);
/* What processes are bound to, after the session's plan. Virtual nodes are all
 * here: this machine is looked at once for all. */
int ep_run_plan_bind(struct run *r);

/* --- plan_session.c: what daemons are told, memory. */
int ep_run_plan_session(struct run *r, uint32_t most);

/* --- plan_room.c: has this machine room for what is to run on it? What other
 * hosts have room for their daemons see. */
int ep_run_plan_room(struct run *r);
/* Does the launcher start, and hear of, all daemons that have a host each? Else
 * it is those of its children alone. */
bool ep_run_starts_all(const struct run *r);
struct topo_range ep_run_started_here(const struct run *r);
/* Daemons that it starts, with virtual nodes, too. */
uint32_t ep_run_daemons(const struct run *r);
/* Descriptors that the launcher needs. */
uint64_t ep_run_descriptors(const struct run *r);

#endif
