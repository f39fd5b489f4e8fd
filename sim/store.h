/* Frames without their payload.
 *
 * A load is the content of a frame: its head bytes as they are, then extents
 * instead of the payload, which say what bytes of which stream it would be. A
 * load does not change once it was sent, and is shared by all nodes that have
 * the frame.
 *
 * A view is a buffer of one node, through which the core sees a load. It is
 * charged to its node from its arrival until its last reference is dropped, so
 * it is known at any time what a node holds.
 *
 * Memory comes from slabs by size and returns to them; nothing is allocated
 * after the largest numbers were reached. When memory is out the program ends.
 */
#ifndef SIM_STORE_H
#define SIM_STORE_H

#include <stddef.h>
#include <stdint.h>

#include "overlay/base/buf.h"
#include "sim/model.h"

/* Bytes offset .. offset + len of the stream `key`: the standard output of node
 * `key`, the launcher's stdin, or a message of the drivers. */
struct sim_extent {
    uint64_t offset;
    uint32_t key;
    uint32_t len_bytes;
};

/* Keys that are not node numbers. */
#define SIM_KEY_STDIN UINT32_C(0xffffffff) /* bytes of the launcher's stdin */
#define SIM_KEY_WORD  UINT32_C(0xfffffffe) /* offset is the message */

struct sim_load {
    uint32_t refs;
    uint32_t head_bytes; /* of real bytes, in head[] */
    uint32_t len_bytes;  /* of the frame */
    uint16_t extents;    /* how many are used; they cover len - head bytes */
    uint16_t extents_max;
    uint32_t head_max;
    uint8_t size; /* index of the slab size */
    uint8_t *head;
    struct sim_extent extent[];
};

/* What a view counts as, at the node that holds it. */
enum sim_held {
    SIM_HELD_OWN,     /* records of the node itself */
    SIM_HELD_UP,      /* frames of children */
    SIM_HELD_CONTROL, /* frames of stream 0 */
    SIM_HELD_STDIN,   /* frames of stream 1 */
    SIM_HELD_PUSHED,  /* frames of stream 2 */
    SIM_HELD_LINK,    /* words between neighbours */
    SIM_HELD_KINDS
};

struct sim_view {
    struct ov_buf buf; /* must be first: the core returns this */
    struct sim_load *load;
    uint32_t owner;
    uint32_t from; /* UP: the child it came from, */
    uint32_t era;  /* the connection it came over, */
    uint32_t len_bytes;
    uint16_t link; /* and the slot of that */
    uint8_t held;  /* enum sim_held */
};

enum { SIM_SIZES = 12, SIM_SIZE_LEAST = 64 };

struct sim_slab;

struct sim_store {
    void *free[SIM_SIZES]; /* loads, by size: 64 bytes, 128 ... */
    struct sim_view *views;
    struct sim_slab *slabs;
    uint8_t *room;
    size_t room_bytes;
    uint64_t loads_live;
    uint64_t views_live;
    uint64_t memory_bytes;
};

void sim_store_init(struct sim_store *store);
void sim_store_fini(struct sim_store *store);

/* Makes a load with one reference and room for this much; all lengths are 0. */
struct sim_load *sim_load_new(struct sim_store *store, uint32_t head_max,
                              uint16_t extents_max);
void sim_load_put(struct sim_store *store, struct sim_load *load);

/* Adds payload; it joins the last extent if it continues that. */
void sim_load_add(struct sim_load *load, struct sim_extent extent);

/* Adds part of the payload of another load: bytes off .. off + len of its
 * frame, all after its head. */
void sim_load_copy(struct sim_load *to, const struct sim_load *from,
                   uint32_t off_bytes, uint32_t len_bytes);

/* How many extents such a part touches. */
uint16_t sim_load_touched(const struct sim_load *load, uint32_t off_bytes,
                          uint32_t len_bytes);

/* Makes a view with one reference; the load's reference passes to it. */
struct sim_view *sim_view_new(struct sim_store *store, struct sim_load *load,
                              uint32_t owner, enum sim_held held);
/* Frees a view whose last reference was dropped. */
void sim_view_free(struct sim_store *store, struct sim_view *view);

/* The stream that the view is a frame of; SIM_STREAMS: not a frame of a
 * stream. */
static inline uint32_t sim_view_stream(const struct sim_view *view)
{
    return view->held < SIM_HELD_CONTROL || view->held > SIM_HELD_PUSHED
               ? SIM_STREAMS
               : view->held - (uint32_t)SIM_HELD_CONTROL;
}

static inline struct sim_view *sim_view_of(struct ov_buf *buf)
{
    return (struct sim_view *)buf;
}

#endif
