/* Some nodes of the core on connections that can be tampered with.
 *
 * A small driver, without time and wires of its own: what nodes send stands in
 * one queue, and happens when the caller says so. It checks what a driver may
 * expect of the core: frames that decode, no more in flight than a link takes,
 * every buffer given back, an end to every step.
 */
#ifndef TESTS_FUZZ_NODES_H
#define TESTS_FUZZ_NODES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "overlay/node.h"

enum {
    NODES_MAX = 8,
    NODES_LINKS_MAX = 32,    /* slots of a node */
    NODES_FLIES_MAX = 4096,  /* of one run; what goes beyond is lost */
    NODES_STEPS_MAX = 20000, /* of one run; more is an endless step */
    NODES_DEPTH_MAX = 64     /* of steps within steps */
};

enum fly_kind { FLY_FRAME, FLY_SENT, FLY_DIAL, FLY_PROBE, FLY_DOWN, FLY_TAKEN };

/* Something on its way to a node. */
struct fly {
    enum fly_kind kind;
    uint32_t node, peer;
    uint16_t link;
    uint32_t era; /* of the link */
    struct ov_buf *buf;
    uint32_t cookie;
    uint64_t seq; /* of a probe */
};

/* One end of a connection. */
struct wire {
    uint32_t peer;
    uint16_t peer_link;
    uint32_t era; /* 0: not in use */
    unsigned in_flight;
};

struct subject {
    struct ov_node *node;
    void *mem;
    struct wire wires[NODES_LINKS_MAX];
    uint32_t to_write;
    uint32_t
        held_stream; /* not 0: consumed, up to held_seq, and not yet told */
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

/* Starts the nodes of the plan; frees all, and checks that nothing is left. */
void nodes_open(struct topo_tree plan);
void nodes_close(void);

/* The next `count` things happen; time passes and timers run. */
void nodes_deliver(unsigned count);
void nodes_pass_time(uint64_t by_ns);
/* Processes stop reading their stdin, or go on. */
void nodes_be_slow(bool is_slow);
/* Has this run gone on for long enough? */
bool nodes_is_tired(void);

/* One step of node n, with all that follows at once. */
void nodes_step(uint32_t n, struct ov_event ev);
/* The connection of a link ends; n itself has been told. */
void nodes_close_link(uint32_t n, uint16_t link);
struct ov_buf *nodes_buf_new(void);

#endif
