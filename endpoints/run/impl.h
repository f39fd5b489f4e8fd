/* What the files of `xylem run` share: the state of one run.
 *
 * The phases of a run, in order: plan (hosts, ranks, sizes), daemons (started,
 * ready, joined), job (its description and stdin sent to the nodes), output
 * (records to the console and files, messages of the nodes), end (goodbye, or
 * everything killed).
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

/* The listeners to the jobs, besides the console. */
struct run_clients {
    /* Borrowed from the door, and open; NULL when there is no door. */
    struct ep_viewers *viewers;
    bool is_flushing; /* the viewers were told that no output follows */
    bool is_flushed; /* the viewers have sent everything, or had no more time */
    void *desk; /* owned, opened by options.desk; NULL when there is no desk */
};

/* Nodes that are lost. */
struct run_loss {
    uint32_t *places; /* owned: their numbers, as XYLEM_NODE counts */
    uint32_t count;
    /* owned: losses that the user does not know yet */
    struct run_losses *untold;
    /* owned: the clean-ups on the hosts of these nodes */
    struct run_sweeps *sweeps;
};

/* Jobs of the session besides the run's own. */
struct run_jobs {
    struct run_history *past; /* owned: jobs that are over */
    struct run_watch *late;   /* owned: a timer that forgets jobs in `past` */
    uint32_t made;            /* how many further jobs were made so far */
    uint32_t next_number; /* the number of the next process that is planned */
    struct run_shown *shown; /* owned: jobs whose output the console shows */
    bool have_bars;          /* one of these jobs keeps_last (job/filter.h) */
    uint32_t sinks_open; /* files that all these jobs together may have open */
};

/* Telling the user which processes still run. */
struct run_questions {
    struct event *timer; /* a second has passed since the signal `signo` */
    struct event *quit;  /* SIGQUIT; NULL: not handled */
    uint64_t quit_ns;    /* when the last SIGQUIT came */
    int signo;
    struct run_rest *rest; /* owned: asks the nodes, and tells the user */
};

/* The timers and the state of the end of a run. */
struct run_end {
    struct event *limit; /* the timer of --timeout */
    struct event *hard;  /* the timer that forces an end which takes too long */
    struct event *grace; /* dvm: the timer that kills jobs which do not end */
    struct event *check; /* fires to look whether the run is done */
    /* owned: the timer that tries to write stderr again */
    struct run_watch *words;
    struct run_questions rest;
    bool is_ending; /* the dvm is ending: see dvm.c */
    bool is_quiet;  /* the user needs no message about the end */
    /* some output was dropped because it could not be written */
    bool is_given_up;
    bool is_unheard; /* nobody reads stderr, so the end does not wait for it */
};

/* Messages that the user gets at most once: the state of each. */
struct run_told {
    bool failure, stuck, note, pieces, line, limit;
    struct job_first first; /* the failure that was told as the first */
    uint64_t failed_ns;     /* when a failure was heard of, or 0 */
    /* how old the launch is when the user is told again whom it waits for */
    unsigned awaited_s;
    struct run_readers *readers; /* owned: processes that do not read stdin */
    struct run_beside *beside; /* owned; NULL: no command is run beside them */
    struct run_recent *recent; /* owned: what processes wrote last */
};

/* Output that clients get instead of the console (redirect.h). */
struct run_redirects {
    struct job_route *route;   /* owned: decides which records wait, and for
                                * what */
    struct run_redirect *kept; /* owned: the records that wait */
};

/* Descriptors of files that options name; -1: none. */
struct run_fds {
    int stats;      /* the descriptor for the report of --stats; without one the
                     * report goes to a file by its name */
    int input;      /* the descriptor that is read instead of stdin; owned until
                     * `down` owns it */
    int outputs[2]; /* owned: see ep_run_output_look() */
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
    struct run_job own; /* the run's own job; its `next` are the further jobs */
    struct run_jobs jobs;
    struct run_clients clients;
    struct run_loss loss;
    struct run_end end;
    struct run_told told;
    struct run_redirects redirect;
    struct job_session session;

    struct run_launch *launch;   /* owned: the start of the daemons */
    uint64_t launch_ns;          /* when the launch began */
    struct run_nodes *nodes;     /* owned */
    struct run_down *down;       /* owned: sends messages and stdin down the
                                  * tree */
    struct run_orders *orders;   /* borrowed from `down` */
    struct run_signals *signals; /* owned */
    /* owned: stops the launcher itself at SIGTSTP */
    struct run_suspension *suspension;
    /* owned: records that the console or files hold */
    struct run_records *records;
    struct run_logs *logs; /* owned: lines of tools that wait for the console */
    struct run_watch *watch; /* owned: looks whether output is stuck */

    struct run_counts counts;
    struct run_status *status; /* owned; NULL when there is no status line */
    struct run_report *report; /* owned; only for a dvm with --report-uri */
    struct run_fds fds;
};

/* The files, in an order in which each calls only files that are listed before
 * it. Functions of files without a header are declared here or in plan.h:
 *     relaunch  voice  watch  environ  status_words  status  plan_guess
 *     plan_tree  plan_hosts  plan_machine  plan_ranks  plan_job  plan_session
 *     plan  nodes  missing  survey  losses  launch  awaited  sweeps  counts
 *     orders  clock  flight  down  signals  suspension  records  log  verdict
 *     roll  recent  exits  look  groups  rest  readers  stalls  beside
 *     subscription  pool  placing  job_plan  sinks  history  job  jobs  end
 *     own  stats  report  redirect  loss  dvm  interrupt  door  clients  words
 *     up  run
 */

/* --- end.c */
int ep_run_end_open(struct run *r);
void ep_run_end_close(struct run *r);
/* Begins the job or the dvm. To be called when all nodes have joined. */
void ep_run_begun(struct run *r);
/* Ends the run with this code and kills its processes. The code of the first
 * call is the one that counts. */
void ep_run_abort(struct run *r, int exit_code);
/* Ends a launch that is under way, because of a signal or of a request that
 * means the same. Returns false when no launch is under way. */
bool ep_run_end_early(struct run *r, int signo);
/* Kills all processes of all jobs. */
void ep_run_kill(struct run *r);
/* Notes that all nodes have received the goodbye, so that only the ends of the
 * daemons are awaited. */
void ep_run_over(struct run *r);
/* Says goodbye to the nodes when all output has arrived and was written. Files
 * that are listed before end.c must not call this; they activate the event
 * end.check instead. */
void ep_run_check_done(struct run *r);
/* Drops output that cannot be written, and writes the messages that wait. */
void ep_run_end_output(struct run *r);
int ep_run_exit_code(const struct run *r);
void ep_run_last_words(struct run *r);

#endif
