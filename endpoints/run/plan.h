/* The plan of a run: hosts, ranks, job and session, before anything starts.
 *
 * Functions that return int give 0, or an exit code after words on stderr.
 */
#ifndef ENDPOINTS_RUN_PLAN_H
#define ENDPOINTS_RUN_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "endpoints/boot/boot.h"
#include "endpoints/hub/sizes.h"
#include "endpoints/run/again.h"
#include "endpoints/run/layout.h"
#include "endpoints/run/run.h"
#include "endpoints/run/survey.h"
#include "endpoints/run/voice.h"
#include "endpoints/sys/room.h"
#include "job/job.h"
#include "topo/hosts.h"

/* What is known before anything is started; zeroed but for what is borrowed. */
struct run_plan {
    const struct ep_run_options *options; /* borrowed, as the next three */
    struct run_again *again; /* from the launch before, to the next */
    struct run_voice *voice;
    struct job *job;              /* the run's own */
    enum ep_launcher launcher;    /* what the options come to */
    struct topo_hosts hosts;      /* empty: virtual nodes on this machine */
    struct ep_survey survey;      /* machines that ranks are placed by */
    struct ep_tree_plan tree;     /* how the tree came to be */
    struct ep_boot_config config; /* of the session; hosts of all nodes */
    struct ep_session_sizes sizes;
    struct ep_room room;   /* of this machine */
    char host[256];        /* this machine's name */
    char nspace[32];       /* of the session's jobs */
    uint32_t nodes_wanted; /* 0: as many as it takes */
    uint32_t nodes_count;  /* N: nodes that host processes */
    uint32_t nodes_per_daemon;
    uint32_t daemons_parallel; /* that start at a time */
};

/* Fills it, and the job, by those that follow. input_fd: what stdin is read
 * from. */
int ep_run_plan(struct run_plan *plan, int input_fd);
/* Frees what it owns, but not the job. */
void ep_run_plan_close(struct run_plan *plan);

/* Of these what decides the tree: hosts, ranks and the tree itself. */
int ep_run_plan_nodes(struct run_plan *plan, uint32_t *most);

/* --- plan_hosts.c: the list of hosts. */
int ep_run_plan_hosts(struct run_plan *plan);
/* --- plan_ranks.c: the ranks on them; *most becomes the number of processes of
 * the node that has most. */
int ep_run_plan_ranks(struct run_plan *plan, uint32_t *most);

/* The name of a node's host; of a rank's. */
const char *ep_run_host(const struct run_plan *plan, uint32_t node);
const char *ep_run_host_of_rank(const struct run_plan *plan, uint32_t rank);

/* --- plan_job.c */
int ep_run_plan_job(struct run_plan *plan);
/* What a program of a job is; without a directory it runs in this one, where
 * that exists. Returns 0 or OV_ENOMEM. */
int ep_run_plan_app(const struct job_program *program, struct job_app *app);

/* --- plan_tree.c: the tree, and who is where in it. Ranks are listed for
 * places of the list; which nodes those are is in the job from here on. */
int ep_run_plan_tree(struct run_plan *plan);

/* --- plan_guess.c: order and groups of hosts from their names, where nothing
 * better is known. */
int ep_run_plan_guess(struct run_plan *plan);

/* Tells the session of the tree that tree.shape has, and the job which place
 * is which node. */
int ep_run_use_shape(struct run_plan *plan);

/* The place in the list of a node > 0: its number for the user. */
uint32_t ep_run_place(const struct run_plan *plan, uint32_t node);

/* --- plan_machine.c: what is known or guessed of the hosts' machines, before
 * ranks are placed, where anything depends on them (survey.h). */
int ep_run_plan_machines(struct run_plan *plan);
/* What processes are bound to, after the session's plan. Virtual nodes are all
 * here: this machine is looked at once for all. */
int ep_run_plan_bind(struct run_plan *plan);

/* --- plan_session.c: what daemons are told, memory. */
int ep_run_plan_session(struct run_plan *plan, uint32_t most);

/* --- plan_room.c: has this machine room for what is to run on it? What other
 * hosts have room for their daemons see. */
int ep_run_plan_room(struct run_plan *plan, int input_fd);
/* Does the launcher start, and hear of, all daemons that have a host each? Else
 * it is those of its children alone. */
bool ep_run_starts_all(const struct run_plan *plan);
struct topo_range ep_run_started_here(const struct run_plan *plan);
/* Daemons that it starts, with virtual nodes, too. */
uint32_t ep_run_daemons(const struct run_plan *plan);
/* Descriptors that the launcher needs. */
uint64_t ep_run_descriptors(const struct run_plan *plan);

#endif
