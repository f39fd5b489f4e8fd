/* The plan of a run: hosts, ranks, job and session, before anything starts.
 *
 * Functions that return int return 0, or an exit code after a message on
 * stderr.
 */
#ifndef ENDPOINTS_RUN_PLAN_H
#define ENDPOINTS_RUN_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "endpoints/boot/boot.h"
#include "endpoints/hub/sizes.h"
#include "endpoints/run/relaunch.h"
#include "endpoints/run/layout.h"
#include "endpoints/run/run.h"
#include "endpoints/run/survey.h"
#include "endpoints/run/voice.h"
#include "endpoints/sys/room.h"
#include "job/job.h"
#include "topo/hosts.h"

/* What is known before anything starts. All zero at first, but for what is
 * borrowed. */
struct run_plan {
    const struct ep_run_options *options; /* borrowed, like the next three */
    struct run_relaunch *relaunch; /* from the launch before, to the next */
    struct run_voice *voice;
    struct job *job;              /* the run's own */
    enum ep_launcher launcher;    /* chosen by the options */
    struct topo_hosts hosts;      /* empty: virtual nodes on this machine */
    struct ep_survey survey;      /* machines by which ranks are placed */
    struct ep_tree_plan tree;     /* how the tree came to be */
    struct ep_boot_config config; /* of the session; hosts of all nodes */
    struct ep_session_sizes sizes;
    struct ep_room room;   /* of this machine */
    char host[256];        /* this machine's name */
    char nspace[32];       /* of the session's jobs */
    uint32_t nodes_wanted; /* 0: as many as are needed */
    uint32_t nodes_count;  /* N: nodes that host processes */
    uint32_t nodes_per_daemon;
    uint32_t daemons_parallel; /* how many start at a time */
};

/* Fills the plan and the job, by the functions below. input_fd: where stdin is
 * read from. */
int ep_run_plan(struct run_plan *plan, int input_fd);
/* Frees what the plan owns, but not the job. */
void ep_run_plan_close(struct run_plan *plan);

/* Does the part that decides the tree: hosts, ranks and the tree itself. */
int ep_run_plan_nodes(struct run_plan *plan, uint32_t *most);

/* --- plan_hosts.c: the list of hosts. */
int ep_run_plan_hosts(struct run_plan *plan);
/* --- plan_ranks.c: the ranks on them; *most becomes the largest number of
 * processes of a node. */
int ep_run_plan_ranks(struct run_plan *plan, uint32_t *most);

/* The name of the host of a node, or of a rank. */
const char *ep_run_host(const struct run_plan *plan, uint32_t node);
const char *ep_run_host_of_rank(const struct run_plan *plan, uint32_t rank);

/* --- plan_job.c */
int ep_run_plan_job(struct run_plan *plan);
/* Says what a program of a job is. Without a directory it runs in the current
 * one, where that exists. Returns 0 or OV_ENOMEM. */
int ep_run_plan_app(const struct job_program *program, struct job_app *app);

/* --- plan_tree.c: the tree, and which node is where in it. Ranks are listed
 * for places of the list; from here on the job knows which nodes those are. */
int ep_run_plan_tree(struct run_plan *plan);

/* --- plan_guess.c: order and groups of hosts, guessed from their names when
 * nothing better is known. */
int ep_run_plan_guess(struct run_plan *plan);

/* Tells the session about the tree of tree.shape, and the job which place is
 * which node. */
int ep_run_use_shape(struct run_plan *plan);

/* The place in the list of a node > 0: its number for the user. */
uint32_t ep_run_place(const struct run_plan *plan, uint32_t node);

/* --- plan_machine.c: what is known or guessed about the hosts' machines,
 * before ranks are placed, if anything depends on them (survey.h). */
int ep_run_plan_machines(struct run_plan *plan);
/* Plans what processes are bound to, after the session's plan. Virtual nodes
 * are all on this machine, so it is looked at once for all. */
int ep_run_plan_bind(struct run_plan *plan);

/* --- plan_session.c: what daemons are told, and their memory. */
int ep_run_plan_session(struct run_plan *plan, uint32_t most);

/* --- plan_room.c: whether this machine has room for what is to run on it. On
 * other hosts the daemons check that. */
int ep_run_plan_room(struct run_plan *plan, int input_fd);
/* Tells whether the launcher starts, and hears of, all daemons with a host
 * each. Otherwise it starts only those of its children. */
bool ep_run_starts_all(const struct run_plan *plan);
struct topo_range ep_run_started_here(const struct run_plan *plan);
/* Returns how many daemons it starts, also with virtual nodes. */
uint32_t ep_run_daemons(const struct run_plan *plan);
/* Returns how many descriptors the launcher needs. */
uint64_t ep_run_descriptors(const struct run_plan *plan);

#endif
