/* The plan of a run: hosts, ranks, job and session, made before anything
 * starts.
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

/* What is known before anything starts. At first all members are zero, except
 * for the borrowed ones. */
struct run_plan {
    const struct ep_run_options *options; /* borrowed, like the next three */
    /* what launches of this run tell each other */
    struct run_relaunch *relaunch;
    struct run_voice *voice;
    struct job *job;           /* the run's own job */
    enum ep_launcher launcher; /* how daemons are started */
    struct topo_hosts hosts;  /* the user's hosts; empty when nodes are virtual,
                               * on this machine */
    struct ep_survey survey;  /* the machines of hosts, if ranks need them */
    struct ep_tree_plan tree; /* the tree, and how it was chosen */
    /* what the daemons are told, such as the hosts of all nodes */
    struct ep_boot_config config;
    struct ep_session_sizes sizes;
    struct ep_room room; /* the memory, processors and limits of this machine */
    char host[256];      /* this machine's name */
    /* the session's name, with which the names of its jobs begin */
    char nspace[32];
    /* the number of nodes that the user wants; 0: as many as are needed */
    uint32_t nodes_wanted;
    uint32_t nodes_count; /* N, the number of nodes that run processes */
    uint32_t nodes_per_daemon;
    uint32_t daemons_parallel; /* how many daemons start at a time */
};

/* Fills the plan and the job, by the functions below. input_fd: the descriptor
 * from which stdin is read. */
int ep_run_plan(struct run_plan *plan, int input_fd);
/* Frees what the plan owns, but not the job. */
void ep_run_plan_close(struct run_plan *plan);

/* Plans what decides the tree: hosts, ranks and the tree itself. *most becomes
 * the largest number of processes on a node. */
int ep_run_plan_nodes(struct run_plan *plan, uint32_t *most);

/* --- plan_hosts.c: the list of hosts. */
int ep_run_plan_hosts(struct run_plan *plan);
/* --- plan_ranks.c: the ranks on these hosts; *most becomes the largest number
 * of processes on a node. */
int ep_run_plan_ranks(struct run_plan *plan, uint32_t *most);

/* Return the name of the host of a node, or of a rank. */
const char *ep_run_host(const struct run_plan *plan, uint32_t node);
const char *ep_run_host_of_rank(const struct run_plan *plan, uint32_t rank);

/* --- plan_job.c */
int ep_run_plan_job(struct run_plan *plan);
/* Fills in what a program of a job runs. Without a directory, the program runs
 * in the current one, on hosts where that exists. Returns 0 or OV_ENOMEM. */
int ep_run_plan_app(const struct job_program *program, struct job_app *app);

/* --- plan_tree.c: the tree, and which host is at which node. Ranks were
 * planned by places in the list of hosts; this tells the job which node each
 * place is. */
int ep_run_plan_tree(struct run_plan *plan);

/* --- plan_guess.c: the order and the groups of hosts, guessed from their names
 * when nothing better is known. */
int ep_run_plan_guess(struct run_plan *plan);

/* Gives tree.shape to the session, and to the job which place is which node. */
int ep_run_use_shape(struct run_plan *plan);

/* Returns the place in the list of hosts of a node greater than 0. Messages for
 * the user name nodes by this number. */
uint32_t ep_run_place(const struct run_plan *plan, uint32_t node);
/* Copies a note of a daemon; `node 5', which is node 5 of the tree, becomes the
 * user's number for that node, or `the launcher'. A text longer than size_bytes
 * is cut. */
void ep_run_name_nodes(const struct run_plan *plan, const char *text, char *out,
                       size_t size_bytes);

/* --- plan_machine.c: what is known or guessed about the hosts' machines, if
 * the ranks depend on it (survey.h). Runs before ranks are placed. */
int ep_run_plan_machines(struct run_plan *plan);
/* Plans the CPUs to which processes are bound; the session must be planned
 * before. Virtual nodes are all on this machine, so the launcher lists its CPUs
 * once for all of them. */
int ep_run_plan_bind(struct run_plan *plan);

/* --- plan_session.c: the configuration of the daemons, and the sizes of their
 * memory. */
int ep_run_plan_session(struct run_plan *plan, uint32_t most);

/* --- plan_room.c: checks whether this machine has room for what is to run on
 * it. Daemons check this on other hosts. */
int ep_run_plan_room(struct run_plan *plan, int input_fd);
/* Tells whether the launcher itself starts every daemon, and is told when one
 * ends; each daemon then has a host of its own. Otherwise the launcher starts
 * only the daemons that are its children in the tree. */
bool ep_run_starts_all(const struct run_plan *plan);
struct topo_range ep_run_started_here(const struct run_plan *plan);
/* Returns how many daemons the launcher starts, also for virtual nodes. */
uint32_t ep_run_daemons(const struct run_plan *plan);
/* Returns how many descriptors the launcher needs. */
uint64_t ep_run_descriptors(const struct run_plan *plan);

#endif
