/* What is simulated: a machine, a job on it, and what goes wrong.
 *
 * The network follows LogGP (Alexandrov, Ionescu, Schauser, Scheiman, "LogGP:
 * incorporating long messages into the LogP model", 1995): a message costs its
 * sender's processor `overhead`, then goes out of the sender's port at its
 * bandwidth, one message at a time; it arrives `latency` later at the port of
 * the receiver, comes in at the same bandwidth, one at a time, and costs its
 * receiver's processor `overhead`. The two directions of a port are
 * independent. Hosts of one switch may be nearer to each other than to others;
 * links that switches share are not modelled.
 */
#ifndef SIM_MODEL_H
#define SIM_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "overlay/cfg.h"

#define SIM_NEVER UINT64_MAX

enum {
    SIM_STREAMS = 3, /* control, stdin, pushes to further jobs */
    SIM_FAULTS_MAX = 4096,
    SIM_READERS_MAX = 4096,
    SIM_TARGETS_MAX = 32,
    SIM_SLOW_MAX = 10000,  /* factor of a slow node */
    SIM_FURTHER_MAX = 4,   /* jobs beside the run's own */
    SIM_EACH_MAX = 16,     /* processes of one of these jobs on a node */
    SIM_PUSHES_MAX = 1000, /* pushes of a tool */
    SIM_PUSH_BYTES_MAX = 1024,
    SIM_PIPE_BYTES = 64 * 1024, /* between a process and its node */
};

#define SIM_RATE_LEAST UINT64_C(1024) /* bytes a second; 0: no limit */

struct sim_link_model {
    uint64_t latency_ns;
    uint64_t bandwidth;
};

struct sim_network {
    struct sim_link_model near; /* between hosts of one switch */
    struct sim_link_model far;  /* between hosts of different switches */
    uint64_t overhead_ns;       /* processor time of a message, at each end */
    uint64_t jitter_ns;         /* additional latency, 0 to this, at random */
    uint64_t connect_ns;        /* time to make a connection */
    uint32_t switch_nodes;      /* hosts on a switch; 0: all on one */
    const uint32_t *under;      /* borrowed [nodes]: a node's switch, or
                                   TOPO_NONE; NULL */
};

/* A reader of stdin that differs from the others. */
enum sim_reader_kind {
    SIM_READER_RATE,  /* reads at a rate of its own */
    SIM_READER_NEVER, /* reads nothing, and stays */
    SIM_READER_PAUSE, /* reads nothing from at_ns on for length_ns */
    SIM_READER_CLOSE, /* closes its stdin at at_ns */
};

struct sim_reader {
    uint32_t node; /* node of its process: rank + 1 */
    uint8_t kind;
    uint64_t rate;
    uint64_t at_ns;
    uint64_t length_ns;
};

/* What happens to processes, in percent of them; the seed chooses which. */
struct sim_fate {
    uint8_t unstarted; /* cannot be started */
    uint8_t failing;   /* end with a status other than 0, unless killed */
};

/* A tool that pushes to the stdin of a job's processes once these run. */
struct sim_tool {
    uint32_t pushes; /* 0: there is no tool */
    uint32_t push_bytes;
    uint64_t at_ns, every_ns; /* first push after the start; between pushes */
};

/* A further job in the same tree. Its processes write nothing and run for a
 * while; with a tool, at least until it closes their stdin. */
struct sim_further {
    struct topo_range nodes; /* runs on those that are not lost by then */
    uint32_t each;           /* processes on each node */
    uint64_t at_ns;          /* told this long after the job before it */
    uint64_t lasts_ns; /* most time that a process runs; the seed chooses */
    uint64_t kill_ns;  /* it is told to die this long after; SIM_NEVER */
    struct sim_fate fate;
    struct sim_tool tool;
};

struct sim_job {
    uint64_t stdin_bytes; /* for each process */
    uint64_t stdin_rate;  /* of the launcher's stdin */
    uint64_t read_rate;   /* of each process */
    uint64_t out_bytes;   /* of each process */
    uint32_t line_bytes;  /* in lines of this length, */
    uint32_t burst_lines; /* this many lines at a time, */
    uint64_t every_ns;    /* this often; 0: as fast as possible */
    uint64_t console_rate;
    uint64_t console_stuck_ns;  /* takes nothing from then on; SIM_NEVER */
    uint64_t console_length_ns; /* for this long; SIM_NEVER */
    bool has_stdin;
    bool ends_on_loss; /* the loss of a node ends the job */
    /* Nodes report when processes have started and how they end. Otherwise an
     * empty last record says that the process ran and ended well. */
    bool has_words;
    struct sim_fate fate; /* needs has_words, as further jobs and tools do */
    struct sim_tool tool;
    uint64_t timeout_ns; /* the run is ended then; SIM_NEVER */
    uint64_t kill_ns;    /* when all are told to die, after the launch;
                            SIM_NEVER */
    const struct sim_further *further; /* borrowed */
    uint32_t further_count;
    const struct topo_range *targets; /* nodes whose processes read stdin; */
    uint32_t targets_count;           /* borrowed; ascending; 0: all */
    const struct sim_reader *readers; /* borrowed; sorted by node */
    uint32_t readers_count;
};

enum sim_fault_kind {
    SIM_FAULT_KILL,      /* the node's daemon dies, but not its host */
    SIM_FAULT_CUT,       /* links to nodes above break, and dials are refused */
    SIM_FAULT_DEAF,      /* what nodes above send to the node vanishes */
    SIM_FAULT_MUTE,      /* what the node sends to nodes above vanishes */
    SIM_FAULT_SILENCE,   /* everything to and from the node vanishes */
    SIM_FAULT_FREEZE,    /* the daemon stands still for length_ns */
    SIM_FAULT_SLOW,      /* its processor and port are slower by factor */
    SIM_FAULT_REFUSE,    /* it refuses connections for length_ns */
    SIM_FAULT_RESET,     /* the link to its parent breaks, once */
    SIM_FAULT_REJECT,    /* as a firewall: both of the next two */
    SIM_FAULT_REJECT_IN, /* the node resets what nodes above send */
    SIM_FAULT_REJECT_OUT, /* nodes above reset what the node sends */
    SIM_FAULT_KINDS
};

/* When a fault strikes. Items are counted from the moment when all nodes have
 * joined: at_ns after the nth of them the fault strikes one of the nodes that
 * it concerns; where that is the root, the node that claims. */
enum sim_when {
    SIM_WHEN_TIME, /* at_ns after the start, at the node that is named */
    SIM_WHEN_HELLO,
    SIM_WHEN_ASK,
    SIM_WHEN_ANSWER,
    SIM_WHEN_WELCOME,
    SIM_WHEN_KINDS
};

enum sim_whom {
    SIM_WHOM_SAYS,
    SIM_WHOM_HEARS,
    SIM_WHOM_CLAIMS, /* the node that wants to be adopted */
    SIM_WHOM_KINDS
};

struct sim_fault {
    uint64_t at_ns;
    uint64_t length_ns; /* SIM_NEVER: for ever */
    uint32_t node;
    uint32_t peer; /* CUT, DEAF, MUTE, REJECT: the node above; TOPO_NONE: all */
    uint32_t nth;  /* counted from 1 */
    uint32_t factor;
    uint8_t kind;
    uint8_t when; /* enum sim_when */
    uint8_t whom; /* enum sim_whom */
};

struct sim_cfg {
    struct ov_cfg overlay;
    struct sim_network network;
    struct sim_job job;
    const struct sim_fault *faults; /* borrowed */
    uint32_t faults_count;
    bool tallies; /* count what repair does: 16 bytes per node */
    uint64_t seed;
    uint64_t limit_ns; /* limit of virtual time */
};

/* A machine with ports of 12.5 GB/s, 2 us apart, and an empty job. */
struct sim_cfg sim_cfg_default(struct topo_tree plan);

/* Returns 0, or OV_EINVAL; *why then says what is wrong. */
int sim_cfg_check(const struct sim_cfg *cfg, const char **why);

/* The time that bytes take at a rate, rounded up. */
static inline uint64_t sim_time_ns(uint64_t len_bytes, uint64_t rate)
{
    return rate == 0 ? 0 : (len_bytes * UINT64_C(1000000000) + rate - 1) / rate;
}

const char *sim_fault_name(enum sim_fault_kind kind);
/* True for a fault where one host answers another with a reset; true for a
 * fault between a node and the nodes above it, or one of them. */
bool sim_fault_is_reject(enum sim_fault_kind kind);
bool sim_fault_is_between(enum sim_fault_kind kind);

#endif
