/* The launcher: runs one job on many nodes, gives it stdin, shows its output.
 *
 * The launcher is node 0 of the overlay, shows the console and reads stdin. It
 * starts the daemons, or only the first of them, which start the others;
 * daemons start the processes of the job.
 */
#ifndef ENDPOINTS_RUN_RUN_H
#define ENDPOINTS_RUN_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "endpoints/boot/boot_config.h"
#include "endpoints/client/desk.h"
#include "endpoints/output/fold_how.h"
#include "job/job.h"
#include "text/style.h"

/* What the job does when it loses a node. */
enum ep_run_loss { EP_RUN_LOSS_ABORT, EP_RUN_LOSS_CONTINUE };

enum {
    EP_RUN_PPN_MAX = 16000,
    EP_RUN_ENV_MAX = 1024,
    EP_RUN_APPS_MAX = JOB_APPS_MAX
};

/* The arity is to be chosen by a model of costs. An arity of 0 (not given)
 * means the same when nodes are hosts. */
#define EP_RUN_ARITY_AUTO UINT32_MAX

/* The beginning of every dvm's namespace. */
#define EP_RUN_DVM_NAME "xylem-dvm-"

/* The options of a run. All strings are borrowed from argv. A number of zero
 * means that the option was not given, where nothing else is said. */
struct ep_run_options {
    /* the programs; their lists of hosts are not used */
    struct job_wish apps[EP_RUN_APPS_MAX];
    uint32_t apps_count;
    const char *hosts, *hostfile, *exclude;
    uint32_t nodes;
    uint32_t arity; /* a number, or EP_RUN_ARITY_AUTO */
    /* a file for the model of costs, which chooses the arity */
    const char *model;
    /* a file that says which hosts are under which switch */
    const char *topology;
    enum ep_launcher launcher; /* EP_LAUNCHERS: a fitting launcher is chosen */
    enum topo_object bind;
    const char *rsh, *xylemd; /* NULL: the option was not given */
    bool no_tree_spawn;
    double launch_timeout_s;
    uint32_t
        min_nodes; /* how many nodes are enough to go on; 0: all are needed */
    uint32_t nodes_per_daemon;
    const char *provider, *interface;
    uint16_t port_first, port_last;
    double heartbeat_s;
    const char *stdin_ranks; /* "all", "none" or a list of ranks */
    const char *input;
    /* what to do with a process that does not read stdin */
    enum job_slow_policy slow;
    uint64_t spill_bytes;
    double close_s;
    const char *spill_dir;
    /* how the lines of output begin; nspace is not set */
    struct text_style style;
    const char *output_dir, *output_file; /* at most one of these is set */
    /* Exact names of files for stdout and stderr; output_dir and output_file
     * are then NULL. With `output` alone stderr goes to that file, too. */
    const char *output, *error;
    bool file_only;
    struct job_filter filter; /* what daemons leave out */
    bool by_rank;             /* the console shows one rank after the other */
    enum ep_fold fold;        /* what of it the console shows together */
    bool merge_stderr, raw, unbuffered;
    bool stddiag;    /* processes have this output channel, too */
    bool keep_stdin; /* processes' stdin stays open when stdin ends */
    /* changes of the environment for all programs, one program's after
     * another's */
    struct job_env env[EP_RUN_ENV_MAX];
    uint32_t env_count;
    /* settings that each program has before its own; a name that the launcher's
     * environment lacks is left out */
    struct job_env exports[EP_RUN_ENV_MAX];
    uint32_t exports_count;
    bool exports_only; /* processes get no other variables of the launcher's
                        * environment */
    bool kill_on_bad_exit;
    enum ep_run_loss on_node_loss;
    /* After this many seconds without progress a process is reported (0: none
     * is); with stall_all also a process that only computes. And a command to
     * run beside each such process, or NULL. */
    double stall_s;
    bool stall_all;
    const char *stall_command;
    double timeout_s;
    uint64_t start_ns; /* when the program was started (ep_clock_ns), from which
                          timeout_s counts; 0: now */
    double linger_s;
    const char *stats;
    bool verbose, quiet; /* at most one of these is set */
    /* serves PMIx tools; NULL: none are served */
    const struct ep_desk_ops *desk;
    bool has_cache; /* whether cache_bytes was given */
    /* how much output is kept of each channel, for clients that come late */
    uint32_t cache_bytes;
    /* The run has no job of its own (`xylem dvm`): clients start jobs in its
     * tree, until a client or the user ends it. `apps` has one program, which
     * is never started. */
    bool is_dvm;
    const char *report_uri; /* file for the address of tools; "-": stdout */
    /* Not used by ep_run(). The name of the dvm in which the job is to run, or
     * "" for the only one there is. NULL: the job gets a tree of its own. */
    const char *dvm;
};

/* Runs the job to its end. Call it first in main, right after the options are
 * read, because it forks. Says on stderr what goes wrong. Returns the exit
 * code. */
int ep_run(const struct ep_run_options *options);

#endif
