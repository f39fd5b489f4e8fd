/* Segments in a file: an append takes free ones, forgetting frees them.
 *
 * Positions count from the start; segment i holds the bytes from i segments
 * after it. Jobs of the thread are done in order, so a place in the file that
 * is used again is written after all that was asked of it before.
 */
#include "config.h"

#include "endpoints/daemon/backlog.h"

#include <errno.h>
#include <stdlib.h>

#include "endpoints/sys/spool_file.h"
#include "endpoints/sys/writer.h"
#include "overlay/base/err.h"
#include "overlay/base/panic.h"

enum {
    SEGMENT = EP_BACKLOG_SEGMENT_BYTES,
    CHUNKS_MAX = 2 * EP_BACKLOG_PIECES_MAX,
};

enum cookie { COOKIE_SAVE, COOKIE_FETCH, COOKIE_EMPTY };

/* Bytes that lie in one segment. */
struct chunk {
    uint8_t *mem; /* borrowed */
    uint32_t len_bytes;
    uint64_t off_bytes; /* in the file */
};

struct ep_backlog {
    struct ep_spool_file file; /* the thread's */
    struct ep_sink *sink;
    const struct ep_backlog_events *events;
    void *arg;
    uint32_t *places; /* owned [places_max]: of segment i at i % places_max */
    uint32_t *spare;  /* owned [places_max]: places to use again */
    uint32_t places_max;
    uint32_t places_made;
    uint32_t spare_count;
    uint64_t start;         /* position of segment 0 */
    uint64_t end;           /* position behind the last byte appended */
    uint64_t first_segment; /* in use: first_segment to next_segment - 1 */
    uint64_t next_segment;
    uint8_t *mem; /* owned: what was read; made at first use */
    struct chunk read;
    struct chunk chunks[CHUNKS_MAX]; /* of the append */
    unsigned chunks_count;
    bool is_saving, is_fetching;
    bool is_file_used;
};

/* --- the thread
 * */

static int save_main(void *arg)
{
    struct ep_backlog *log = arg;
    int err = 0;

    for (unsigned i = 0; err == 0 && i < log->chunks_count; i++)
        err = ep_spool_file_write(&log->file, log->chunks[i].mem,
                                  log->chunks[i].len_bytes,
                                  log->chunks[i].off_bytes);
    return err;
}

static int fetch_main(void *arg)
{
    struct ep_backlog *log = arg;

    return ep_spool_file_read(&log->file, log->read.mem, log->read.len_bytes,
                              log->read.off_bytes);
}

static int empty_main(void *arg)
{
    struct ep_backlog *log = arg;

    return ep_spool_file_shrink(&log->file);
}

/* --- the loop
 * */

static void answer(struct ep_backlog *log, enum cookie cookie, int err)
{
    switch (cookie) {
    case COOKIE_SAVE:
        log->is_saving = false;
        log->events->on_saved(log->arg, err);
        break;
    case COOKIE_FETCH:
        log->is_fetching = false;
        log->events->on_fetched(log->arg, log->read.mem, log->read.len_bytes,
                                err);
        break;
    case COOKIE_EMPTY: /* where it fails, the places are used again */
        break;
    }
}

static void on_written(void *arg, uint64_t cookie)
{
    answer(arg, (enum cookie)cookie, 0);
}

static void on_failed(void *arg, uint64_t cookie, int err)
{
    answer(arg, (enum cookie)cookie, err);
}

static const struct ep_sink_events sink_events = {
    .on_written = on_written,
    .on_failed = on_failed,
};

int ep_backlog_open(const struct ep_backlog_cfg *cfg, struct ep_backlog **out)
{
    struct ep_backlog *log = calloc(1, sizeof(*log));
    uint64_t places = cfg->limit_bytes / SEGMENT;
    int rc;

    if (log == NULL)
        return OV_ENOMEM;
    log->events = cfg->events;
    log->arg = cfg->arg;
    log->places_max =
        places < 1 ? 1 : (uint32_t)(places < UINT32_MAX ? places : UINT32_MAX);
    rc = ep_spool_file_init(&log->file, cfg->dir);
    log->file.memory_ok |= cfg->may_lie_in_memory;
    if (rc != 0) {
        free(log);
        return rc;
    }
    log->places = calloc(log->places_max, sizeof(*log->places));
    log->spare = calloc(log->places_max, sizeof(*log->spare));
    rc = log->places == NULL || log->spare == NULL
             ? OV_ENOMEM
             : ep_sink_open(cfg->writer, -1, &sink_events, log, &log->sink);
    if (rc != 0) {
        ep_backlog_close(log);
        return rc;
    }
    *out = log;
    return 0;
}

bool ep_backlog_close(struct ep_backlog *log)
{
    if (log == NULL)
        return true;
    if (!ep_sink_close(log->sink, true))
        return false; /* the thread is stuck in the file and uses all of it */
    ep_spool_file_fini(&log->file);
    free(log->places);
    free(log->spare);
    free(log->mem);
    free(log);
    return true;
}

void ep_backlog_start(struct ep_backlog *log, uint64_t pos)
{
    log->start = pos;
    log->end = pos;
    log->first_segment = 0;
    log->next_segment = 0;
    log->places_made = 0;
    log->spare_count = 0;
    if (log->is_file_used)
        log->is_file_used =
            ep_sink_call(log->sink, empty_main, log, COOKIE_EMPTY) != 0;
    if (log->is_fetching)
        return; /* the thread reads into it */
    free(log->mem);
    log->mem = NULL;
}

uint64_t ep_backlog_room(const struct ep_backlog *log)
{
    uint64_t used = log->next_segment - log->first_segment;

    return (log->places_max - used) * SEGMENT +
           (log->next_segment * SEGMENT - (log->end - log->start));
}

static uint32_t place_take(struct ep_backlog *log)
{
    if (log->spare_count > 0)
        return log->spare[--log->spare_count];
    OV_ASSERT(log->places_made < log->places_max);
    return log->places_made++;
}

/* Where in the file a position lies that has a segment; *left: how far it goes
 * on there. */
static uint64_t place_of(const struct ep_backlog *log, uint64_t pos,
                         uint64_t *left)
{
    uint64_t segment = (pos - log->start) / SEGMENT;
    uint64_t off = (pos - log->start) % SEGMENT;

    OV_ASSERT(segment >= log->first_segment && segment < log->next_segment);
    *left = SEGMENT - off;
    return (uint64_t)log->places[segment % log->places_max] * SEGMENT + off;
}

static void piece_put(struct ep_backlog *log, const struct iovec *piece)
{
    uint8_t *mem = piece->iov_base;
    uint64_t len = piece->iov_len;

    while (len > 0) {
        struct chunk *chunk = &log->chunks[log->chunks_count];
        uint64_t left;

        if (log->end - log->start == log->next_segment * SEGMENT) {
            log->places[log->next_segment % log->places_max] = place_take(log);
            log->next_segment++;
        }
        OV_ASSERT(log->chunks_count < CHUNKS_MAX);
        log->chunks_count++;
        chunk->off_bytes = place_of(log, log->end, &left);
        chunk->mem = mem;
        chunk->len_bytes = (uint32_t)(len < left ? len : left);
        mem += chunk->len_bytes;
        len -= chunk->len_bytes;
        log->end += chunk->len_bytes;
    }
}

int ep_backlog_append(struct ep_backlog *log, const struct iovec *pieces,
                      unsigned n)
{
    uint64_t end = log->end;

    OV_ASSERT(!log->is_saving);
    log->chunks_count = 0;
    for (unsigned i = 0; i < n; i++)
        piece_put(log, &pieces[i]);
    if (ep_sink_call(log->sink, save_main, log, COOKIE_SAVE) != 0) {
        log->end = end; /* a segment too many is no harm */
        return EAGAIN;
    }
    log->is_saving = true;
    log->is_file_used = true;
    return 0;
}

int ep_backlog_fetch(struct ep_backlog *log, uint64_t pos, uint32_t len_bytes)
{
    uint64_t left;

    OV_ASSERT(!log->is_fetching && len_bytes > 0 && pos < log->end);
    if (log->mem == NULL)
        log->mem = malloc(EP_BACKLOG_READ_MAX);
    if (log->mem == NULL)
        return ENOMEM;
    log->read.off_bytes = place_of(log, pos, &left);
    if (len_bytes > left)
        len_bytes = (uint32_t)left;
    if (len_bytes > EP_BACKLOG_READ_MAX)
        len_bytes = EP_BACKLOG_READ_MAX;
    if (len_bytes > log->end - pos)
        len_bytes = (uint32_t)(log->end - pos);
    log->read.mem = log->mem;
    log->read.len_bytes = len_bytes;
    if (ep_sink_call(log->sink, fetch_main, log, COOKIE_FETCH) != 0)
        return EAGAIN;
    log->is_fetching = true;
    return 0;
}

void ep_backlog_forget(struct ep_backlog *log, uint64_t pos)
{
    uint64_t until = (pos - log->start) / SEGMENT;

    if (until > log->next_segment)
        until = log->next_segment;
    for (; log->first_segment < until; log->first_segment++)
        log->spare[log->spare_count++] =
            log->places[log->first_segment % log->places_max];
}
