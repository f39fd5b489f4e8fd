/* The queue of what will happen, in the order of time; items for the same time
 * are in the order in which they were pushed.
 *
 * A radix queue (Ahuja, Mehlhorn, Orlin, Tarjan, "Faster algorithms for the
 * shortest path problem", 1990) with digits of one byte: as time never goes
 * back, an item is sorted by the highest byte in which its time differs from
 * now, and again by a lower one when that byte is reached. Items are in chunks
 * and are copied in their order: nothing is compared, no pointer is followed,
 * and items with equal times keep their order.
 *
 * Cost: push O(1); pop O(1) amortised, at most 8 copies over an item's life,
 * two or three when its time is within milliseconds. Memory is allocated only
 * when the number of items exceeds all earlier ones.
 */
#ifndef SIM_QUEUE_H
#define SIM_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

struct sim_load;
struct sim_view;

/* The kinds of items: what happens at the item's time. */
enum sim_item_kind {
    SIM_ITEM_START,
    SIM_ITEM_ARRIVE,  /* the first byte of a frame reaches the port; fields:
                         load, link, era */
    SIM_ITEM_DELIVER, /* the last byte of a frame has come in */
    SIM_ITEM_SENT,    /* the port has sent the oldest frame of link */
    SIM_ITEM_DOWN,    /* link has ended; arg 0: the node's port learns it, arg
                         1: the node does */
    SIM_ITEM_CONNECT, /* a dial to node `arg` has a result */
    SIM_ITEM_DIAL_FAILED,
    SIM_ITEM_PROBED, /* a probe of node `arg` has a result */
    SIM_ITEM_TIMER,
    SIM_ITEM_WRITE, /* the process has more lines to write */
    SIM_ITEM_READ,  /* the process has read stdin up to frame `arg` */
    SIM_ITEM_CLOSE, /* the process closes its stdin */
    SIM_ITEM_TAKEN, /* the console has taken the record with cookie `arg`;
                       fields: view */
    SIM_ITEM_FEED,  /* there may be more stdin to send */
    SIM_ITEM_FAULT, /* fault number `arg` begins */
    SIM_ITEM_HEAL,  /* fault number `arg` ends */
    SIM_ITEM_LAUNCH_LIMIT, /* the launcher stops waiting for nodes */
    SIM_ITEM_TELL,         /* further job number `arg` of the configuration
                              begins */
    SIM_ITEM_KILL,         /* the job with index `arg` in sim_world.jobs is
                              killed */
    SIM_ITEM_EXIT,         /* process number `arg` of a further job ends */
    SIM_ITEM_PUSH,         /* a tool makes push number `era` to the job with
                              index `arg` in sim_world.jobs */
    SIM_ITEM_TIMEOUT,      /* the run reaches its time limit */
    SIM_ITEM_LATE,         /* the time limit for the run's end is reached */
    SIM_ITEM_KINDS
};

struct sim_item {
    uint64_t at_ns;
    union {
        struct sim_load *load; /* one reference */
        struct sim_view *view; /* one reference */
        uint64_t seq;          /* identifies the node that asked for a probe */
    } what;
    uint32_t node;
    uint32_t era; /* number of the connection */
    uint32_t arg;
    uint16_t link;
    uint8_t kind; /* enum sim_item_kind */
};

_Static_assert(sizeof(struct sim_item) <= 32, "sim_item outgrew its budget");

static inline bool sim_item_has_load(const struct sim_item *item)
{
    return item->kind == SIM_ITEM_ARRIVE || item->kind == SIM_ITEM_DELIVER;
}

enum { SIM_CHUNK_ITEMS = 31, SIM_DIGITS = 8, SIM_DIGIT_VALUES = 256 };

struct sim_chunk;

struct sim_queue {
    struct {
        struct sim_chunk *first, *last;
    } lists[SIM_DIGITS][SIM_DIGIT_VALUES];
    uint64_t used[SIM_DIGITS][SIM_DIGIT_VALUES / 64]; /* a bit for each list: it
                                                         is not empty */
    uint64_t now_ns;
    uint64_t count;
    uint64_t peak;
    struct sim_chunk *spare;
};

void sim_queue_init(struct sim_queue *queue);
/* Frees the memory. The caller must have dropped the references in items. */
void sim_queue_fini(struct sim_queue *queue);

/* Adds an item, whose time must not be before that of the last one popped. Ends
 * the program when out of memory. */
void sim_queue_push(struct sim_queue *queue, const struct sim_item *item);

/* Removes the first item and copies it to *item; false when there is none. */
bool sim_queue_pop(struct sim_queue *queue, struct sim_item *item);

#endif
