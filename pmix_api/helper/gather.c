/* Gathers output into larger pieces. */
#include "pmix_api/helper/gather.h"

#include <stdlib.h>
#include <string.h>

#include "overlay/base/err.h"

enum {
    CHANNELS = 3,
    ROOM_BYTES = 4096, /* the memory that a channel gets at first */
    SIZE_MAX_BYTES = PX_LIB_BYTES_MAX - PX_GATHER_PIECE_BYTES,
};

struct cell {
    uint8_t *mem; /* owned; NULL: nothing is held */
    uint32_t used_bytes, room_bytes;
    uint64_t due_ms;
    /* Next: the channel whose bytes are held since a later time; last: an
     * earlier time. */
    struct cell *next, *last;
};

struct px_gather {
    struct px_gather_cfg cfg;
    uint64_t held_bytes;
    struct cell *first, *end; /* the channels whose bytes are held for the
                                 longest and the shortest time */
    uint8_t *gone;            /* owned: the bytes that the last call released */
    /* [procs * CHANNELS]; the channels with held bytes are linked in a list. */
    struct cell cells[];
};

int px_gather_open(const struct px_gather_cfg *cfg, struct px_gather **out)
{
    const size_t cells = cfg->size_bytes > 0 || cfg->has_lines
                             ? (size_t)cfg->procs * CHANNELS
                             : 0;
    struct px_gather *gather =
        calloc(1, sizeof(*gather) + cells * sizeof(gather->cells[0]));

    *out = gather;
    if (gather == NULL)
        return OV_ENOMEM;
    gather->cfg = *cfg;
    if (gather->cfg.size_bytes > SIZE_MAX_BYTES)
        gather->cfg.size_bytes = SIZE_MAX_BYTES;
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
        cell->due_ms = now_ms + gather->cfg.time_ms;
        link_cell(gather, cell);
    }
    memcpy(cell->mem + cell->used_bytes, piece->mem, piece->len_bytes);
    cell->used_bytes += (uint32_t)piece->len_bytes;
    gather->held_bytes += piece->len_bytes;
}

/* Releases, in *out, all bytes that are held of the channel. */
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

/* The number of bytes after the last newline. */
static uint32_t open_bytes(const struct px_lib_output *piece)
{
    const uint8_t *mem = piece->mem;
    uint32_t bytes = 0;

    while (bytes < piece->len_bytes &&
           mem[piece->len_bytes - bytes - 1] != '\n')
        bytes++;
    return bytes;
}

/* Appends a newline to the held bytes, if they do not end with one; there is
 * room for it. */
static void close_line(struct px_gather *gather, struct cell *cell)
{
    if (cell->used_bytes == 0 || cell->mem[cell->used_bytes - 1] == '\n')
        return;
    cell->mem[cell->used_bytes++] = '\n';
    gather->held_bytes++;
}

/* Keeps the last `open` bytes of a piece whose other bytes are released, as the
 * beginning of the next line. */
static void keep_open(struct px_gather *gather, struct cell *cell,
                      const struct px_lib_output *piece, uint32_t open,
                      uint64_t now_ms)
{
    const struct px_lib_output rest = {.mem = (const uint8_t *)piece->mem +
                                              piece->len_bytes - open,
                                       .len_bytes = open};

    hold(gather, cell, &rest, now_ms);
}

/* --- putting and getting */

/* How many bytes of the channel must still be held after the piece was added to
 * them. */
static uint32_t waiting(const struct px_gather *gather,
                        const struct px_lib_output *piece, uint32_t together)
{
    const uint32_t len_bytes = (uint32_t)piece->len_bytes;

    if (piece->is_end || together >= SIZE_MAX_BYTES ||
        gather->held_bytes + len_bytes > PX_GATHER_HELD_BYTES)
        return 0;
    if (together < gather->cfg.size_bytes)
        return len_bytes;
    return gather->cfg.has_lines ? open_bytes(piece) : 0;
}

/* True when the piece can be released unchanged: no bytes of its channel are
 * held, or have to be held after it. */
static bool goes_by(const struct px_gather *gather, const struct cell *cell,
                    const struct px_lib_output *piece, uint32_t waits)
{
    const bool ends_open =
        gather->cfg.has_lines && piece->is_end && open_bytes(piece) > 0;

    return cell->used_bytes == 0 &&
           (piece->dropped_bytes > 0 || piece->before_bytes > 0 ||
            (waits == 0 && !ends_open));
}

enum px_gather_verdict px_gather_put(struct px_gather *gather,
                                     const struct px_lib_output *piece,
                                     uint64_t now_ms, struct px_lib_output *out)
{
    struct cell *cell, next = {.mem = NULL};
    uint32_t together, waits;

    *out = *piece;
    if (gather->cfg.size_bytes == 0 && !gather->cfg.has_lines)
        return PX_GATHER_GOES;
    cell = cell_of(gather, piece);
    together = cell->used_bytes + (uint32_t)piece->len_bytes;
    waits = waiting(gather, piece, together);
    if (goes_by(gather, cell, piece, waits))
        return PX_GATHER_GOES;
    if (piece->dropped_bytes > 0 || piece->before_bytes > 0 ||
        !grow(cell, together + 1) ||
        (waits > 0 && waits < piece->len_bytes && !grow(&next, waits))) {
        if (cell->used_bytes == 0)
            return PX_GATHER_GOES;
        out->is_end = false;
        out->dropped_bytes = out->before_bytes = 0;
        let_go(gather, cell, out);
        return PX_GATHER_FIRST;
    }
    hold(gather, cell, piece, now_ms);
    if (waits == piece->len_bytes && !piece->is_end)
        return PX_GATHER_HELD;
    if (gather->cfg.has_lines && piece->is_end)
        close_line(gather, cell);
    cell->used_bytes -= waits;
    gather->held_bytes -= waits;
    let_go(gather, cell, out);
    *cell = next;
    keep_open(gather, cell, piece, waits, now_ms);
    return PX_GATHER_GOES;
}

bool px_gather_get(struct px_gather *gather, uint64_t now_ms, bool all,
                   struct px_lib_output *out)
{
    struct cell *cell = gather->first;
    const uint64_t due_ms = px_gather_due_ms(gather);

    if (cell == NULL || (!all && (due_ms == 0 || due_ms > now_ms)))
        return false;
    (void)px_gather_peek(gather, out);
    let_go(gather, cell, out);
    return true;
}

bool px_gather_peek(const struct px_gather *gather, struct px_lib_output *out)
{
    size_t nth;

    if (gather->first == NULL)
        return false;
    nth = (size_t)(gather->first - gather->cells);
    *out = (struct px_lib_output){.rank = (uint32_t)(nth / CHANNELS),
                                  .channel =
                                      (uint16_t)(1u << (1 + nth % CHANNELS))};
    return true;
}

bool px_gather_take(struct px_gather *gather, uint32_t rank, uint16_t channel,
                    struct px_lib_output *out)
{
    *out = (struct px_lib_output){.rank = rank, .channel = channel};
    if (gather->first == NULL || cell_of(gather, out)->used_bytes == 0)
        return false;
    let_go(gather, cell_of(gather, out), out);
    return true;
}

uint64_t px_gather_due_ms(const struct px_gather *gather)
{
    return gather->first != NULL && gather->cfg.time_ms > 0
               ? gather->first->due_ms
               : 0;
}

bool px_gather_is_empty(const struct px_gather *gather)
{
    return gather->first == NULL;
}
