/* Frames without their payload.
 *
 * A load is the content of a frame: its head bytes as they are, then extents
 * in place of payload: which bytes of whose stream they would be. It does not
 * change once it was sent and is shared by all who have the frame.
 *
 * A view is a buffer of one node: what the core sees of a load. Its owner pays
 * for it from the moment it arrives until the last reference goes, so what a
 * node holds is known at any time.
 *
 * Memory comes from slabs by size and goes back to them; nothing is allocated
 * once the largest numbers were there. Memory that is out ends the program.
 */
#ifndef SIM_STORE_H
#define SIM_STORE_H

#include <stddef.h>
#include <stdint.h>

#include "overlay/base/buf.h"
#include "sim/model.h"

/* Bytes offset .. offset + len of the stream called key: the standard output
 * of node `key`, or a word of the drivers when key has SIM_KEY_WORD. */
struct sim_extent {
    uint64_t offset;
    uint32_t key;
    uint32_t len_bytes;
};

/* Keys beside the node numbers. */
#define SIM_KEY_STDIN UINT32_C(0xffffffff) /* bytes of the launcher's stdin */
#define SIM_KEY_WORD  UINT32_C(0xfffffffe) /* offset is the word */

struct sim_load {
    uint32_t refs;
    uint32_t head_bytes; /* real ones, in head[] */
    uint32_t len_bytes;  /* of the frame */
    uint16_t extents;    /* in use; they cover len - head bytes */
    uint16_t extents_max;
    uint32_t head_max;
    uint8_t size; /* of the slab */
    uint8_t *head;
    struct sim_extent extent[];
};

/* What a view counts as where it is held. */
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
    struct ov_buf buf; /* first: the core hands it back */
    struct sim_load *load;
    uint32_t owner;
    uint32_t from; /* UP: the child it came from, */
    uint32_t era;  /* over this connection, */
    uint32_t len_bytes;
    uint16_t link; /* at this slot */
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

/* A load with one reference and room for so much; all lengths are 0. */
struct sim_load *sim_load_new(struct sim_store *store, uint32_t head_max,
                              uint16_t extents_max);
void sim_load_put(struct sim_store *store, struct sim_load *load);

/* Adds payload; what continues the last extent joins it. */
void sim_load_add(struct sim_load *load, struct sim_extent extent);

/* Adds part of the payload of another load: bytes off .. off + len of its
 * frame, which lie behind its head. */
void sim_load_copy(struct sim_load *to, const struct sim_load *from,
                   uint32_t off_bytes, uint32_t len_bytes);

/* Extents that such a part touches. */
uint16_t sim_load_touched(const struct sim_load *load, uint32_t off_bytes,
                          uint32_t len_bytes);

/* A view with one reference; the load's reference passes to it. */
struct sim_view *sim_view_new(struct sim_store *store, struct sim_load *load,
                              uint32_t owner, enum sim_held held);
/* The last reference is gone. */
void sim_view_free(struct sim_store *store, struct sim_view *view);

/* The stream of which it is a frame; SIM_STREAMS: of none. */
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
