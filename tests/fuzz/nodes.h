/* Some nodes of the core, on connections that a test can tamper with.
 *
 * A small driver, without time or a network of its own: all that nodes send
 * waits in one queue, and is delivered when the caller asks for it. It checks
 * what every driver may expect of the core: frames decode, no more frames are
 * in flight than a link allows, every buffer is given back, and every step
 * ends.
 */
#ifndef TESTS_FUZZ_NODES_H
#define TESTS_FUZZ_NODES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "overlay/node.h"

enum {
    NODES_MAX = 8,
    NODES_LINKS_MAX = 32,    /* the number of link slots of a node */
    NODES_FLIES_MAX = 4096,  /* the most deliveries of one run; further ones are
                              * lost */
    NODES_STEPS_MAX = 20000, /* the most steps of one run; more means that steps
                              * never end */
    NODES_DEPTH_MAX = 64     /* the deepest nesting of steps within steps */
};

enum fly_kind { FLY_FRAME, FLY_SENT, FLY_DIAL, FLY_PROBE, FLY_DOWN, FLY_TAKEN };

/* An event that is on its way to a node. */
struct fly {
    enum fly_kind kind;
    uint32_t node, peer;
    uint16_t link;
    uint32_t era; /* the era of the link */
    struct ov_buf *buf;
    uint32_t cookie;
    uint64_t seq; /* the number of a probe */
};

/* One end of a connection. */
struct wire {
    uint32_t peer;
    uint16_t peer_link;
    uint32_t era; /* 0: the connection is not in use */
    unsigned in_flight;
};

struct subject {
    struct ov_node *node;
    void *mem;
    struct wire wires[NODES_LINKS_MAX];
    uint32_t to_write;
    uint32_t held_stream; /* The stream of a consumed frame, which the node was
                           * not told yet; 0: none. Consumed up to held_seq. */
    uint64_t held_seq;
    uint64_t wake_ns;
    bool is_gone;
};

struct nodes {
    struct ov_cfg cfg;
    struct subject subjects[NODES_MAX];
    struct fly flies[NODES_FLIES_MAX];
    size_t flies_first, flies_end;
    struct ov_kept_pool pool;
    struct ov_kept *cells;
    uint64_t now_ns, bufs_live;
    uint32_t eras;
    unsigned steps, depth;
    bool is_slow;
    struct ov_out outs[NODES_DEPTH_MAX];
};
extern struct nodes nodes;

/* nodes_open() starts the nodes of the plan; nodes_close() frees all of them,
 * and checks that nothing is left. */
void nodes_open(struct topo_tree plan);
void nodes_close(void);

/* Delivers the next `count` events; time passes and timers fire. */
void nodes_deliver(unsigned count);
void nodes_pass_time(uint64_t by_ns);
/* Makes processes stop reading their stdin, or go on. */
void nodes_be_slow(bool is_slow);
/* True when this run has gone on for long enough. */
bool nodes_is_tired(void);

/* Runs one step of node n, and everything that follows at once. */
void nodes_step(uint32_t n, struct ov_event ev);
/* Ends the connection of a link; node n was told before. */
void nodes_close_link(uint32_t n, uint16_t link);
struct ov_buf *nodes_buf_new(void);

#endif
