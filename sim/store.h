/* Frames without their payload.
 *
 * A load is the content of a frame: its real head bytes and, instead of the
 * payload, extents, which say which bytes of which source the payload would be.
 * A load does not change after it was sent, and all nodes that have the frame
 * share it.
 *
 * A view is a buffer of one node, through which the core sees a load. It counts
 * as held by its node from its arrival until its last reference is dropped, so
 * the checks know at any time what a node holds.
 *
 * Memory is taken from slabs, one kind for each size, and returned to them.
 * When out of memory the program ends.
 */
#ifndef SIM_STORE_H
#define SIM_STORE_H

#include <stddef.h>
#include <stdint.h>

#include "overlay/base/buf.h"
#include "sim/model.h"

/* Bytes offset .. offset + len of the source `key`: the standard output of node
 * `key`, the launcher's stdin, or a message of the drivers. */
struct sim_extent {
    uint64_t offset;
    uint32_t key;
    uint32_t len_bytes;
};

/* Keys of sources other than nodes. */
#define SIM_KEY_STDIN UINT32_C(0xffffffff) /* bytes of the launcher's stdin */
#define SIM_KEY_WORD  UINT32_C(0xfffffffe) /* a message, kept as the offset */

struct sim_load {
    uint32_t refs;
    uint32_t head_bytes; /* how many real bytes there are, in head[] */
    uint32_t len_bytes;  /* length of the whole frame */
    uint16_t extents;    /* how many extents are used; they cover the bytes
                            after the head */
    uint16_t extents_max;
    uint32_t head_max;
    uint8_t size; /* index of the slab size */
    uint8_t *head;
    struct sim_extent extent[];
};

/* As what a view counts at the node that holds it. */
enum sim_held {
    SIM_HELD_OWN,     /* records of the node itself */
    SIM_HELD_UP,      /* frames of children */
    SIM_HELD_CONTROL, /* frames of stream 0 */
    SIM_HELD_STDIN,   /* frames of stream 1 */
    SIM_HELD_PUSHED,  /* frames of stream 2 */
    SIM_HELD_LINK,    /* items between neighbours */
    SIM_HELD_KINDS
};

struct sim_view {
    struct ov_buf buf; /* must be first: the core knows the view by its buf */
    struct sim_load *load;
    uint32_t owner;
    uint32_t from; /* UP: the child that sent the frame */
    uint32_t era;  /* UP: the connection on which it came */
    uint32_t len_bytes;
    uint16_t link; /* UP: the link slot of that connection */
    uint8_t held;  /* enum sim_held */
};

enum { SIM_SIZES = 16, SIM_SIZE_LEAST = 64 };

struct sim_slab;

struct sim_store {
    void *free[SIM_SIZES]; /* free loads of each size: 64 bytes, 128 ... */
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

/* Makes a load with one reference, and with room for this many head bytes and
 * extents; all its lengths are 0. */
struct sim_load *sim_load_new(struct sim_store *store, uint32_t head_max,
                              uint16_t extents_max);
void sim_load_put(struct sim_store *store, struct sim_load *load);

/* Appends payload. An extent that continues the last one is joined with it. */
void sim_load_add(struct sim_load *load, struct sim_extent extent);

/* Appends a part of another load's payload: the bytes off .. off + len of its
 * frame, none of which belong to its head. */
void sim_load_copy(struct sim_load *to, const struct sim_load *from,
                   uint32_t off_bytes, uint32_t len_bytes);

/* How many extents the part off .. off + len of the frame touches. */
uint16_t sim_load_touched(const struct sim_load *load, uint32_t off_bytes,
                          uint32_t len_bytes);

/* Makes a view with one reference; the load's reference passes to it. */
struct sim_view *sim_view_new(struct sim_store *store, struct sim_load *load,
                              uint32_t owner, enum sim_held held);
/* Frees a view, whose last reference was dropped. */
void sim_view_free(struct sim_store *store, struct sim_view *view);

/* The stream of the frame in the view; SIM_STREAMS when it is no frame of a
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
