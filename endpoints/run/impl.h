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

/* Who hears of the jobs, beside the console. */
struct run_tap {
    struct ep_viewers *viewers; /* borrowed of the door, open; NULL: nobody */
    bool is_flushing;           /* they were told that no output follows, */
    bool is_flushed;            /* and have all that they are to have */
    void *desk; /* owned, of options.desk; NULL: there is none */
};

/* Nodes that are lost. */
struct run_loss {
    uint32_t *places; /* owned */
    uint32_t count;
    struct run_losses *untold; /* owned: of their loss */
    struct run_sweeps *sweeps; /* owned: of their hosts */
};

/* Jobs beside the run's own. */
struct run_jobs {
    struct run_past *past;   /* owned: those that are over */
    struct run_watch *late;  /* owned: looks whether they are to be forgotten */
    uint32_t made;           /* so far */
    uint32_t next_number;    /* of a process */
    struct run_shown *shown; /* owned: those of them on the console */
    uint32_t sinks_open;     /* files that they may have open at a time */
};

/* How it ends. */
struct run_end {
    struct event *limit;     /* --timeout */
    struct event *hard;      /* the time an end may take */
    struct event *grace;     /* of a dvm: jobs were told to end */
    struct event *check;     /* it may be done */
    struct run_watch *words; /* owned: of those that wait */
    bool is_ending;          /* of a dvm: see dvm.c */
    bool is_quiet;           /* the end needs no words */
    bool is_given_up;        /* output that was not written */
    bool is_unheard;         /* nobody reads what is said */
};

/* What is told once. */
struct run_told {
    bool failure, stuck, note, pieces;
};

/* Output that others get. */
struct run_redirects {
    struct job_route *route;   /* owned: what waits for whom */
    struct run_redirect *kept; /* owned: and what that is */
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
    struct run_job own; /* its own job, and further ones behind it */
    struct run_jobs jobs;
    struct run_tap tap;
    struct run_loss loss;
    struct run_end end;
    struct run_told told;
    struct run_redirects redirect;
    struct job_session session;

    struct run_launch *launch;         /* owned: the daemons */
    uint64_t launch_ns;                /* when it began */
    struct run_nodes *nodes;           /* owned */
    struct run_down *down;             /* owned: what goes to all nodes, */
    struct run_orders *orders;         /* borrowed of down: its orders */
    struct run_signals *signals;       /* owned */
    struct run_suspension *suspension; /* owned: this process's own */
    struct run_held *held;             /* owned: records not yet taken */
    struct run_logs *logs;   /* owned: lines of tools, not yet taken */
    struct run_watch *watch; /* owned */

    struct run_counts counts;
    struct run_report *report; /* owned: of a dvm; NULL: none is asked for */
    int stats_fd; /* -1: the report goes to a file by its name, or nowhere */
    int input_fd; /* until down has it; -1: none, it is the launcher's stdin */
};

/* The files, each above those it calls; some have headers:
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
/* All nodes are there. */
void ep_run_begun(struct run *r);
/* The run ends with this code; processes are killed. The first call wins. */
void ep_run_abort(struct run *r, int exit_code);
/* A signal, or a word like one: a launch is given up by it. False: there is
 * none any more. */
bool ep_run_end_early(struct run *r, int signo);
/* All processes of all jobs are told to die. */
void ep_run_kill(struct run *r);
/* Goodbye has reached all: nothing is left but to wait for daemons to go. */
void ep_run_over(struct run *r);
/* Says goodbye when everything has come and was written. Who is below this file
 * has it called from the loop, by end.check. */
void ep_run_check_done(struct run *r);
/* Gives up the output that cannot be written, and writes the messages that
 * wait. */
void ep_run_end_output(struct run *r);
int ep_run_exit_code(const struct run *r);
void ep_run_last_words(struct run *r);

#endif
