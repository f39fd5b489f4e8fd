/* A little world for tests of the core: nodes, links that deliver in order, a
 * clock in steps. Every byte is real. There is one thread: the same calls and
 * the same seed give the same run.
 *
 * Processes are rows of numbers: each node writes `to_write` bytes in lines of
 * `line` bytes on one input, and reads stream 1 when it is a reader.
 *
 * A node that is told to end dies. A dead node, or one that has left, refuses
 * dials; a frozen one lets them fail.
 *
 * At first a message takes one tick and every node is quick. With delay_max,
 * spurious and cut the same things take random times, each link in order,
 * timers come too early, and reads are short.
 */
#ifndef TESTS_UNIT_WORLD_H
#define TESTS_UNIT_WORLD_H

#include "overlay/control.h"
#include "overlay/node.h"
#include "overlay/state.h"
#include "tests/unit/air.h"
#include "tests/unit/chance.h"

enum { WORLD_TICK_NS = 1000000, WORLD_STREAMS = 2 };

struct world_node {
    struct ov_node *node;
    void *mem;
    bool is_dead;
    bool is_stuck; /* the node's targets consume nothing */
    bool has_left;
    bool is_frozen;    /* no frame reaches the node and none leaves it */
    bool is_lost;      /* the root has declared the node lost */
    uint32_t end;      /* why the node was told to end, enum ov_end; 0: it was
                        * not told */
    uint32_t parent;   /* the parent that the node last reported; TOPO_NONE:
                        * none */
    uint32_t orphaned; /* how often the node reported that it is an orphan */
    uint64_t
        to_write; /* how many bytes the node's process still has to write */
    uint64_t written;
    uint32_t line;
    bool is_final_due;
    uint64_t wake_ns;
    uint64_t eaten;                 /* how many bytes of stream 1 the node has
                                     * consumed */
    uint64_t eaten_sum;             /* checksum of these bytes */
    uint64_t seen[WORLD_STREAMS];   /* frames handed to the node's targets */
    uint64_t frames[WORLD_STREAMS]; /* frames that the targets have consumed */
    uint32_t controls;              /* how many application messages the node
                                     * has got */
    uint32_t kept[WORLD_STREAMS];   /* how many buffers of DOWN frames the node
                                     * holds */
    /* At the root: how many bytes arrived from this node. */
    uint64_t got;
    uint64_t got_sum;
    uint64_t wrote_sum;
    bool is_final;
};

/* The far end of a link slot. */
struct world_wire {
    uint32_t peer;
    uint32_t era;
    uint16_t peer_link;
    bool is_up;
    bool is_dialled;   /* this node has dialled, so the peer is a parent */
    uint64_t frame_ns; /* when the last frame sent on it arrives */
    uint64_t sent_ns;  /* when the transport is done with that frame */
};

struct owed;
struct world;

/* An observer, called at the moment when something happens. */
struct world_watch {
    void (*on_send)(struct world *w, uint32_t from, uint16_t link,
                    const struct ov_buf *buf);
    void (*on_frame)(struct world *w, uint32_t node, uint16_t link,
                     const struct ov_buf *buf);
    void (*on_sent)(struct world *w, uint32_t node, uint16_t link);
    void (*on_record)(struct world *w, uint32_t node, uint32_t len_bytes);
    void (*on_taken)(struct world *w, uint32_t source, uint64_t seq);
    /* The node was stepped and waits for no answer of its driver. */
    void (*on_step)(struct world *w, uint32_t node);
};

struct world {
    struct ov_cfg cfg;
    struct world_node *nodes;
    struct world_wire *wires; /* [node * WORLD_LINKS + link] */
    uint32_t *held; /* [node * nodes + child]: how many buffers of a child's UP
                     * frames a node holds */
    struct air air;
    struct ov_out *out;
    struct ov_kept_pool pool;
    struct ov_kept *cells;
    const struct world_watch *watch; /* may be NULL */
    void *watch_arg;
    struct chance chance;
    uint32_t delay_max; /* how many ticks a message may be late */
    uint32_t spurious;  /* percent of nodes whose timer fires in a tick */
    uint32_t cut;       /* percent of reads that are short */
    /* Changes a frame that is about to arrive; may be NULL. */
    void (*spoil)(struct world *w, struct ov_buf *buf);
    uint32_t eras;
    uint64_t now_ns;
    uint64_t fed; /* how many bytes of stream 1 were fed */
    uint64_t fed_sum;
    uint64_t to_feed;
    struct topo_range readers; /* the readers of stream 1 */
    bool feed_ends, feed_ended;
    bool is_joined;
    bool sink_is_stuck;
    uint32_t stall_node, stall_rank, stalls;
    uint64_t frames_up, frames_down, frames_link;
    uint64_t bufs_live;
    /* Answers that the driver owes the node that was stepped. */
    struct owed *owed;
};

enum { WORLD_LINKS = 512 };

/* Makes the nodes and starts them. */
void world_open(struct world *w, struct ov_cfg cfg);
/* Frees all; fails the test when a buffer was not given back. */
void world_close(struct world *w);

/* Runs one tick: everything that is due arrives, timers fire, processes act. */
void world_tick(struct world *w);
/* Runs ticks until cond(w); fails the test after max ticks. */
void world_until(struct world *w, bool (*cond)(struct world *w), unsigned max);

/* For the root: sends a control message, or opens stream 1 to a range. */
void world_control(struct world *w, uint8_t kind);
void world_open_stream(struct world *w, struct topo_range range);
/* For the root: announces that the root will be frozen, or that it runs
 * again. */
void world_pause(struct world *w, bool is_paused);
/* Kills a node: its connections break, and a dial to it is refused. */
void world_kill(struct world *w, uint32_t node);
/* Breaks a connection: the node is told now, its peer later. */
void world_break(struct world *w, uint32_t node, uint16_t link);
/* Gives a process bytes to write. */
void world_write(struct world *w, uint32_t node, uint64_t bytes, uint32_t line);
void world_final(struct world *w, uint32_t node);
/* Lets targets that were stuck read again. */
void world_unstick(struct world *w, uint32_t node);
/* Lets a frame with these bytes arrive at a node, as if its peer had sent
 * it. */
void world_inject(struct world *w, uint32_t node, uint16_t link,
                  const uint8_t *mem, uint32_t len_bytes);

/* Returns the count of UP frames' buffers that a node holds of a child. */
static inline uint32_t *world_held(const struct world *w, uint32_t node,
                                   uint32_t child)
{
    return &w->held[(size_t)node * w->cfg.plan.nodes + child];
}

/* Returns how many of these buffers a node holds in all, except those in the
 * frame that it is putting together. */
uint32_t world_queued(const struct world *w, uint32_t node, uint32_t child);

static inline struct world_wire *world_wire(const struct world *w,
                                            uint32_t node, uint16_t link)
{
    return &w->wires[(size_t)node * WORLD_LINKS + link];
}

#endif
