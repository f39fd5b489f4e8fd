/* The state of the simulated world, which the files of sim/ share: nodes of the
 * core, their hosts, the wires between them, and the jobs. sim/world.h
 * describes the order of these files.
 *
 * All state is integers; the same sim_cfg gives the same run on any machine.
 */
#ifndef SIM_STATE_H
#define SIM_STATE_H

#include "job/node.h"
#include "job/session.h"
#include "overlay/node.h"
#include "sim/books.h"
#include "sim/model.h"
#include "sim/parts.h"
#include "sim/queue.h"
#include "sim/random.h"
#include "sim/store.h"
#include "sim/told.h"
#include "sim/wire.h"

/* The most levels of a tree, and the alignment of nodes in node_mem. */
enum { SIM_LEVELS_MAX = 64, SIM_ALIGN = 8 };

enum sim_host_state {
    SIM_HOST_RUNS,
    SIM_HOST_LEFT,  /* the node has left after the goodbye */
    SIM_HOST_ENDED, /* the node has ended by OV_ACT_END */
    SIM_HOST_DEAD,  /* a fault has killed the node */
};

/* The host of a node. */
struct sim_host {
    uint64_t cpu_ns; /* the processor is busy until then */
    uint64_t out_ns; /* each direction of the port is busy until then */
    uint64_t in_ns;
    uint64_t wake_ns;  /* when the node has asked to be woken */
    uint64_t timer_ns; /* when the node's only valid timer item is due */
    uint32_t node_at;  /* offset of its node in node_mem / SIM_ALIGN */
    uint32_t wires;    /* index of its first entry in wires */
    uint32_t children; /* index of its first entry in children */
    uint16_t slow;     /* factor by which the host is slower than others */
    uint8_t state;     /* enum sim_host_state */
    uint8_t level;
    uint16_t faults;      /* faults in effect: a bit for each sim_fault_kind */
    bool is_touched : 1;  /* a fault may make the root declare it lost */
    bool is_gone : 1;     /* the node is counted in sim_counts.leaving */
    struct job_node node; /* the node as the launcher knows it */
};

/* A node's process of the run's own job. */
struct sim_process {
    uint64_t written; /* bytes that the process has written into the pipe */
    uint64_t read;    /* how many of these bytes the node has read */
    uint64_t got;     /* how many of these bytes were passed to the console */
    uint64_t next_ns; /* when the next lines are written */
    uint64_t stdin_bytes;
    uint64_t reader_ns; /* the process is busy with reading until then */
    uint32_t seen;      /* frames of stdin that have arrived */
    uint32_t eaten;     /* how many of these frames the process has read */
    uint16_t pushes;    /* how many frames of stdin were pushes */
    uint16_t others;    /* how many frames were pushes to further jobs */
    uint16_t heard;     /* how many frames of orders have arrived */
    bool has_started : 1, has_end : 1, has_end_waiting : 1;
    bool is_closed : 1, is_killed : 1, is_over : 1, is_target : 1;
    bool is_unstarted : 1;
    bool has_reader : 1; /* the process has an entry in job.readers */
};

/* The launcher at the root. */
struct sim_launcher {
    struct sim_load *orders[SIM_ORDERS_MAX]; /* they wait for room in stream
                                                0 */
    unsigned orders_count;
    uint32_t finals;       /* how many nodes the launcher no longer waits for */
    uint32_t given_up;     /* how many of these have sent no last report */
    uint32_t records_left; /* how many records the console has not yet taken */
    uint64_t fed_bytes;
    uint64_t joined_ns;
    uint64_t console_ns; /* the console is busy until then */
    uint64_t goodbye_ns;
    uint64_t lost_ns; /* time of the first known loss, or SIM_NEVER */
    uint32_t lost;    /* the node whose loss became known first */
    uint32_t stall_node, stall_rank;
    uint64_t stall_ns;   /* when a stream was stalled, or SIM_NEVER */
    uint64_t late_ns;    /* time limit for the run's end, or SIM_NEVER */
    uint64_t aborted_ns; /* when the launcher ended the run, or SIM_NEVER */
    uint64_t left_ns;    /* when the root was ordered to leave, or SIM_NEVER */
    struct job_session session;
    bool has_reached_all; /* the goodbye has reached all nodes */
    bool is_killed;       /* the launcher has ordered a kill of all */
};

/* Each of these structs is private to one file, or shared with reports. */
struct sim_cells;
struct sim_faults;
struct sim_link_checks;
struct sim_measure;
struct sim_owed;
struct sim_pushes;
struct sim_seen;
struct sim_stdin;
struct sim_tally;
struct sim_words;

struct sim_world {
    struct sim_cfg cfg;
    struct sim_queue queue;
    struct sim_store store;
    struct sim_random random;
    struct sim_host *hosts;        /* [nodes] */
    struct sim_process *processes; /* [nodes] */
    struct sim_books *books;       /* [nodes] */
    struct sim_wire *wires;        /* [links of all nodes] */
    struct sim_child *children;    /* [links of all nodes that may have
                                      children] */
    uint8_t *node_mem;
    uint64_t node_bytes; /* memory of all nodes */
    struct sim_address address;
    struct sim_step step;
    struct sim_cells *cells;
    struct sim_launcher *launcher;
    struct sim_jobs jobs;
    struct sim_stdin *stdins;
    struct sim_pushes *pushes;
    struct sim_words *words; /* [nodes]; NULL unless cfg.job.has_words */
    struct sim_faults *faults;
    struct sim_link_checks *link_checks;
    uint8_t *told; /* a bit for each pair of nodes: the first knows the second's
                      address */
    struct sim_measure *measure;
    struct sim_tally *tally;
    struct sim_seen *seen; /* NULL unless cfg.tallies */
    struct sim_counts counts;
    struct sim_outcome end;
    struct sim_onlooker onlooker;
};

/* Notes that a rule is broken: keeps the first one and stops the run. */
void sim_world_fail(struct sim_world *w, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static inline uint32_t sim_nodes(const struct sim_world *w)
{
    return w->cfg.overlay.plan.nodes;
}

static inline bool sim_host_runs(const struct sim_world *w, uint32_t n)
{
    return w->hosts[n].state == SIM_HOST_RUNS;
}

/* How long one message keeps the processor of this host busy. */
static inline uint64_t sim_host_cost_ns(const struct sim_world *w, uint32_t n)
{
    return w->cfg.network.overhead_ns * w->hosts[n].slow;
}

static inline struct ov_node *sim_node(const struct sim_world *w, uint32_t n)
{
    return (struct ov_node *)(void *)(w->node_mem +
                                      (size_t)w->hosts[n].node_at * SIM_ALIGN);
}

static inline struct sim_wire *sim_wire(const struct sim_world *w, uint32_t n,
                                        uint16_t link)
{
    return &w->wires[w->hosts[n].wires + link];
}

/* True when the plan has nodes beneath this one. A leaf has a single link, to
 * its parent. */
static inline bool sim_has_children(const struct sim_world *w, uint32_t n)
{
    return ov_node_links(sim_node(w, n)) > 1;
}

/* What node n knows of the child at a link. The node must not be a leaf of the
 * plan. */
static inline struct sim_child *sim_child(const struct sim_world *w, uint32_t n,
                                          uint16_t link)
{
    return &w->children[w->hosts[n].children + link];
}

static inline void sim_push(struct sim_world *w, uint64_t at_ns,
                            enum sim_item_kind kind, uint32_t node,
                            struct sim_item item)
{
    item.at_ns = at_ns;
    item.kind = (uint8_t)kind;
    item.node = node;
    sim_queue_push(&w->queue, &item);
}

#endif
