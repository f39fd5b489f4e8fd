/* Chunks of memory, places in a file, and a thread that moves bytes between
 * them.
 *
 * A tail that is being saved belongs to the thread: until that is done, no
 * bytes are added to the tail or taken from it. When the tail is dropped
 * meanwhile, its entry in `saves` stays.
 */
#include "config.h"

#include "endpoints/daemon/tails.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "endpoints/sys/spool_file.h"
#include "endpoints/sys/writer.h"
#include "overlay/base/err.h"
#include "overlay/base/panic.h"

enum {
    /* Number of chunks of the longest line. */
    LINE_CHUNKS = EP_TAIL_BYTES_MAX / EP_CHUNK_BYTES + 2,
    SAVES_MAX = 1024,
    NONE = UINT32_MAX,
};

enum tail_wait { WAIT_NOT, WAIT_ROOM, WAIT_READ };

enum cookie {
    COOKIE_SAVE,
    COOKIE_EMPTY,
    COOKIE_READ /* cookie of slot 0; the number of the slot is added */
};

/* A tail that the thread is writing or has written. */
struct save {
    struct ep_tail *tail; /* borrowed; NULL: it was dropped */
    struct ep_chain chain;
    uint32_t place;
    uint64_t off_bytes;
};

enum slot_state { SLOT_FREE, SLOT_LOADING, SLOT_READY, SLOT_BAD };

/* Memory for a tail that is read back from the file. */
struct slot {
    struct ep_tails *tails;
    struct ep_tail *tail; /* borrowed; NULL while loading: it was dropped */
    uint8_t *mem;         /* owned, made when it is first used */
    uint64_t off_bytes;
    uint32_t len_bytes;
    enum slot_state state;
    int err;
};

struct ep_tails {
    struct ep_tails_cfg cfg;
    struct ep_spool_file file; /* used by the thread */
    struct ep_sink *sink;
    /* Tails that may be saved, the oldest first. */
    TAILQ_HEAD(tail_list, ep_tail) open;
    /* Tails that wait for room (WAIT_ROOM), while saves_count > 0. */
    struct tail_list waiting;
    struct tail_list reading; /* tails in WAIT_READ that have no slot */
    struct ep_chunks chunks;
    uint32_t *spare; /* owned [spare_room]: places of the file that are free */
    uint32_t spare_room;
    uint32_t spare_count;
    uint32_t places_made;
    uint64_t cuts;
    int err;            /* errno for which the file cannot be used; 0: it can */
    uint8_t *scratch;   /* owned, for the thread: room for one tail */
    struct save *saves; /* owned [SAVES_MAX] */
    uint32_t saves_count;
    uint32_t saves_done; /* set by the thread when it answers */
    struct slot slots[EP_TAILS_READS];
};

/* --- the thread
 * */

static int save_main(void *arg)
{
    struct ep_tails *tails = arg;
    int err = 0;

    for (uint32_t i = 0; i < tails->saves_count; i++) {
        const struct save *save = &tails->saves[i];

        ep_chain_copy(&tails->chunks, &save->chain, tails->scratch);
        err = ep_spool_file_write(&tails->file, tails->scratch,
                                  save->chain.len_bytes, save->off_bytes);
        if (err != 0)
            break;
        tails->saves_done++;
    }
    return err;
}

static int read_main(void *arg)
{
    const struct slot *slot = arg;

    return ep_spool_file_read(&slot->tails->file, slot->mem, slot->len_bytes,
                              slot->off_bytes);
}

static int empty_main(void *arg)
{
    struct ep_tails *tails = arg;

    return ep_spool_file_shrink(&tails->file);
}

/* --- places
 * */

/* Returns a place in the file; NONE when memory is out. */
static uint32_t place_take(struct ep_tails *tails)
{
    if (tails->spare_count > 0)
        return tails->spare[--tails->spare_count];
    if (tails->places_made == tails->spare_room) {
        uint32_t room = tails->spare_room > 0 ? 2 * tails->spare_room : 256;
        uint32_t *spare = reallocarray(tails->spare, room, sizeof(*spare));

        if (spare == NULL)
            return NONE;
        tails->spare = spare;
        tails->spare_room = room;
    }
    return tails->places_made++;
}

static void place_give(struct ep_tails *tails, uint32_t place)
{
    tails->spare[tails->spare_count++] = place;
    if (tails->spare_count < tails->places_made)
        return;
    /* If the file cannot be emptied, its places are used again as they are. */
    if (ep_sink_call(tails->sink, empty_main, tails, COOKIE_EMPTY) == 0)
        tails->spare_count = tails->places_made = 0;
}

static uint64_t offset_of(uint32_t place)
{
    return (uint64_t)place * EP_TAIL_BYTES_MAX;
}

/* --- which tails may be saved, and which wait */

static void list_tail(struct ep_tails *tails, struct ep_tail *tail)
{
    bool is_listed = tail->chain.len_bytes > 0 && !tail->is_saving &&
                     tail->slot == 0 && tail->taken_bytes == 0;

    if (is_listed == tail->is_listed)
        return;
    tail->is_listed = is_listed;
    if (is_listed)
        TAILQ_INSERT_TAIL(&tails->open, tail, entry);
    else
        TAILQ_REMOVE(&tails->open, tail, entry);
}

static void wait_end(struct ep_tails *tails, struct ep_tail *tail)
{
    if (tail->waits == WAIT_ROOM)
        TAILQ_REMOVE(&tails->waiting, tail, turn);
    else if (tail->waits == WAIT_READ)
        TAILQ_REMOVE(&tails->reading, tail, turn);
    tail->waits = WAIT_NOT;
}

static void wait_begin(struct ep_tails *tails, struct ep_tail *tail,
                       enum tail_wait what)
{
    if (tail->waits == what)
        return;
    wait_end(tails, tail);
    tail->waits = (uint8_t)what;
    if (what == WAIT_READ)
        TAILQ_INSERT_TAIL(&tails->reading, tail, turn);
    else if (tail->slot > 0) /* give the slot to a tail that waits for one */
        TAILQ_INSERT_HEAD(&tails->waiting, tail, turn);
    else
        TAILQ_INSERT_TAIL(&tails->waiting, tail, turn);
}

static void wake(struct ep_tails *tails, struct ep_tail *tail)
{
    wait_end(tails, tail);
    tail->on_change(tail->arg);
}

/* --- reading
 * */

static void read_start(struct ep_tails *tails, struct slot *slot,
                       struct ep_tail *tail)
{
    uint64_t which = COOKIE_READ + (uint64_t)(slot - tails->slots);

    wait_end(tails, tail);
    if (slot->mem == NULL)
        slot->mem = malloc(EP_TAIL_BYTES_MAX);
    slot->tails = tails;
    slot->tail = tail;
    slot->off_bytes = offset_of(tail->place);
    slot->len_bytes = tail->file_bytes;
    slot->state = SLOT_LOADING;
    tail->slot = (uint8_t)(slot - tails->slots + 1);
    list_tail(tails, tail);
    if (slot->mem != NULL &&
        ep_sink_call(tails->sink, read_main, slot, which) == 0)
        return;
    slot->state = SLOT_BAD;
    slot->err = slot->mem == NULL ? ENOMEM : EAGAIN;
    tail->on_change(tail->arg);
}

static struct slot *find_free(struct ep_tails *tails)
{
    for (unsigned i = 0; i < EP_TAILS_READS; i++) {
        if (tails->slots[i].state == SLOT_FREE)
            return &tails->slots[i];
    }
    return NULL;
}

/* Reads the next waiting tails back, as long as slots are free. */
static void read_more(struct ep_tails *tails)
{
    struct ep_tail *tail = TAILQ_FIRST(&tails->reading), *next;
    struct slot *slot;

    for (; tail != NULL; tail = next) {
        next = TAILQ_NEXT(tail, turn);
        if (tail->is_saving)
            continue;
        if (tail->file_bytes == 0) { /* saving it has failed */
            wake(tails, tail);
            continue;
        }
        slot = find_free(tails);
        if (slot == NULL)
            return;
        read_start(tails, slot, tail);
    }
}

static void slot_leave(struct ep_tails *tails, struct ep_tail *tail)
{
    struct slot *slot;

    if (tail->slot == 0)
        return;
    slot = &tails->slots[tail->slot - 1];
    tail->slot = 0;
    slot->tail = NULL;
    if (slot->state != SLOT_LOADING)
        slot->state = SLOT_FREE;
}

static void read_end(struct ep_tails *tails, struct slot *slot, int err)
{
    struct ep_tail *tail = slot->tail;

    slot->state = err == 0 ? SLOT_READY : SLOT_BAD;
    slot->err = err;
    if (tail == NULL)
        slot->state = SLOT_FREE;
    else
        tail->on_change(tail->arg);
    read_more(tails);
}

/* Frees the slot and the place of a tail that has no bytes in the file any
 * longer. */
static void leave_file(struct ep_tails *tails, struct ep_tail *tail)
{
    slot_leave(tails, tail);
    if (tail->file_bytes > 0)
        place_give(tails, tail->place);
    tail->file_bytes = tail->taken_bytes = 0;
    list_tail(tails, tail);
}

/* --- saving
 * */

static void fail_file(struct ep_tails *tails, int err)
{
    tails->err = err;
    if (tails->cfg.on_failed != NULL)
        tails->cfg.on_failed(tails->cfg.arg, err);
}

/* Hands a tail to the thread. Returns false when there is no place in the
 * file. */
static bool save_put(struct ep_tails *tails, struct ep_tail *tail)
{
    struct save *save = &tails->saves[tails->saves_count];

    if (tail->file_bytes == 0)
        tail->place = place_take(tails);
    if (tail->place == NONE)
        return false;
    *save = (struct save){
        .tail = tail,
        .chain = tail->chain,
        .place = tail->place,
        .off_bytes = offset_of(tail->place) + tail->file_bytes,
    };
    tails->saves_count++;
    tail->is_saving = true;
    list_tail(tails, tail);
    return true;
}

/* Ends a save: the tail is now in the file or, after an error, still in
 * memory. */
static void save_settle(struct ep_tails *tails, struct save *save, bool is_done)
{
    struct ep_tail *tail = save->tail;

    if (tail == NULL) {
        ep_chain_drop(&tails->chunks, &save->chain);
        place_give(tails, save->place);
        return;
    }
    tail->is_saving = false;
    if (is_done) {
        tail->file_bytes += tail->chain.len_bytes;
        ep_chain_drop(&tails->chunks, &tail->chain);
    } else if (tail->file_bytes == 0) {
        place_give(tails, save->place);
    }
    list_tail(tails, tail);
}

static void save_end(struct ep_tails *tails, int err)
{
    uint32_t count = tails->saves_count;

    tails->saves_count = 0;
    for (uint32_t i = 0; i < count; i++)
        save_settle(tails, &tails->saves[i], i < tails->saves_done);
    if (err != 0)
        fail_file(tails, err);
    while (!TAILQ_EMPTY(&tails->waiting))
        wake(tails, TAILQ_FIRST(&tails->waiting));
    read_more(tails);
}

static void answer(struct ep_tails *tails, uint64_t cookie, int err)
{
    if (cookie == COOKIE_SAVE)
        save_end(tails, err);
    else if (cookie >= COOKIE_READ)
        read_end(tails, &tails->slots[cookie - COOKIE_READ], err);
}

static void on_written(void *arg, uint64_t cookie)
{
    answer(arg, cookie, 0);
}

static void on_failed(void *arg, uint64_t cookie, int err)
{
    answer(arg, cookie, err);
}

static const struct ep_sink_events sink_events = {
    .on_written = on_written,
    .on_failed = on_failed,
};

/* Saves tails until half of the memory is free, beginning with the oldest. */
static void save_start(struct ep_tails *tails)
{
    uint64_t bytes = 0;
    int err = 0;

    if (tails->saves == NULL)
        tails->saves = calloc(SAVES_MAX, sizeof(*tails->saves));
    if (tails->scratch == NULL)
        tails->scratch = malloc(EP_TAIL_BYTES_MAX);
    if (tails->sink == NULL)
        (void)ep_sink_open_shared(tails->cfg.writer, &sink_events, tails,
                                  &tails->sink);
    if (tails->saves == NULL || tails->scratch == NULL || tails->sink == NULL)
        err = ENOMEM;
    while (err == 0 && !TAILQ_EMPTY(&tails->open) &&
           tails->saves_count < SAVES_MAX && bytes < tails->cfg.bytes / 2) {
        struct ep_tail *tail = TAILQ_FIRST(&tails->open);

        bytes += tail->chain.len_bytes;
        if (!save_put(tails, tail))
            err = ENOMEM;
    }
    tails->saves_done = 0;
    if (tails->saves_count > 0 &&
        ep_sink_call(tails->sink, save_main, tails, COOKIE_SAVE) == 0)
        return;
    if (err == 0 && tails->saves_count > 0)
        /* pthread_create() returns this when no thread can be made */
        err = EAGAIN;
    if (err != 0)
        save_end(tails, err);
}

/* --- the loop
 * */

int ep_tails_open(const struct ep_tails_cfg *cfg, struct ep_tails **out)
{
    struct ep_tails *tails = calloc(1, sizeof(*tails));
    int rc;

    if (tails == NULL)
        return OV_ENOMEM;
    tails->cfg = *cfg;
    TAILQ_INIT(&tails->open);
    TAILQ_INIT(&tails->waiting);
    TAILQ_INIT(&tails->reading);
    rc = ep_spool_file_init(&tails->file, cfg->dir);
    if (rc != 0) {
        free(tails);
        return rc;
    }
    rc = ep_chunks_open(&tails->chunks,
                        cfg->bytes / EP_CHUNK_BYTES + 2 * LINE_CHUNKS);
    if (rc != 0) {
        ep_tails_close(tails);
        return rc;
    }
    *out = tails;
    return 0;
}

/* Frees everything. Runs in the thread, if there is one. */
static void last_main(void *arg)
{
    struct ep_tails *tails = arg;

    ep_spool_file_fini(&tails->file);
    for (unsigned i = 0; i < EP_TAILS_READS; i++)
        free(tails->slots[i].mem);
    ep_chunks_close(&tails->chunks);
    free(tails->spare);
    free(tails->saves);
    free(tails->scratch);
    free(tails);
}

void ep_tails_close(struct ep_tails *tails)
{
    if (tails == NULL)
        return;
    if (tails->sink != NULL)
        ep_sink_leave(tails->sink, last_main, tails);
    else
        last_main(tails);
}

enum ep_tails_room ep_tails_room(struct ep_tails *tails, struct ep_tail *tail)
{
    bool is_full = ep_chunks_free(&tails->chunks) < LINE_CHUNKS;

    /* A disk that was full may have room again. */
    if (tails->err != 0 && tails->chunks.used <= tails->chunks.max / 2)
        tails->err = 0;
    if (!is_full && !tail->is_saving)
        return EP_TAILS_ROOM;
    if (tails->saves_count == 0 && tails->err == 0)
        save_start(tails);
    if (tails->saves_count == 0 && !tail->is_saving)
        return EP_TAILS_FULL;
    wait_begin(tails, tail, WAIT_ROOM);
    return EP_TAILS_WAIT;
}

bool ep_tail_add(struct ep_tails *tails, struct ep_tail *tail,
                 const uint8_t *src, uint32_t len_bytes)
{
    OV_ASSERT(!tail->is_saving);
    OV_ASSERT(tail->file_bytes + tail->chain.len_bytes + len_bytes <=
              EP_TAIL_BYTES_MAX);
    if (!ep_chain_add(&tails->chunks, &tail->chain, src, len_bytes))
        return false;
    list_tail(tails, tail);
    return true;
}

int ep_tail_fetch(struct ep_tails *tails, struct ep_tail *tail, uint32_t *lost)
{
    const struct slot *slot;

    *lost = 0;
    if (ep_tail_is_in_memory(tail))
        return 0;
    if (tail->slot == 0) {
        wait_begin(tails, tail, WAIT_READ);
        read_more(tails);
        return OV_EAGAIN;
    }
    slot = &tails->slots[tail->slot - 1];
    if (slot->state == SLOT_LOADING)
        return OV_EAGAIN;
    if (slot->state == SLOT_READY)
        return 0;
    *lost = tail->file_bytes - tail->taken_bytes;
    errno = slot->err;
    leave_file(tails, tail);
    read_more(tails);
    return OV_ESYS;
}

void ep_tail_take(struct ep_tails *tails, struct ep_tail *tail, uint8_t *dst,
                  uint32_t len_bytes)
{
    uint32_t in_file = tail->file_bytes - tail->taken_bytes;
    uint32_t count = len_bytes < in_file ? len_bytes : in_file;

    OV_ASSERT(!tail->is_saving && len_bytes <= ep_tail_bytes(tail));
    if (count > 0) {
        OV_ASSERT(tail->slot > 0);
        memcpy(dst, tails->slots[tail->slot - 1].mem + tail->taken_bytes,
               count);
        tail->taken_bytes += count;
        if (count == in_file)
            leave_file(tails, tail);
    }
    ep_chain_take(&tails->chunks, &tail->chain, dst + count, len_bytes - count);
    list_tail(tails, tail);
    if (count > 0)
        read_more(tails);
}

void ep_tail_rest(struct ep_tails *tails, struct ep_tail *tail)
{
    wait_end(tails, tail);
    if (tail->slot == 0)
        return;
    slot_leave(tails, tail);
    list_tail(tails, tail);
    read_more(tails);
}

void ep_tail_drop(struct ep_tails *tails, struct ep_tail *tail)
{
    wait_end(tails, tail);
    for (uint32_t i = 0; tail->is_saving && i < tails->saves_count; i++) {
        struct save *save = &tails->saves[i];

        if (save->tail != tail)
            continue;
        save->tail = NULL; /* the save still uses its chunks and its place */
        tail->is_saving = false;
        tail->chain = (struct ep_chain){0};
        tail->file_bytes = 0;
    }
    ep_chain_drop(&tails->chunks, &tail->chain);
    if (tail->file_bytes > 0 || tail->slot > 0)
        leave_file(tails, tail);
    list_tail(tails, tail);
    read_more(tails);
}

void ep_tails_count_cut(struct ep_tails *tails)
{
    tails->cuts++;
}

uint64_t ep_tails_cuts(const struct ep_tails *tails)
{
    return tails->cuts;
}
