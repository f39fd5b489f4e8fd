/* The launcher: runs one job on many nodes, feeds it stdin, shows its output.
 *
 * It is node 0 of the overlay, shows the console and reads stdin. It starts the
 * daemons (or the first of them, which start the others) and never a process of
 * the job itself.
 */
#ifndef ENDPOINTS_RUN_RUN_H
#define ENDPOINTS_RUN_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "endpoints/boot/boot_config.h"
#include "endpoints/client/desk.h"
#include "job/job.h"
#include "text/style.h"

/* What the job does when it loses a node. */
enum ep_run_loss { EP_RUN_LOSS_ABORT, EP_RUN_LOSS_CONTINUE };

enum {
    EP_RUN_PPN_MAX = 16000,
    EP_RUN_ENV_MAX = 1024,
    EP_RUN_APPS_MAX = JOB_APPS_MAX
};

/* The arity is to be chosen by the model. 0 (not given) means the same when
 * nodes are hosts. */
#define EP_RUN_ARITY_AUTO UINT32_MAX

/* The beginning of every dvm's namespace. */
#define EP_RUN_DVM_NAME "xylem-dvm-"

/* All strings are borrowed from argv. A number of zero means that the option
 * was not given. */
struct ep_run_options {
    struct job_wish apps[EP_RUN_APPS_MAX]; /* without hosts of their own */
    uint32_t apps_count;
    const char *hosts, *hostfile, *exclude;
    uint32_t nodes;
    uint32_t arity;       /* or EP_RUN_ARITY_AUTO */
    const char *model;    /* a file about the machine, to choose the arity */
    const char *topology; /* a file: which host is under which switch */
    enum ep_launcher launcher; /* EP_LAUNCHERS: choose the one that fits */
    enum topo_object bind;
    const char *rsh, *xylemd;
    bool no_tree_spawn;
    double launch_timeout_s;
    uint32_t min_nodes; /* go on with this many; 0: all are needed */
    uint32_t nodes_per_daemon;
    const char *provider, *interface;
    uint16_t port_first, port_last;
    double heartbeat_s;
    const char *stdin_ranks; /* "all", "none" or a list of ranks */
    const char *input;
    enum job_slow_policy slow; /* of stdin */
    uint64_t spill_bytes;
    double close_s;
    const char *spill_dir;
    struct text_style style;              /* without nspace */
    const char *output_dir, *output_file; /* at most one of them */
    bool file_only;
    bool merge_stderr, raw, unbuffered;
    bool stddiag;    /* processes have this channel, too */
    bool keep_stdin; /* the end of stdin does not end that of the processes */
    struct job_env env[EP_RUN_ENV_MAX]; /* of the programs, one after another */
    uint32_t env_count;
    bool kill_on_bad_exit;
    enum ep_run_loss on_node_loss;
    double timeout_s;
    double linger_s;
    const char *stats;
    bool verbose;
    const struct ep_desk_ops *desk; /* for PMIx tools; NULL: none */
    bool has_cache;                 /* cache_bytes was said */
    uint32_t cache_bytes; /* of each channel, for clients that come late */
    /* There is no job of its own: the tree is for jobs that clients start,
     * until it is told to end. apps has one program, which is never started. */
    bool is_dvm;
    const char *report_uri; /* a file for the desk's address; "-": stdout */
    /* Not used by ep_run(): the job is to run in the dvm of this name, or in
     * the only one (""). NULL: it has a tree of its own. */
    const char *dvm;
};

/* Runs the job to its end. Call it first in main, after reading the options, as
 * it forks. Says on stderr what goes wrong. Returns the exit code. */
int ep_run(const struct ep_run_options *options);

#endif
