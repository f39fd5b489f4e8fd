/* The options of `xylem run` as rows for argp. */
#ifndef COMMANDS_RUN_TABLE_H
#define COMMANDS_RUN_TABLE_H

#include <argp.h>

/* Those without a letter. */
enum run_key {
    KEY_HOSTFILE = 256,
    KEY_PPN,
    KEY_ARITY,
    KEY_TOPOLOGY,
    KEY_MODEL,
    KEY_LAUNCHER,
    KEY_RSH,
    KEY_XYLEMD,
    KEY_NO_TREE_SPAWN,
    KEY_LAUNCH_TIMEOUT,
    KEY_MIN_NODES,
    KEY_NODES_PER_DAEMON,
    KEY_PROVIDER,
    KEY_INTERFACE,
    KEY_PORT_RANGE,
    KEY_HEARTBEAT,
    KEY_INPUT,
    KEY_STDIN_SLOW,
    KEY_KEEP_STDIN,
    KEY_STDDIAG,
    KEY_SPILL_DIR,
    KEY_ENV,
    KEY_ON_NODE_LOSS,
    KEY_TIMEOUT,
    KEY_LINGER,
    KEY_STATS,
    KEY_NO_PMIX,
    KEY_PMIX_ALLOW,
    KEY_PMIX_CACHE,
    KEY_NO_COLON,
    KEY_BIND,
    KEY_DVM,
};

enum { RUN_ROWS = 64 };

/* The rest is zero: the end. A row without a key is the words above a group. */
extern const struct argp_option run_table[RUN_ROWS];

/* What makes a tree, and holds for all jobs in it; ended by 0. */
extern const int run_options_tree[];

/* What a job in the tree of a dvm can have; ended by 0. */
extern const int run_options_job[];

#endif
