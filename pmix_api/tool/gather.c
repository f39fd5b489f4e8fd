/* Output that is put together. */
#include "pmix_api/tool/gather.h"

#include <stdlib.h>
#include <string.h>

#include "overlay/base/err.h"

enum {
    CHANNELS = 3,
    ROOM_BYTES = 4096, /* of a channel at first */
    SIZE_MAX_BYTES = PX_LIB_BYTES_MAX - PX_GATHER_PIECE_BYTES,
};

struct cell {
    uint8_t *mem; /* owned; NULL: nothing is held */
    uint32_t used_bytes, room_bytes;
    uint64_t due_ms;
    struct cell *next, *last; /* held since later, and before */
};

struct px_gather {
    uint32_t size_bytes;
    uint64_t time_ms;
    uint64_t held_bytes;
    uint32_t procs;
    struct cell *first, *end; /* held for longest, and since last */
    uint8_t *gone;            /* owned: what goes */
    struct cell cells[];      /* [procs * CHANNELS], where some is held */
};

int px_gather_open(uint32_t procs, uint64_t size_bytes, uint64_t time_ms,
                   struct px_gather **out)
{
    const size_t cells = size_bytes > 0 ? (size_t)procs * CHANNELS : 0;
    struct px_gather *gather =
        calloc(1, sizeof(*gather) + cells * sizeof(gather->cells[0]));

    *out = gather;
    if (gather == NULL)
        return OV_ENOMEM;
    gather->size_bytes =
        size_bytes < SIZE_MAX_BYTES ? (uint32_t)size_bytes : SIZE_MAX_BYTES;
    gather->time_ms = time_ms;
    gather->procs = procs;
    return 0;
}

void px_gather_close(struct px_gather *gather)
{
    if (gather == NULL)
        return;
    for (struct cell *at = gather->first; at != NULL; at = at->next)
        free(at->mem);
    free(gather->gone);
    free(gather);
}

/* --- a channel */

static struct cell *cell_of(struct px_gather *gather,
                            const struct px_lib_output *piece)
{
    const unsigned channel = (unsigned)__builtin_ctz(piece->channel) - 1;

    return &gather->cells[(size_t)piece->rank * CHANNELS + channel];
}

static bool grow(struct cell *cell, uint32_t need_bytes)
{
    uint32_t room = cell->room_bytes > 0 ? cell->room_bytes : ROOM_BYTES;
    uint8_t *mem;

    while (room < need_bytes)
        room *= 2;
    if (room == cell->room_bytes)
        return true;
    mem = realloc(cell->mem, room);
    if (mem == NULL)
        return false;
    cell->mem = mem;
    cell->room_bytes = room;
    return true;
}

static void link_cell(struct px_gather *gather, struct cell *cell)
{
    cell->next = NULL;
    cell->last = gather->end;
    if (gather->end != NULL)
        gather->end->next = cell;
    else
        gather->first = cell;
    gather->end = cell;
}

static void unlink_cell(struct px_gather *gather, struct cell *cell)
{
    if (cell->last != NULL)
        cell->last->next = cell->next;
    else
        gather->first = cell->next;
    if (cell->next != NULL)
        cell->next->last = cell->last;
    else
        gather->end = cell->last;
}

static void hold(struct px_gather *gather, struct cell *cell,
                 const struct px_lib_output *piece, uint64_t now_ms)
{
    if (piece->len_bytes == 0)
        return;
    if (cell->used_bytes == 0) {
        cell->due_ms = now_ms + gather->time_ms;
        link_cell(gather, cell);
    }
    memcpy(cell->mem + cell->used_bytes, piece->mem, piece->len_bytes);
    cell->used_bytes += (uint32_t)piece->len_bytes;
    gather->held_bytes += piece->len_bytes;
}

/* All that is held of it goes as *out. */
static void let_go(struct px_gather *gather, struct cell *cell,
                   struct px_lib_output *out)
{
    free(gather->gone);
    gather->gone = cell->mem;
    out->mem = cell->mem;
    out->len_bytes = cell->used_bytes;
    gather->held_bytes -= cell->used_bytes;
    unlink_cell(gather, cell);
    *cell = (struct cell){.mem = NULL};
}

/* --- in and out */

enum px_gather_verdict px_gather_put(struct px_gather *gather,
                                     const struct px_lib_output *piece,
                                     uint64_t now_ms, struct px_lib_output *out)
{
    struct cell *cell;
    uint32_t together;

    *out = *piece;
    if (gather->size_bytes == 0)
        return PX_GATHER_GOES;
    cell = cell_of(gather, piece);
    together = cell->used_bytes + (uint32_t)piece->len_bytes;
    if (cell->used_bytes > 0 &&
        (piece->dropped_bytes > 0 || piece->before_bytes > 0 ||
         !grow(cell, together))) {
        out->is_end = false;
        out->dropped_bytes = out->before_bytes = 0;
        let_go(gather, cell, out);
        return PX_GATHER_FIRST;
    }
    if (cell->used_bytes == 0 &&
        (piece->is_end || piece->dropped_bytes > 0 || piece->before_bytes > 0 ||
         together >= gather->size_bytes ||
         gather->held_bytes + together > PX_GATHER_HELD_BYTES ||
         !grow(cell, together)))
        return PX_GATHER_GOES;
    hold(gather, cell, piece, now_ms);
    if (!piece->is_end && together < gather->size_bytes &&
        gather->held_bytes <= PX_GATHER_HELD_BYTES)
        return PX_GATHER_HELD;
    let_go(gather, cell, out);
    return PX_GATHER_GOES;
}

bool px_gather_get(struct px_gather *gather, uint64_t now_ms, bool all,
                   struct px_lib_output *out)
{
    struct cell *cell = gather->first;
    const uint64_t due_ms = px_gather_due_ms(gather);
    size_t nth;

    if (cell == NULL || (!all && (due_ms == 0 || due_ms > now_ms)))
        return false;
    nth = (size_t)(cell - gather->cells);
    *out = (struct px_lib_output){.rank = (uint32_t)(nth / CHANNELS),
                                  .channel =
                                      (uint16_t)(1u << (1 + nth % CHANNELS))};
    let_go(gather, cell, out);
    return true;
}

uint64_t px_gather_due_ms(const struct px_gather *gather)
{
    return gather->first != NULL && gather->time_ms > 0 ? gather->first->due_ms
                                                        : 0;
}

bool px_gather_is_empty(const struct px_gather *gather)
{
    return gather->first == NULL;
}
