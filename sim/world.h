/* The simulated world: nodes of the core, their hosts, the network, the job.
 *
 *     world  the run: takes the next item of the queue to where it belongs
 *     host   drives ov_node_step() of a node, as endpoints/ does
 *     net    ports and links      process  readers and writers
 *     fault  what goes wrong      launcher stdin, console, beginning and end
 *     check  somebody who looks on and knows the rules
 *     measure, tally  those who look on and count: the job, and repair
 *
 * All state is integers; the same sim_cfg gives the same run on any machine.
 */
#ifndef SIM_WORLD_H
#define SIM_WORLD_H

#include "overlay/node.h"
#include "sim/model.h"
#include "sim/queue.h"
#include "sim/random.h"
#include "sim/store.h"
#include "sim/wire.h"

enum sim_item_kind {
    SIM_ITEM_START,
    SIM_ITEM_ARRIVE,  /* a frame's first byte at the port; load, link, era */
    SIM_ITEM_DELIVER, /* and its last */
    SIM_ITEM_SENT,    /* the port is done with the oldest frame of link */
    SIM_ITEM_DOWN,    /* link's end at the port (arg 0), in the node (1) */
    SIM_ITEM_CONNECT, /* to arg */
    SIM_ITEM_DIAL_FAILED,
    SIM_ITEM_PROBED, /* what became of looking for arg */
    SIM_ITEM_TIMER,
    SIM_ITEM_WRITE, /* the process has more lines */
    SIM_ITEM_READ,  /* the process has read stdin up to frame arg */
    SIM_ITEM_CLOSE, /* the process closes its stdin */
    SIM_ITEM_TAKEN, /* the console has the record with cookie arg; view */
    SIM_ITEM_FEED,  /* there is more to feed */
    SIM_ITEM_FAULT, /* the fault arg begins */
    SIM_ITEM_HEAL,  /* and ends */
    SIM_ITEM_LAUNCH_LIMIT, /* the launcher waits no longer for nodes */
    SIM_ITEM_KINDS
};

/* An address has about as many bytes as those of real nodes. */
enum { SIM_LEVELS_MAX = 64, SIM_ALIGN = 8, SIM_ADDRESS_BYTES = 30 };

enum sim_host_state {
    SIM_HOST_RUNS,
    SIM_HOST_LEFT,  /* after goodbye */
    SIM_HOST_ENDED, /* its parent was lost */
    SIM_HOST_DEAD,  /* a fault */
};

/* Where a node runs. */
struct sim_host {
    uint64_t cpu_ns; /* the processor is busy until then */
    uint64_t out_ns; /* and the port's directions */
    uint64_t in_ns;
    uint64_t wake_ns;  /* when the node wants to be woken */
    uint64_t timer_ns; /* when the one live timer goes off */
    uint32_t node_at;  /* where its node is in node_mem, by SIM_ALIGN */
    uint32_t wires;    /* first of its wires */
    uint32_t children; /* and of what it knows of children at them */
    uint16_t slow;     /* factor */
    uint8_t state;     /* enum sim_host_state */
    uint8_t level;
    uint16_t faults;      /* in effect: bits by sim_fault_kind */
    bool is_touched : 1;  /* a fault that others may see as its loss */
    bool is_given_up : 1; /* the launcher waits for it no more */
    bool has_reader : 1;  /* among job.readers */
    bool is_final : 1;    /* its last word has come */
    bool is_gone : 1;     /* counted in sim_world.leaving */
};

/* A node's process. */
struct sim_process {
    uint64_t written; /* bytes put into the pipe, */
    uint64_t read;    /* of these, taken by the node, */
    uint64_t got;     /* and shown by the console */
    uint64_t next_ns; /* of the next lines */
    uint64_t stdin_bytes;
    uint64_t reader_ns; /* reads until then */
    uint32_t seen;      /* frames of stdin that came, */
    uint32_t eaten;     /* and were read */
    uint32_t heard;     /* frames of words */
    bool has_started : 1, has_end : 1, has_end_waiting : 1;
    bool is_closed : 1, is_killed : 1, is_final_said : 1, is_target : 1;
};

struct sim_check;
struct sim_measure;
struct sim_seen;
struct sim_tally;
struct sim_launcher;

struct sim_world {
    struct sim_cfg cfg;
    struct sim_queue queue;
    struct sim_store store;
    struct sim_random random;
    struct sim_host *hosts;
    struct sim_process *processes;
    struct sim_wire *wires;
    struct sim_child *children;
    uint8_t *node_mem;
    struct ov_buf address; /* where a node listens; all say the same */
    uint8_t address_mem[SIM_ADDRESS_BYTES];
    struct ov_kept_pool pool;
    struct sim_kept_slab *kept;
    struct ov_out out;
    struct sim_launcher *launcher;
    struct sim_check *check;
    struct sim_measure *measure;
    struct sim_tally *tally;
    struct sim_seen *seen; /* NULL unless cfg.tallies */
    struct sim_owed *owed;
    struct sim_frozen *frozen;      /* items that wait for a thaw */
    struct sim_struck *struck;      /* what became of each fault */
    uint32_t words[SIM_WHEN_KINDS]; /* said since all joined */
    uint64_t now_ns;                /* of the host that is stepped */
    uint64_t end_ns;                /* when the run stopped */
    uint64_t digest;
    uint64_t steps;
    uint64_t items;
    uint64_t node_bytes; /* of all nodes' memory */
    uint32_t era;
    uint32_t leaving; /* nodes that left, ended or died */
    bool is_over;
    bool is_late;    /* the limit of virtual time stopped it */
    bool is_stopped; /* its owner did, when real time was over */
    char why[256];   /* the first rule that broke, or "" */
    /* Who looks on; may be NULL. on_act: before an action is carried out. */
    void (*on_item)(struct sim_world *w, const struct sim_item *item);
    void (*on_act)(struct sim_world *w, uint32_t n, const struct ov_act *act);
    void *arg;
};

/* Builds the nodes and everything around. cfg has passed sim_cfg_check().
 * Returns 0 or OV_ENOMEM. */
int sim_world_open(struct sim_world *w, const struct sim_cfg *cfg);

/* Runs until the job is over, a rule broke or the limit is reached, for at most
 * `items` items. Returns false when there is nothing more to do. */
bool sim_world_run(struct sim_world *w, uint64_t items);

/* Ends all nodes; the checks of the end follow. Before close. */
void sim_world_finish(struct sim_world *w);
void sim_world_close(struct sim_world *w);

/* A rule is broken: keeps the first, stops the run. */
void sim_world_fail(struct sim_world *w, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Bytes that a leaf takes which nothing happens to. */
uint64_t sim_world_leaf_bytes(const struct sim_world *w);

static inline uint32_t sim_nodes(const struct sim_world *w)
{
    return w->cfg.overlay.plan.nodes;
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

/* A leaf of the plan has one link, to its parent. */
static inline bool sim_has_children(const struct sim_world *w, uint32_t n)
{
    return ov_node_links(sim_node(w, n)) > 1;
}

/* Of a node that may have children. */
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
