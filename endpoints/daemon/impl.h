/* What the files of the daemon share. */
#ifndef ENDPOINTS_DAEMON_IMPL_H
#define ENDPOINTS_DAEMON_IMPL_H

#include <event2/event.h>

#include "endpoints/boot/boot.h"
#include "endpoints/boot/caller.h"
#include "endpoints/boot/gate.h"
#include "endpoints/boot/starter.h"
#include "endpoints/daemon/binding.h"
#include "endpoints/daemon/looks.h"
#include "endpoints/daemon/processes.h"
#include "endpoints/daemon/sieve.h"
#include "endpoints/daemon/tails.h"
#include "job/job.h"
#include "endpoints/spawn/mark.h"
#include "endpoints/spawn/spawner.h"
#include "endpoints/sys/writer.h"
#include "topo/machine.h"

/* A node that this daemon hosts. */
struct daemon_node {
    struct ep_processes *local;
    struct text_buf job_text;  /* pieces of a job's text, as far as received */
    uint64_t controls;         /* frames of stream 0 that it has consumed */
    uint64_t orphan_ns;        /* when it last lost its parent */
    uint32_t jobs;             /* number of jobs that it has received */
    bool has_joined, has_left; /* let in by the root; ended */
};

enum { DAEMON_JOBS_MAX = 256 }; /* most jobs at the same time */

/* A job that runs on some nodes here, or that some have not received yet. Each
 * node receives each job itself, all in the same order. */
struct daemon_job {
    struct job job; /* shared by all nodes here */
    struct ep_binding binding;
    uint32_t nth; /* its number among all jobs that came to this daemon */
};

/* How a daemon ends. */
enum daemon_end {
    DAEMON_STAYS,
    DAEMON_LEAVES, /* the job is over: the nodes say goodbye */
    DAEMON_QUITS,  /* there is no job, or no longer one */
    DAEMON_FAILS   /* the job goes on without this daemon */
};

/* The connection to the starter, and the lines sent on it. */
struct daemon_above {
    struct ep_caller *caller; /* slurm: connects to the parent; else NULL */
    struct ep_boot_reader boot;
    struct event *input;  /* stdin is readable */
    struct event *output; /* stdout is writable; added while lines wait */
    struct text_buf said; /* lines that are not written yet */
    bool is_calling;      /* still connecting: no line can be sent yet */
};

/* The daemons beneath this one. */
struct daemon_below {
    /* A spawner for their shells alone: what ends or signals processes of the
     * job must not reach these. */
    struct ep_spawner *shells;
    struct ep_starter *starter; /* NULL: we start no daemon */
    struct ep_gate *gate;       /* slurm: where they connect; else NULL */
    uint32_t count;   /* daemons that we started and that are ready and alive */
    uint32_t awaited; /* daemons that have not connected yet */
    bool is_lost;     /* the spawner of their shells has died */
};

/* The search for processes that the spawner left when it died. */
struct daemon_remains {
    struct event *look; /* timer between two looks for them */
    int64_t until_ms;   /* when the looks end; 0: the spawner lives */
    bool is_quiet;      /* the last look found no process */
};

struct daemon_jobs {
    struct daemon_job *here[DAEMON_JOBS_MAX]; /* owned; NULL: unused */
    uint32_t told;               /* number of jobs received so far */
    uint32_t idle_nodes;         /* number of nodes on which nothing runs */
    struct event *reap;          /* frees jobs that are over, soon */
    struct job_usage used;       /* usage as last reported to the launcher */
    struct ep_sieve_pool sieves; /* what filters of all of them share */
};

/* The mark that all processes started here carry. */
struct daemon_mark {
    struct ep_mark is;            /* session 0: there is no mark */
    char text[EP_MARK_BYTES_MAX]; /* "NAME=value"; "" when there is no mark */
};

struct daemon {
    struct event_base *base;
    struct ep_spawner *spawner; /* starts the job's processes */
    struct daemon_above above;
    struct daemon_below below;
    struct ep_hub *hub;       /* NULL until the starter has said `go` */
    struct ep_writer *writer; /* for all calls that may block */
    struct ep_looks *looks;   /* owned */
    struct ep_tails *tails;   /* unfinished lines of all nodes here */
    struct ep_boot_config config;
    struct event *farewell; /* ends the wait for the nodes to leave */
    struct event *term;     /* on SIGTERM */
    struct event *reach;    /* ends the wait for the parents */
    const char *refusal;    /* why a parent last refused us; NULL: none did */
    struct daemon_node *nodes;
    uint32_t *numbers; /* numbers of the nodes hosted here */
    uint32_t nodes_count;
    uint32_t left; /* number of nodes that have left */
    struct daemon_jobs jobs;
    struct topo_machine machine; /* has no cores until looked up */
    struct ep_cache_pool pool;   /* output that is kept for tools */
    struct daemon_mark mark;
    struct daemon_remains remains;
    struct event *children; /* on SIGCHLD */
    char path[4096];        /* path of this program */
    uint8_t end;            /* enum daemon_end */
    bool is_elsewhere_told;
    bool is_tails_told; /* it was reported that no line can go to a file */
    bool has_goodbye;   /* a node has received the goodbye */
    bool has_begun;     /* a frame came down: all nodes have joined */
    bool is_bare;       /* it is ending, and none of its processes is left */
};

/* The files, each above those that it calls:
 *
 *     stop  jobs  machine  orders  call  shells  start  daemon */

/* --- stop.c */
/* Makes the events (d->base must exist), and the daemon a subreaper. Returns 0
 * or OV_ENOMEM. */
int ep_daemon_stop_open(struct daemon *d);
/* Ends the spawners, and waits until they have ended. */
void ep_daemon_stop_close(struct daemon *d);
/* Send a line to the starter: an error, or a note about that node's daemon. */
void ep_daemon_error(struct daemon *d, const char *words);
void ep_daemon_note(struct daemon *d, uint32_t node, const char *words);
/* Sends a line of any kind to the starter, cut to EP_BOOT_TEXT_MAX. */
void ep_daemon_words(struct daemon *d, enum ep_boot_up_kind kind, uint32_t node,
                     uint32_t time_ms, const char *words);
void ep_daemon_say(struct daemon *d); /* as far as stdout takes them */
/* Ends the processes and then the loop; only the first reason counts. Tells the
 * daemons beneath to end, but not on DAEMON_FAILS: they find other parents.
 * Before this daemon has joined the tree, a failure fails the whole launch. */
void ep_daemon_stop(struct daemon *d, enum daemon_end end);
/* Begins to kill what the dead spawner has left, until no process is left. */
void ep_daemon_remains(struct daemon *d);
/* True when each node here was in the tree at some time. */
bool ep_daemon_has_joined(const struct daemon *d);
/* Ends the loop when the daemon is ending and nothing it started is left. */
void ep_daemon_check_gone(struct daemon *d);

/* --- jobs.c: the jobs that came */
int ep_daemon_jobs_open(struct daemon *d);
void ep_daemon_jobs_close(struct daemon *d);
/* Takes a piece of a job's text; after the last one the node begins the job. */
void ep_daemon_job(struct daemon *d, uint32_t index,
                   const struct ov_control *control);
/* These two are callbacks of struct ep_processes_cfg. */
bool ep_daemon_on_idle(void *arg, struct job_usage *usage);
/* Called when a job may be over: has that checked soon. */
void ep_daemon_on_over(void *arg);

/* --- machine.c */
/* Looks up this machine's cores, the first time. Blocks for some milliseconds.
 * Returns 0, or an error with a sentence in why (TOPO_WHY_MAX bytes). */
int ep_daemon_look(struct daemon *d, char *why);
void ep_daemon_tell_machine(struct daemon *d, uint32_t index); /* or why not */

/* --- orders.c: what stream 0 orders and the nodes report */
extern const struct ep_hub_events ep_daemon_hub_events;
extern const struct ep_spawner_events ep_daemon_spawner_events;

/* --- call.c: daemons that a resource manager started */
/* Connects to the parent, by descriptors 0 and 1 then. OV_ESYS, OV_ENOMEM. */
int ep_daemon_call(struct daemon *d);
/* Waits for the daemons of these nodes. Returns 0, or an error with `why`. */
int ep_daemon_await(struct daemon *d, struct topo_range kids, char *why);
/* Notes that one of these daemons is ready. */
void ep_daemon_awaited(struct daemon *d);
void ep_daemon_call_close(struct daemon *d);

/* --- shells.c: daemons beneath that another daemon has to start, by ssh */
/* Keeps the address at which a daemon beneath listens. */
void ep_daemon_learn(struct daemon *d, const struct ep_boot_peer *peer);
/* Callbacks of struct ep_starter_events. */
void ep_daemon_on_unreached(void *arg, uint32_t index, uint32_t time_ms,
                            const char *text, const char *first);
void ep_daemon_on_beneath(void *arg, uint32_t index,
                          const struct ep_boot_peer *peer);
void ep_daemon_on_start(void *arg, uint32_t index, uint32_t node,
                        uint32_t time_ms, const char *text);

/* --- start.c: from `go` to the tree */
void ep_daemon_on_go(void *arg, struct ep_boot_config *config);
void ep_daemon_on_peer(void *arg, const struct ep_boot_peer *peer);

#endif
