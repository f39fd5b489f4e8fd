/* What is simulated: a machine, a job on it, and what goes wrong.
 *
 * The network follows LogGP (Alexandrov, Ionescu, Schauser, Scheiman, "LogGP:
 * incorporating long messages into the LogP model", 1995): a message costs its
 * sender's processor `overhead`, then goes out of the sender's port at its
 * bandwidth, one message at a time; it arrives `latency` later at the port of
 * the receiver, comes in at the same bandwidth, one at a time, and costs its
 * receiver's processor `overhead`. The two directions of a port are
 * independent. Hosts of one switch may be nearer to each other than other
 * hosts; links that switches share are not modelled.
 */
#ifndef SIM_MODEL_H
#define SIM_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "overlay/cfg.h"

#define SIM_NEVER UINT64_MAX /* a time that never comes */

enum {
    SIM_STREAMS = 3, /* control, stdin, pushes to further jobs */
    SIM_FAULTS_MAX = 4096,
    SIM_READERS_MAX = 4096,
    SIM_TARGETS_MAX = 32,
    SIM_SLOW_MAX = 10000,  /* highest factor by which a node is slower */
    SIM_FURTHER_MAX = 4,   /* jobs beside the run's own */
    SIM_EACH_MAX = 16,     /* processes of such a job on a node */
    SIM_PUSHES_MAX = 1000, /* how often a tool may push */
    SIM_PUSH_BYTES_MAX = 1024,
    SIM_PIPE_BYTES = 64 * 1024, /* size of a pipe from a process to its node */
};

#define SIM_RATE_LEAST UINT64_C(1024) /* lowest rate a second; 0: no limit */

struct sim_link_model {
    uint64_t latency_ns;
    uint64_t bandwidth;
};

struct sim_network {
    struct sim_link_model near; /* between hosts of one switch */
    struct sim_link_model far;  /* between hosts of different switches */
    uint64_t overhead_ns;       /* processor time of a message at each end */
    uint64_t jitter_ns;         /* up to this much random latency is added */
    uint64_t connect_ns;        /* time to make a connection */
    uint32_t switch_nodes;      /* hosts on a switch; 0: all on one */
    const uint32_t *under;      /* borrowed [nodes]: switch or TOPO_NONE; or
                                   NULL */
};

/* A reader of stdin that differs from the others. */
enum sim_reader_kind {
    SIM_READER_RATE,  /* reads at a rate of its own */
    SIM_READER_NEVER, /* reads nothing, but does not end */
    SIM_READER_PAUSE, /* reads nothing from at_ns on for length_ns */
    SIM_READER_CLOSE, /* closes its stdin at at_ns */
};

struct sim_reader {
    uint32_t node; /* node on which it runs: rank + 1 */
    uint8_t kind;
    uint64_t rate;
    uint64_t at_ns;
    uint64_t length_ns;
};

/* How processes fail, in percent of all processes; the seed chooses which. */
struct sim_fate {
    uint8_t unstarted; /* percent that cannot be started */
    uint8_t failing;   /* percent that end with another status than 0 */
};

/* A tool that pushes to the stdin of a job's processes once these run. */
struct sim_tool {
    uint32_t pushes; /* 0: there is no tool */
    uint32_t push_bytes;
    uint64_t at_ns, every_ns; /* time to the first push; between pushes */
};

/* A further job in the same tree. Its processes write nothing and run for a
 * while; with a tool, at least until it closes their stdin. */
struct sim_further {
    struct topo_range nodes; /* those that are not lost by then are used */
    uint32_t each;           /* how many processes on each node */
    uint64_t at_ns;          /* begins this long after the job before it */
    uint64_t lasts_ns; /* longest time that a process runs; the seed chooses */
    uint64_t kill_ns;  /* the job is killed after this; or SIM_NEVER */
    struct sim_fate fate;
    struct sim_tool tool;
};

struct sim_job {
    uint64_t stdin_bytes; /* bytes of stdin for each process */
    uint64_t stdin_rate;  /* bytes a second that the launcher's stdin gives */
    uint64_t read_rate;   /* bytes a second that a process reads */
    uint64_t out_bytes;   /* bytes that a process writes */
    uint32_t line_bytes;  /* a process writes lines of this length */
    uint32_t burst_lines; /* and this many lines at a time */
    uint64_t every_ns;    /* time between bursts; 0: no pause */
    uint32_t voices, odd; /* see sim/text.h */
    uint64_t console_rate;
    uint64_t console_stuck_ns;  /* the console takes nothing from here on */
    uint64_t console_length_ns; /* for this long; SIM_NEVER: for ever */
    bool has_stdin;
    bool ends_on_loss; /* whether the loss of a node ends the job */
    /* Nodes report when processes have started and how they have ended. When
     * false, each sends one empty record when its process has ended well. */
    bool has_words;
    struct sim_fate fate; /* needs has_words, as further jobs and tools do */
    struct sim_tool tool;
    uint64_t timeout_ns; /* the run's time limit, or SIM_NEVER */
    uint64_t kill_ns; /* from the launch until jobs are killed, or SIM_NEVER */
    const struct sim_further *further; /* borrowed */
    uint32_t further_count;
    const struct topo_range *targets; /* borrowed, ascending: nodes with
                                         stdin */
    uint32_t targets_count;           /* 0: all nodes */
    const struct sim_reader *readers; /* borrowed; sorted by node */
    uint32_t readers_count;
};

enum sim_fault_kind {
    SIM_FAULT_KILL,      /* the node dies, but not its host */
    SIM_FAULT_CUT,       /* links to nodes above break, and dials are refused */
    SIM_FAULT_DEAF,      /* frames from nodes above to the node vanish */
    SIM_FAULT_MUTE,      /* frames from the node to nodes above vanish */
    SIM_FAULT_SILENCE,   /* all frames to and from the node vanish */
    SIM_FAULT_FREEZE,    /* the node stands still for length_ns */
    SIM_FAULT_SLOW,      /* its processor and port are slower by `factor` */
    SIM_FAULT_REFUSE,    /* it refuses connections for length_ns */
    SIM_FAULT_RESET,     /* the link to its parent breaks, once */
    SIM_FAULT_REJECT,    /* both of the next two, as by a firewall */
    SIM_FAULT_REJECT_IN, /* the node resets what nodes above send */
    SIM_FAULT_REJECT_OUT, /* nodes above reset what the node sends */
    SIM_FAULT_KINDS
};

/* When a fault strikes: at a time, or at_ns after the nth item of a kind that
 * was sent since all nodes joined. It then strikes one of the nodes that the
 * item concerns; when that is the root, it strikes the claiming node. */
enum sim_when {
    SIM_WHEN_TIME, /* at_ns after the start, at the node `node` */
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
    uint32_t nth;  /* which item of its kind, counted from 1 */
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
    bool tallies; /* whether to count what repair does: 16 bytes per node */
    uint64_t seed;
    uint64_t limit_ns; /* limit of virtual time */
};

/* Ports of 12.5 GB/s, 2 us apart, and a job that does nothing. */
struct sim_cfg sim_cfg_default(struct topo_tree plan);

/* Returns 0, or OV_EINVAL; *why then says what is wrong. */
int sim_cfg_check(const struct sim_cfg *cfg, const char **why);
/* The time that bytes take at a rate, rounded up. */
static inline uint64_t sim_time_ns(uint64_t len_bytes, uint64_t rate)
{
    return rate == 0 ? 0 : (len_bytes * UINT64_C(1000000000) + rate - 1) / rate;
}

const char *sim_fault_name(enum sim_fault_kind kind);
/* The first function is true for a fault by which one host answers another with
 * a reset, the second for a fault between a node and the nodes above it, or one
 * of these. */
bool sim_fault_is_reject(enum sim_fault_kind kind);
bool sim_fault_is_between(enum sim_fault_kind kind);

#endif
