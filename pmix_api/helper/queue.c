/* What waits for one pull. */
#include "pmix_api/helper/queue.h"

#include <stdlib.h>
#include <string.h>

#include "overlay/base/err.h"

enum {
    LIMIT_MIN = 1 << 20,
    SPARE_BYTES = 1 << 20, /* of the file: kept for the ends of channels */
    KEPT_BYTES = 32 << 20, /* of it: for what is taken beyond the limit */
    END_BYTES = PX_OUTPUT_HEAD_BYTES + 4, /* what one takes of the file */
    HELD_MAX = 4 << 20,
    BUFFER_MAX = 1 << 20,
    CHANNELS = 3,
    LOOK_BYTES = 1 << 20, /* between two looks for what is held for long */
};

/* A channel. */
struct px_queue_cell {
    uint64_t dropped_bytes; /* before the first that waits */
    uint64_t refused_bytes; /* behind the last one */
    uint8_t *mem;           /* owned: being put together */
    uint32_t used_bytes, room_bytes;
    bool is_redirected; /* some of them */
    uint64_t due_ms;
    uint64_t since; /* so many bytes had gone before the first */
};

/* A packet that the file does not take. */
struct px_queue_spare {
    struct px_queue_spare *next; /* owned */
    uint32_t len_bytes;
    uint8_t mem[];
};

static int open_spool(struct px_queue *queue)
{
    const struct px_queue_cfg *cfg = &queue->cfg;
    uint64_t file = cfg->limit_bytes + SPARE_BYTES +
                    (cfg->keeps_redirected ? KEPT_BYTES : 0);

    return px_spool_open(&queue->spool, cfg->near_bytes, file, cfg->dir);
}

int px_queue_open(struct px_queue *queue, const struct px_queue_cfg *cfg)
{
    *queue = (struct px_queue){.cfg = *cfg};
    if (queue->cfg.limit_bytes < LIMIT_MIN)
        queue->cfg.limit_bytes = LIMIT_MIN;
    if (queue->cfg.buffer_bytes > BUFFER_MAX)
        queue->cfg.buffer_bytes = BUFFER_MAX;
    queue->out = malloc(PX_QUEUE_OUTPUT_MAX);
    if (queue->out != NULL && open_spool(queue) == 0)
        return 0;
    free(queue->out);
    queue->out = NULL;
    return OV_ENOMEM;
}

static void drop_spare(struct px_queue *queue)
{
    struct px_queue_spare *first = queue->spare;

    queue->spare = first->next;
    if (queue->spare == NULL)
        queue->spare_last = NULL;
    free(first);
}

static size_t cells_count(const struct px_queue *queue)
{
    return (size_t)queue->cfg.procs * CHANNELS;
}

void px_queue_close(struct px_queue *queue)
{
    if (queue->out == NULL)
        return;
    for (size_t i = 0; queue->cells != NULL && i < cells_count(queue); i++)
        free(queue->cells[i].mem);
    free(queue->cells);
    free(queue->out);
    while (queue->spare != NULL)
        drop_spare(queue);
    px_spool_close(&queue->spool);
    queue->cells = NULL;
    queue->out = NULL;
}

/* NULL when memory is out: then nothing is counted or put together. */
static struct px_queue_cell *cell_of(struct px_queue *queue,
                                     const struct px_output *o)
{
    if (queue->cells == NULL)
        queue->cells = calloc(cells_count(queue), sizeof(*queue->cells));
    if (queue->cells == NULL)
        return NULL;
    return &queue->cells[(size_t)(o->rank - queue->cfg.first) * CHANNELS +
                         o->channel - 1];
}

static void count_dropped(struct px_queue *queue, const struct px_output *o,
                          uint64_t bytes)
{
    struct px_queue_cell *cell = bytes > 0 ? cell_of(queue, o) : NULL;

    if (cell != NULL)
        cell->dropped_bytes += bytes;
    if (bytes > 0)
        queue->has_dropped = true;
}

static void count_refused(struct px_queue *queue, const struct px_output *o,
                          uint64_t bytes)
{
    struct px_queue_cell *cell = bytes > 0 ? cell_of(queue, o) : NULL;

    if (cell != NULL)
        cell->refused_bytes += bytes;
    if (bytes > 0)
        queue->has_dropped = true;
}

/* What is to be told with this output, which goes out, */
static void take_dropped(struct px_queue *queue, struct px_output *o)
{
    struct px_queue_cell *cell = queue->has_dropped ? cell_of(queue, o) : NULL;

    if (cell == NULL)
        return;
    o->dropped_bytes += cell->dropped_bytes;
    cell->dropped_bytes = 0;
}

/* or comes in. */
static void take_refused(struct px_queue *queue, struct px_output *o)
{
    struct px_queue_cell *cell = queue->has_dropped ? cell_of(queue, o) : NULL;

    if (cell == NULL)
        return;
    o->dropped_bytes += cell->refused_bytes;
    cell->refused_bytes = 0;
}

/* --- in */

static int put_spare(struct px_queue *queue, const uint8_t *head,
                     uint32_t head_bytes, const struct px_output *o)
{
    struct px_queue_spare *spare =
        malloc(sizeof(*spare) + head_bytes + o->len_bytes);

    if (spare == NULL)
        return OV_ENOMEM;
    spare->next = NULL;
    spare->len_bytes = head_bytes + o->len_bytes;
    memcpy(spare->mem, head, head_bytes);
    if (o->len_bytes > 0)
        memcpy(spare->mem + head_bytes, o->mem, o->len_bytes);
    if (queue->spare_last != NULL)
        queue->spare_last->next = spare;
    else
        queue->spare = spare;
    queue->spare_last = spare;
    queue->spare_bytes += o->len_bytes;
    return 0;
}

/* Nobody else has it. */
static bool is_kept(const struct px_queue *queue, const struct px_output *o)
{
    return o->is_redirected && queue->cfg.keeps_redirected;
}

static bool is_precious(const struct px_queue *queue, const struct px_output *o)
{
    return o->is_end || is_kept(queue, o);
}

/* A channel's own order stays: behind its end nothing comes, and where other
 * bytes are in memory all that follow go there, or are dropped. */
static int put(struct px_queue *queue, const struct px_output *o)
{
    uint8_t head[PX_OUTPUT_HEAD_BYTES];
    struct ov_wr wr = ov_wr_init(head, sizeof(head));
    int rc = OV_EFULL;

    px_output_encode_head(&wr, o);
    if (queue->spare_bytes == 0)
        rc = px_spool_put(&queue->spool, head, sizeof(head), o->mem,
                          o->len_bytes);
    if (rc == 0 && o->is_end)
        queue->filed_ends++;
    else if (rc != 0 && is_precious(queue, o))
        rc = put_spare(queue, head, sizeof(head), o);
    if (rc == 0) {
        queue->waiting_bytes += o->len_bytes;
        queue->stored_bytes += o->len_bytes;
        if (o->len_bytes > 0 && is_kept(queue, o))
            queue->kept_end = queue->stored_bytes;
    }
    return rc;
}

static uint32_t get_spare(struct px_queue *queue, uint8_t *mem)
{
    uint32_t len = queue->spare->len_bytes;

    memcpy(mem, queue->spare->mem, len);
    queue->spare_bytes -= len - PX_OUTPUT_HEAD_BYTES;
    drop_spare(queue);
    return len;
}

static bool get(struct px_queue *queue, uint8_t *mem, struct px_output *out)
{
    int len = px_spool_get(&queue->spool, mem, PX_QUEUE_PACKET_MAX);
    bool is_filed = len > 0;
    struct px_msg msg;
    struct ov_rd rd;

    if (!is_filed) {
        queue->waiting_bytes = queue->spare_bytes;
        queue->filed_ends = 0;
        if (queue->spare == NULL)
            return false;
        len = (int)get_spare(queue, mem);
    }
    rd = ov_rd_init(mem, (size_t)len);
    if (px_msg_decode(&rd, &msg) != 0)
        return false;
    *out = msg.output;
    queue->waiting_bytes -= out->len_bytes;
    queue->filed_ends -= is_filed && out->is_end;
    return true;
}

/* Many small outputs fill the file with their heads; but ends, which are not
 * dropped, leave the room that there is to others. */
static bool fills(const struct px_queue *queue, uint64_t bytes)
{
    return queue->spool.far.used_bytes > bytes + queue->filed_ends * END_BYTES;
}

static bool is_full(const struct px_queue *queue, uint32_t len_bytes)
{
    return queue->waiting_bytes + len_bytes > queue->cfg.limit_bytes ||
           fills(queue, queue->cfg.limit_bytes);
}

static uint64_t gone_bytes(const struct px_queue *queue)
{
    return queue->stored_bytes - queue->waiting_bytes;
}

/* The longest waiting goes, but for what nobody else has; an end of a channel,
 * behind which nothing comes of it, waits once more. */
static void drop_oldest(struct px_queue *queue, uint32_t len_bytes)
{
    uint8_t mem[PX_QUEUE_PACKET_MAX];
    struct px_output o;

    while (is_full(queue, len_bytes) && gone_bytes(queue) >= queue->kept_end &&
           get(queue, mem, &o)) {
        count_dropped(queue, &o,
                      o.dropped_bytes + o.before_bytes + o.len_bytes);
        o.len_bytes = 0;
        o.dropped_bytes = o.before_bytes = 0;
        if (o.is_end)
            put(queue, &o);
    }
}

static int put_bytes(struct px_queue *queue, const struct px_output *o)
{
    if (queue->cfg.drops_oldest)
        drop_oldest(queue, o->len_bytes);
    return is_full(queue, o->len_bytes) && !is_kept(queue, o) ? OV_EFULL
                                                              : put(queue, o);
}

void px_queue_put(struct px_queue *queue, const struct px_output *output)
{
    struct px_output o = *output;

    take_refused(queue, &o);
    o.is_end = false;
    if (o.len_bytes > 0) {
        if (put_bytes(queue, &o) != 0)
            count_refused(queue, &o, o.dropped_bytes + o.len_bytes);
        else
            o.before_bytes = 0;
        o.dropped_bytes = 0;
    }
    o.is_end = output->is_end;
    o.len_bytes = 0;
    if (o.is_end)
        take_refused(queue, &o);
    if ((o.is_end || o.dropped_bytes > 0 || o.before_bytes > 0) &&
        put(queue, &o) != 0)
        count_refused(queue, &o, o.dropped_bytes + o.before_bytes);
}

bool px_queue_has(const struct px_queue *queue, uint64_t bytes)
{
    return px_queue_bytes(queue) >= bytes || fills(queue, bytes);
}

/* --- out */

static void free_held(struct px_queue *queue, struct px_queue_cell *cell)
{
    queue->held_bytes -= cell->used_bytes;
    free(cell->mem);
    cell->mem = NULL;
    cell->used_bytes = cell->room_bytes = 0;
    cell->is_redirected = false;
}

static bool grow(struct px_queue_cell *cell, uint32_t need_bytes)
{
    uint32_t room = cell->room_bytes > 0 ? cell->room_bytes : 4096;
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

/* All that is held of a channel, then `o`, becomes `o`. */
static void join(struct px_queue *queue, struct px_queue_cell *cell,
                 struct px_output *o)
{
    uint32_t held = cell->used_bytes;

    if (held == 0)
        return;
    memcpy(queue->out, cell->mem, held);
    if (o->len_bytes > 0)
        memcpy(queue->out + held, o->mem, o->len_bytes);
    o->is_redirected |= cell->is_redirected;
    free_held(queue, cell);
    o->mem = queue->out;
    o->len_bytes += held;
}

/* These are the last bytes that were taken out. */
static void hold(struct px_queue *queue, struct px_queue_cell *cell,
                 uint64_t now_ms, const struct px_output *o, const void *mem,
                 uint32_t len_bytes)
{
    if (len_bytes == 0)
        return;
    if (cell->used_bytes == 0) {
        cell->due_ms = now_ms + queue->cfg.buffer_ms;
        cell->since = gone_bytes(queue) - len_bytes;
    }
    if (queue->held_bytes == 0)
        queue->held_since = queue->looked_at = cell->since;
    memcpy(cell->mem + cell->used_bytes, mem, len_bytes);
    cell->used_bytes += len_bytes;
    cell->is_redirected |= o->is_redirected;
    queue->held_bytes += len_bytes;
}

/* Bytes of an output behind its last newline. */
static uint32_t open_bytes(const struct px_output *o)
{
    uint32_t bytes = 0;

    while (bytes < o->len_bytes && o->mem[o->len_bytes - bytes - 1] != '\n')
        bytes++;
    return bytes;
}

/* The channel ends: so does its line. */
static void close_line(struct px_queue *queue, struct px_output *o)
{
    if (o->len_bytes == 0 || o->mem[o->len_bytes - 1] == '\n')
        return;
    if (o->mem != queue->out)
        memcpy(queue->out, o->mem, o->len_bytes);
    queue->out[o->len_bytes++] = '\n';
    o->mem = queue->out;
}

/* True when `o` is to go, with what was held before it; else it is held. */
static bool judge(struct px_queue *queue, uint64_t now_ms, struct px_output *o)
{
    struct px_queue_cell *cell;
    uint32_t together, open = 0;
    const uint8_t *mem = o->mem;

    if (queue->cfg.buffer_bytes == 0 && !queue->cfg.has_lines)
        return true;
    cell = cell_of(queue, o);
    if (cell == NULL)
        return true;
    together = cell->used_bytes + o->len_bytes;
    if (queue->cfg.has_lines)
        open = open_bytes(o);
    if (o->is_end || o->dropped_bytes > 0 || o->before_bytes > 0 ||
        together >= BUFFER_MAX ||
        (together >= queue->cfg.buffer_bytes && open == 0) ||
        queue->held_bytes + o->len_bytes > HELD_MAX || !grow(cell, together)) {
        join(queue, cell, o);
        if (queue->cfg.has_lines && o->is_end)
            close_line(queue, o);
        return true;
    }
    if (together < queue->cfg.buffer_bytes || open == o->len_bytes) {
        hold(queue, cell, now_ms, o, mem, o->len_bytes);
        return false;
    }
    o->len_bytes -= open;
    mem += o->len_bytes;
    join(queue, cell, o);
    if (grow(cell, open))
        hold(queue, cell, now_ms, o, mem, open);
    else
        count_dropped(queue, o, open);
    return true;
}

/* Among much that goes: which of it is held for longest? */
static void look(struct px_queue *queue)
{
    uint64_t gone = gone_bytes(queue);

    if (queue->held_bytes == 0 || gone - queue->looked_at < LOOK_BYTES)
        return;
    queue->looked_at = queue->held_since = gone;
    for (size_t i = 0; i < cells_count(queue); i++) {
        const struct px_queue_cell *cell = &queue->cells[i];

        if (cell->used_bytes > 0 && cell->since < queue->held_since)
            queue->held_since = cell->since;
    }
}

static bool is_spanned(const struct px_queue *queue, uint64_t since)
{
    return queue->cfg.span_bytes > 0 &&
           gone_bytes(queue) - since > queue->cfg.span_bytes;
}

static bool is_due(const struct px_queue *queue,
                   const struct px_queue_cell *cell, uint64_t now_ms)
{
    return (queue->cfg.buffer_ms > 0 && now_ms >= cell->due_ms) ||
           is_spanned(queue, cell->since);
}

/* What has been held long enough, or all. */
static bool get_held(struct px_queue *queue, uint64_t now_ms, bool all,
                     struct px_output *out)
{
    if (queue->held_bytes == 0 || (!all && queue->cfg.buffer_ms == 0 &&
                                   !is_spanned(queue, queue->held_since)))
        return false;
    for (size_t i = 0; i < cells_count(queue); i++) {
        struct px_queue_cell *cell = &queue->cells[i];

        if (cell->used_bytes == 0 || (!all && !is_due(queue, cell, now_ms)))
            continue;
        *out = (struct px_output){.rank = queue->cfg.first +
                                          (uint32_t)(i / CHANNELS),
                                  .channel = (uint8_t)(1 + i % CHANNELS)};
        join(queue, cell, out);
        return true;
    }
    return false;
}

bool px_queue_get(struct px_queue *queue, uint64_t now_ms, bool all,
                  uint8_t *mem, struct px_output *out)
{
    while (get(queue, mem, out)) {
        if (queue->cfg.drops_oldest)
            take_dropped(queue, out);
        if (judge(queue, now_ms, out))
            return true;
    }
    look(queue);
    return get_held(queue, now_ms, all, out);
}

uint64_t px_queue_due_ms(const struct px_queue *queue)
{
    uint64_t due = 0;

    if (queue->held_bytes == 0 || queue->cfg.buffer_ms == 0)
        return 0;
    for (size_t i = 0; i < cells_count(queue); i++) {
        const struct px_queue_cell *cell = &queue->cells[i];

        if (cell->used_bytes > 0 && (due == 0 || cell->due_ms < due))
            due = cell->due_ms;
    }
    return due;
}
