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
#include "endpoints/console/input.h"
#include "endpoints/hub/hub.h"
#include "job/word.h"
#include "endpoints/output/output.h"
#include "endpoints/run/job.h"
#include "endpoints/run/counts.h"
#include "endpoints/run/plan.h"
#include "endpoints/run/report.h"
#include "endpoints/run/run.h"
#include "endpoints/run/voice.h"
#include "endpoints/run/watch.h"
#include "endpoints/spawn/spawner.h"
#include "endpoints/sys/writer.h"

/* Is a node to say what its machine is? See ask.h. */
enum run_ask { RUN_ASK_NOT, RUN_ASK_DUE, RUN_ASK_SENT };

/* A node as the launcher knows it. */
struct run_node {
    bool is_final;          /* nothing that it was told to run does */
    bool is_lost, is_swept; /* the latter of a daemon's first: see sweeps.h */
    bool is_silent; /* lost, or cut off by a loss, before it was final */
    uint32_t jobs;  /* told so far that have processes there */
    uint32_t spare; /* processes there of jobs beside the run's own */
    uint8_t asked;  /* enum run_ask */
    char *blind;    /* owned: why it cannot; NULL: it can, or was not asked */
    struct ep_machine machine; /* as it has said */
};

enum run_phase {
    RUN_LAUNCHING, /* daemons start and join */
    RUN_RUNNING,   /* the job was told to the nodes */
    RUN_LEAVING,   /* goodbye was said */
    RUN_OVER,      /* nothing is left but to close */
};

struct run {
    struct ep_run_options options;
    struct run_plan plan;
    struct event_base *base;
    struct ep_spawner *spawner;
    struct ep_starter *starter;
    struct ep_gate *gate; /* slurm: where daemons call, until all have joined */
    struct ep_hub *hub;
    struct ep_writer *writer;
    struct ep_output *output;
    struct ep_input *input;
    void *tap; /* owned, of options.tap; NULL: none */
    bool tap_is_flushing, tap_is_flushed;
    const struct run_tap_events *tap_events;
    struct run_past *past;   /* owned: jobs that are over */
    uint32_t jobs_made;      /* so far */
    uint32_t next_number;    /* of a process */
    struct run_shown *shown; /* owned: those of them on the console */
    uint32_t sinks_open;     /* files that they may have open at a time */
    struct run_voice voice;
    struct run_job own;           /* its own job, and further ones behind it */
    struct run_node *nodes;       /* [1 + N], by overlay node */
    struct ep_boot_peer *daemons; /* by starter index; address "" unknown */
    uint32_t daemons_count;       /* started by the launcher itself */
    uint32_t daemons_ready, daemons_alive;
    uint32_t finals; /* nodes whose processes do no more */
    uint32_t asked;  /* nodes that are to say what their machines are */
    uint32_t lost_count;
    uint32_t *lost;            /* owned */
    struct run_losses *losses; /* owned: not told yet */
    struct run_sweeps *sweeps; /* owned; NULL: no daemon was lost */
    enum run_phase phase;
    struct run_missing *missing; /* owned: daemons that do not come */
    uint32_t missing_count;

    struct run_orders *orders;         /* owned: to all nodes */
    struct run_signals *signals;       /* owned */
    struct run_suspension *suspension; /* owned: this process's own */

    struct run_held *held;         /* owned: records not yet taken */
    struct run_redirect *redirect; /* owned: output that others get */
    uint32_t redirects_waiting;    /* records: not yet theirs */
    struct run_logs *logs;         /* owned: lines of tools, not yet taken */
    struct run_stdin *down; /* owned: stdin of processes, by all writers */
    int input_fd;           /* -1: the launcher's stdin */
    int stats_fd; /* -1: the report goes to a file by its name, or nowhere */

    struct event *limit;     /* --timeout */
    struct event *hard;      /* the time an end may take */
    struct run_watch *watch; /* owned */
    struct event *settle;    /* no daemon has failed for a while */
    struct event *grace;     /* of a dvm: jobs were told to end */
    bool is_aborted;         /* before the job began */
    bool is_recalled;        /* srun was told to end */
    bool is_arriving;        /* the last daemon of srun is there */
    bool is_ending;          /* of a dvm: see dvm.c */
    bool is_killed; /* processes were told to die: exits mean nothing */
    bool is_failure_told, is_stuck_told, is_note_told, is_pieces_told;
    int exit_code; /* as decided; -1: by the processes */
    bool is_quiet; /* the end needs no words */

    uint64_t start_ns;
    struct run_counts counts;
    struct run_report report; /* of a dvm */
};

/* The files, each above those it calls; some have headers:
 *     again  voice  watch  environ  plan_guess  plan_tree  plan_hosts
 *     plan_machine  plan_ranks  plan_job  plan_session  plan  verdict  counts
 *     orders  signals  suspension  control  held  log  tap  ask  want  stdin
 *     pool  placing  further  sinks  past  job  jobs  end  own  stats  report
 *     back  redirect  losses  sweeps  loss  dvm  interrupt  down  daemons
 *     survey  words  up  run
 */

/* --- end.c */
int ep_run_end_open(struct run *r);
void ep_run_end_close(struct run *r);
/* The run ends with this code (-1: that of the processes); processes are
 * killed. The first call wins. */
void ep_run_abort(struct run *r, int exit_code);
/* All processes of all jobs are told to die. */
void ep_run_kill(struct run *r);
/* Nothing is left but to wait for daemons to go. */
void ep_run_over(struct run *r);
/* Says goodbye when everything has come and was written. */
void ep_run_check_done(struct run *r);
int ep_run_exit_code(const struct run *r);
void ep_run_last_words(struct run *r);

#endif
