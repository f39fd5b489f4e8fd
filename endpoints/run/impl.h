/* What the files of `xylem run` share: the state of one run.
 *
 * The order of a run: plan (hosts, ranks, sizes), daemons (started, ready,
 * joined), job (told to the nodes, stdin pumped), output (records to the
 * console and files, words of the nodes), end (goodbye, or everything killed).
 */
#ifndef ENDPOINTS_RUN_IMPL_H
#define ENDPOINTS_RUN_IMPL_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include <event2/event.h>

#include "endpoints/boot/gate.h"
#include "endpoints/boot/starter.h"
#include "endpoints/hub/hub.h"
#include "job/session.h"
#include "job/word.h"
#include "endpoints/output/output.h"
#include "endpoints/run/job.h"
#include "endpoints/run/counts.h"
#include "endpoints/run/plan.h"
#include "endpoints/run/run.h"
#include "endpoints/run/voice.h"
#include "endpoints/run/watch.h"
#include "endpoints/spawn/spawner.h"
#include "endpoints/sys/writer.h"

/* Listeners to the jobs, beside the console. */
struct run_clients {
    struct ep_viewers *viewers; /* borrowed from the door, open; NULL: none */
    bool is_flushing;           /* they were told that no output follows */
    bool is_flushed;            /* they have everything that they are to have */
    void *desk; /* owned, made by options.desk; NULL: there is none */
};

/* Nodes that are lost. */
struct run_loss {
    uint32_t *places; /* owned */
    uint32_t count;
    struct run_losses *untold; /* owned: losses not yet told to the user */
    struct run_sweeps *sweeps; /* owned: sweeps of their hosts */
};

/* Jobs beside the run's own. */
struct run_jobs {
    struct run_history *past; /* owned: jobs that are over */
    struct run_watch *late; /* owned: looks whether these are to be forgotten */
    uint32_t made;          /* so far */
    uint32_t next_number;   /* of the next process */
    struct run_shown *shown; /* owned: the jobs shown on the console */
    uint32_t sinks_open;     /* files that they may have open at a time */
};

/* How the run ends. */
struct run_end {
    struct event *limit;     /* --timeout */
    struct event *hard;      /* the longest time that an end may take */
    struct event *grace;     /* of a dvm: time for jobs that were told to end */
    struct event *check;     /* looks whether the run is done */
    struct run_watch *words; /* owned: for messages that wait */
    bool is_ending;          /* the dvm was told to end: see dvm.c */
    bool is_quiet;           /* the end needs no message */
    bool is_given_up;        /* some output was given up unwritten */
    bool is_unheard;         /* stderr is not read */
};

/* Messages that were given, each once. */
struct run_told {
    bool failure, stuck, note, pieces;
};

/* Output that clients get instead of the console. */
struct run_redirects {
    struct job_route *route;   /* owned: which record waits for whom */
    struct run_redirect *kept; /* owned: the records that wait */
};

struct run {
    struct ep_run_options options;
    struct run_plan plan;
    struct run_voice voice;
    struct event_base *base;
    struct ep_spawner *spawner;
    struct ep_hub *hub;
    struct ep_writer *writer;
    struct ep_output *output;
    struct run_job own; /* the run's own job; further ones follow it */
    struct run_jobs jobs;
    struct run_clients clients;
    struct run_loss loss;
    struct run_end end;
    struct run_told told;
    struct run_redirects redirect;
    struct job_session session;

    struct run_launch *launch;         /* owned: the daemons */
    uint64_t launch_ns;                /* when it began */
    struct run_nodes *nodes;           /* owned */
    struct run_down *down;             /* owned: sends to all nodes */
    struct run_orders *orders;         /* borrowed from `down` */
    struct run_signals *signals;       /* owned */
    struct run_suspension *suspension; /* owned: of the launcher itself */
    struct run_records *records;       /* owned: records not yet taken */
    struct run_logs *logs;   /* owned: lines of tools that were not taken yet */
    struct run_watch *watch; /* owned */

    struct run_counts counts;
    struct run_report *report; /* owned; only for a dvm that is asked for it */
    int stats_fd; /* -1: the report goes to a file by its name, or nowhere */
    int input_fd; /* until down has it; -1: none, it is the launcher's stdin */
};

/* The files, each above those that it calls; some have headers:
 *     again  voice  watch  environ  plan_guess  plan_tree  plan_hosts
 *     plan_machine  plan_ranks  plan_job  plan_session  plan  nodes  missing
 *     survey  losses  launch  sweeps  counts  orders  down  signals
 *     suspension  held  log  verdict  subscription  pool  placing  further
 *     sinks  past  job  jobs  end  own  stats  report  redirect  loss  dvm
 *     interrupt  door  tap  words  up  run
 */

/* --- end.c */
int ep_run_end_open(struct run *r);
void ep_run_end_close(struct run *r);
/* All nodes have joined. */
void ep_run_begun(struct run *r);
/* Ends the run with this code and kills its processes. The first call wins. */
void ep_run_abort(struct run *r, int exit_code);
/* A signal, or a request like one, gives up a launch. False: no launch is under
 * way any longer. */
bool ep_run_end_early(struct run *r, int signo);
/* Tells all processes of all jobs to die. */
void ep_run_kill(struct run *r);
/* Goodbye has reached all nodes: only the daemons' ends are awaited. */
void ep_run_over(struct run *r);
/* Says goodbye when everything has come and was written. Files below end.c have
 * the loop call it, by end.check. */
void ep_run_check_done(struct run *r);
/* Gives up output that cannot be written, and writes the messages that wait. */
void ep_run_end_output(struct run *r);
int ep_run_exit_code(const struct run *r);
void ep_run_last_words(struct run *r);

#endif
