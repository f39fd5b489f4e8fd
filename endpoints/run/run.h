/* The launcher: runs one job on many nodes, feeds it stdin, shows its output.
 *
 * It is node 0 of the overlay, the console and the reader of stdin. It starts
 * the daemons (or the first of them, who start the others) and never a process
 * of the job itself.
 */
#ifndef ENDPOINTS_RUN_RUN_H
#define ENDPOINTS_RUN_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "endpoints/boot/boot_config.h"
#include "endpoints/client/desk.h"
#include "job/job.h"
#include "text/style.h"

/* What the job does when a node is lost. */
enum ep_run_loss { EP_RUN_LOSS_ABORT, EP_RUN_LOSS_CONTINUE };

enum {
    EP_RUN_PPN_MAX = 16000,
    EP_RUN_ENV_MAX = 1024,
    EP_RUN_APPS_MAX = JOB_APPS_MAX
};

/* An arity that is asked for by the model; 0, nothing said, is the same where
 * nodes are hosts. */
#define EP_RUN_ARITY_AUTO UINT32_MAX

/* What the namespace of a dvm begins with. */
#define EP_RUN_DVM_NAME "xylem-dvm-"

/* All strings are borrowed from argv. A zero number means: not given. */
struct ep_run_options {
    struct job_wish apps[EP_RUN_APPS_MAX]; /* without hosts of their own */
    uint32_t apps_count;
    const char *hosts, *hostfile, *exclude;
    uint32_t nodes;
    uint32_t arity;    /* or EP_RUN_ARITY_AUTO */
    const char *model; /* a file with the machine, for the arity */
    const char
        *topology; /* a file that says which host is under which switch */
    enum ep_launcher launcher; /* EP_LAUNCHERS: the one that fits */
    enum topo_object bind;
    const char *rsh, *xylemd;
    bool no_tree_spawn;
    double launch_timeout_s;
    uint32_t min_nodes; /* go on with so many; 0: all are needed */
    uint32_t nodes_per_daemon;
    const char *provider, *interface;
    uint16_t port_first, port_last;
    double heartbeat_s;
    const char *stdin_ranks; /* "all", "none" or a rank list */
    const char *input;
    enum job_slow_policy slow; /* of stdin */
    uint64_t spill_bytes;
    double close_s;
    const char *spill_dir;
    struct text_style style;              /* without nspace */
    const char *output_dir, *output_file; /* one of them, or none */
    bool file_only;
    bool merge_stderr, raw, unbuffered;
    bool stddiag;    /* processes have this channel, too */
    bool keep_stdin; /* its end does not end that of the processes */
    struct job_env
        env[EP_RUN_ENV_MAX]; /* of the programs, one's after another's */
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
    /* No job of its own: the tree is there for those that clients start, until
     * it is told to end. Of apps one that is never started. */
    bool is_dvm;
    const char *report_uri; /* a file for the desk's address, "-": stdout */
    /* Not for ep_run(): the job is to run in the dvm of this name, or in the
     * only one (""). NULL: it has a tree of its own. */
    const char *dvm;
};

/* Runs the job to its end. Call first thing in main, after the options were
 * read: it forks. Says what goes wrong on stderr. Returns the exit code. */
int ep_run(const struct ep_run_options *options);

#endif
