/* Allocates loads and views from slabs. */
#include "sim/store.h"

#include <stdlib.h>
#include <string.h>

#include "overlay/base/panic.h"

enum { SLAB_BYTES = 256 * 1024 };

struct sim_slab {
    struct sim_slab *next;
    uint64_t spare;
    uint8_t mem[];
};

void sim_store_init(struct sim_store *store)
{
    memset(store, 0, sizeof(*store));
}

void sim_store_fini(struct sim_store *store)
{
    while (store->slabs != NULL) {
        struct sim_slab *slab = store->slabs;

        store->slabs = slab->next;
        free(slab);
    }
}

static void *take_block(struct sim_store *store, size_t bytes)
{
    void *mem;

    bytes = (bytes + 15) & ~(size_t)15;
    if (store->room_bytes < bytes) {
        size_t slab_bytes = bytes > SLAB_BYTES ? bytes : SLAB_BYTES;
        struct sim_slab *slab = malloc(sizeof(*slab) + slab_bytes);

        OV_ASSERT(slab != NULL);
        slab->next = store->slabs;
        store->slabs = slab;
        store->room = slab->mem;
        store->room_bytes = slab_bytes;
        store->memory_bytes += slab_bytes;
    }
    mem = store->room;
    store->room += bytes;
    store->room_bytes -= bytes;
    return mem;
}

/* --- loads */

static size_t size_bytes(unsigned size)
{
    return (size_t)SIM_SIZE_LEAST << size;
}

struct sim_load *sim_load_new(struct sim_store *store, uint32_t head_max,
                              uint16_t extents_max)
{
    size_t bytes = sizeof(struct sim_load) + head_max +
                   extents_max * sizeof(struct sim_extent);
    struct sim_load *load;
    unsigned size = 0;

    while (size_bytes(size) < bytes)
        size++;
    OV_ASSERT(size < SIM_SIZES);
    load = store->free[size];
    if (load != NULL)
        memcpy(&store->free[size], load, sizeof(void *));
    else
        load = take_block(store, size_bytes(size));
    *load = (struct sim_load){.refs = 1,
                              .extents_max = extents_max,
                              .head_max = head_max,
                              .size = (uint8_t)size};
    load->head = (uint8_t *)(load->extent + extents_max);
    store->loads_live++;
    return load;
}

void sim_load_put(struct sim_store *store, struct sim_load *load)
{
    OV_ASSERT(load->refs > 0);
    if (--load->refs > 0)
        return;
    unsigned size = load->size;

    memcpy(load, &store->free[size], sizeof(void *));
    store->free[size] = load;
    store->loads_live--;
}

void sim_load_add(struct sim_load *load, struct sim_extent extent)
{
    struct sim_extent *last =
        load->extents > 0 ? &load->extent[load->extents - 1] : NULL;

    load->len_bytes += extent.len_bytes;
    if (last != NULL && last->key == extent.key && extent.key != SIM_KEY_WORD &&
        last->offset + last->len_bytes == extent.offset) {
        last->len_bytes += extent.len_bytes;
        return;
    }
    OV_ASSERT(load->extents < load->extents_max);
    load->extent[load->extents++] = extent;
}

void sim_load_copy(struct sim_load *to, const struct sim_load *from,
                   uint32_t off_bytes, uint32_t len_bytes)
{
    uint32_t skip = off_bytes - from->head_bytes;

    OV_ASSERT(off_bytes >= from->head_bytes);
    for (uint16_t i = 0; i < from->extents && len_bytes > 0; i++) {
        struct sim_extent part = from->extent[i];

        if (skip >= part.len_bytes) {
            skip -= part.len_bytes;
            continue;
        }
        part.offset += part.key == SIM_KEY_WORD ? 0 : skip;
        part.len_bytes -= skip;
        skip = 0;
        if (part.len_bytes > len_bytes)
            part.len_bytes = len_bytes;
        len_bytes -= part.len_bytes;
        sim_load_add(to, part);
    }
    OV_ASSERT(len_bytes == 0);
}

uint16_t sim_load_touched(const struct sim_load *load, uint32_t off_bytes,
                          uint32_t len_bytes)
{
    uint32_t at = load->head_bytes;
    uint16_t touched = 0;

    for (uint16_t i = 0; i < load->extents; i++) {
        uint32_t end = at + load->extent[i].len_bytes;

        touched = (uint16_t)(touched +
                             (at < off_bytes + len_bytes && end > off_bytes));
        at = end;
    }
    return touched;
}

/* --- views */

struct sim_view *sim_view_new(struct sim_store *store, struct sim_load *load,
                              uint32_t owner, enum sim_held held)
{
    struct sim_view *view = store->views;

    if (view != NULL)
        store->views = (struct sim_view *)view->buf.next;
    else
        view = take_block(store, sizeof(*view));
    *view = (struct sim_view){
        .buf = {.mem = load->head,
                .cap_bytes = load->head_max,
                .len_bytes = load->len_bytes,
                .refs = 1},
        .load = load,
        .owner = owner,
        .len_bytes = load->len_bytes,
        .held = (uint8_t)held,
    };
    store->views_live++;
    return view;
}

void sim_view_free(struct sim_store *store, struct sim_view *view)
{
    OV_ASSERT(view->buf.refs == 0);
    sim_load_put(store, view->load);
    view->buf.next = (struct ov_buf *)store->views;
    store->views = view;
    store->views_live--;
}
