/* What the files of the daemon node_job. */
#ifndef ENDPOINTS_DAEMON_IMPL_H
#define ENDPOINTS_DAEMON_IMPL_H

#include <event2/event.h>

#include "endpoints/boot/boot.h"
#include "endpoints/boot/caller.h"
#include "endpoints/boot/gate.h"
#include "endpoints/boot/starter.h"
#include "endpoints/daemon/binding.h"
#include "endpoints/daemon/processes.h"
#include "endpoints/daemon/tails.h"
#include "endpoints/hub/hub.h"
#include "job/job.h"
#include "endpoints/spawn/mark.h"
#include "endpoints/spawn/spawner.h"
#include "endpoints/sys/writer.h"
#include "topo/machine.h"

/* A node hosted here. */
struct daemon_node {
    struct ep_processes *local;
    struct text_buf job_text;  /* the pieces of a job that have come so far */
    uint64_t controls;         /* frames of stream 0 that are consumed */
    uint64_t orphan_ns;        /* when it lost its parent last */
    uint32_t jobs;             /* jobs that it was told so far */
    bool has_joined, has_left; /* the root has let it in; or it has ended */
};

enum { DAEMON_JOBS_MAX = 256 }; /* at the same time */

/* A job of which a node here runs a part, or is still to be told. Each node
 * hears of it by itself, all in the same order. */
struct daemon_job {
    struct job job; /* shared by the nodes */
    struct ep_binding binding;
    uint32_t nth; /* its number among all jobs that came here */
};

/* How a daemon ends. */
enum daemon_end {
    DAEMON_STAYS,
    DAEMON_LEAVES, /* the job is over: says goodbye */
    DAEMON_QUITS,  /* there is no job, or no longer one */
    DAEMON_FAILS   /* the job goes on, without this daemon */
};

/* The connection to the starter, and what is said on it. */
struct daemon_above {
    struct ep_caller *caller; /* slurm: calls the parent; or NULL */
    struct ep_boot_reader boot;
    struct event *input;  /* stdin readable */
    struct event *output; /* stdout writable; added while text waits */
    struct text_buf said; /* lines that are not written yet */
    bool is_calling;      /* the starter cannot be spoken to yet */
};

/* The daemons beneath this one. */
struct daemon_below {
    /* Their own spawner: what ends or signals processes must not reach them. */
    struct ep_spawner *shells;
    struct ep_starter *starter; /* NULL: we start none of them */
    struct ep_gate *gate;       /* slurm: the place where they call, or NULL */
    uint32_t count;             /* that we started, ready and alive */
    uint32_t awaited;           /* that have not called yet */
    bool is_lost;               /* their spawner has died */
};

/* What the spawner left when it died. */
struct daemon_remains {
    struct event *look; /* timer between two looks */
    int64_t until_ms;   /* end of the looks; 0: the spawner lives */
    bool is_quiet;      /* the last look found nothing */
};

struct daemon_jobs {
    struct daemon_job *here[DAEMON_JOBS_MAX]; /* owned; NULL: free */
    uint32_t told;                            /* jobs told so far */
    uint32_t idle_nodes;                      /* nodes on which nothing runs */
    struct event *reap;                       /* frees jobs that are over */
    struct job_usage used;                    /* as told to the launcher */
};

/* The mark of all that runs here. */
struct daemon_mark {
    struct ep_mark is;            /* with session 0: none */
    char text[EP_MARK_BYTES_MAX]; /* the setting; "": none */
};

struct daemon {
    struct event_base *base;
    struct ep_spawner *spawner; /* of the job's processes */
    struct daemon_above above;
    struct daemon_below below;
    struct ep_hub *hub;       /* NULL before `go` */
    struct ep_writer *writer; /* for all that may block */
    struct ep_tails *tails;   /* unfinished lines of all nodes here */
    struct ep_boot_config config;
    struct event *farewell; /* bounds the time for leaving */
    struct event *term;     /* SIGTERM */
    struct event *reach;    /* bounds the time for reaching the parents */
    const char *refusal;    /* why a parent last refused us, or NULL */
    struct daemon_node *nodes;
    uint32_t *numbers; /* of the nodes hosted here */
    uint32_t nodes_count;
    uint32_t left;
    struct daemon_jobs jobs;
    struct topo_machine machine; /* no cores: not looked at */
    struct ep_cache_pool pool;   /* output that is kept for tools */
    struct daemon_mark mark;
    struct daemon_remains remains;
    struct event *children; /* SIGCHLD */
    char path[4096];        /* path of this program */
    uint8_t end;            /* enum daemon_end */
    bool is_elsewhere_told;
    bool is_tails_told; /* it was told that lines cannot be kept in a file */
    bool has_goodbye;   /* a node was told that the job is over */
    bool has_begun;     /* something came down: all nodes have joined */
    bool is_bare;       /* ending, and no process is left */
};

/* The files, each above those that it calls:
 *
 *     stop  jobs  machine  orders  call  shells  start  daemon */

/* --- stop.c */
/* Opens the events, once there is a base. The daemon becomes a subreaper.
 * Returns 0 or OV_ENOMEM. */
int ep_daemon_stop_open(struct daemon *d);
/* Ends the spawners, and waits for their end. */
void ep_daemon_stop_close(struct daemon *d);
/* Say a line to the starter: an error, or a note about that node's daemon. */
void ep_daemon_error(struct daemon *d, const char *words);
void ep_daemon_note(struct daemon *d, uint32_t node, const char *words);
/* Says a line of any kind, cut to EP_BOOT_TEXT_MAX. */
void ep_daemon_words(struct daemon *d, enum ep_boot_up_kind kind, uint32_t node,
                     uint32_t time_ms, const char *words);
/* Sends what waits in d->above.said, as far as there is room. */
void ep_daemon_say(struct daemon *d);
/* Ends the processes and then the loop; the first reason counts. Daemons
 * beneath are told to go, unless this one alone fails: they find other parents
 * then. Before it has joined the tree, it fails for the whole launch. */
void ep_daemon_stop(struct daemon *d, enum daemon_end end);
/* Begins to end what the dead spawner has left, until no process is left. */
void ep_daemon_remains(struct daemon *d);
/* True when all nodes have been in the tree. */
bool ep_daemon_has_joined(const struct daemon *d);
/* Ends the loop when the daemon is ending and all others have gone. */
void ep_daemon_check_gone(struct daemon *d);

/* --- jobs.c: the jobs that came */
int ep_daemon_jobs_open(struct daemon *d);
void ep_daemon_jobs_close(struct daemon *d);
/* Takes a piece of a job's text, for one node; the last piece begins the job
 * there. */
void ep_daemon_job(struct daemon *d, uint32_t index,
                   const struct ov_control *control);
/* These two are callbacks of struct ep_processes_cfg. */
bool ep_daemon_on_idle(void *arg, struct job_usage *usage);
/* Called when a job may be over: looks soon. */
void ep_daemon_on_over(void *arg);

/* --- machine.c */
/* Looks at the machine, once. Waits for the system, some milliseconds. Returns
 * 0, or an error with a sentence in why (TOPO_WHY_MAX bytes). */
int ep_daemon_look(struct daemon *d, char *why);
/* Describes the machine, or says why it cannot, in a word of that node. */
void ep_daemon_tell_machine(struct daemon *d, uint32_t index);

/* --- orders.c: what stream 0 and the nodes say */
extern const struct ep_hub_events ep_daemon_hub_events;
extern const struct ep_spawner_events ep_daemon_spawner_events;

/* --- call.c: daemons that a resource manager started */
/* Calls the parent. When it answers, the loop reads descriptor 0, and words for
 * the starter go out. Returns 0, OV_ESYS or OV_ENOMEM. */
int ep_daemon_call(struct daemon *d);
/* Waits for the daemons of the children. Returns 0, or an error with `why`. */
int ep_daemon_await(struct daemon *d, struct topo_range kids, char *why);
/* Says that one of these is ready. */
void ep_daemon_awaited(struct daemon *d);
void ep_daemon_call_close(struct daemon *d);

/* --- shells.c: daemons beneath that another daemon has to start, by ssh */
/* Learns where a daemon beneath listens. */
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
