/* Delivers output to the tool that goes to it without a pull. */
#include "pmix_api/helper/forward.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "endpoints/sys/cache.h"
#include "overlay/base/err.h"
#include "overlay/base/panic.h"
#include "pmix_api/helper/backlog.h"
#include "pmix_api/helper/door.h"
#include "pmix_api/helper/flights.h"
#include "pmix_api/helper/gather.h"
#include "pmix_api/helper/history.h"
#include "pmix_api/helper/source.h"

enum { CHANNELS_END = 4 };

/* The output of a job. */
struct stream {
    struct stream *next;
    struct px_forwards *all;
    char name[PX_LIB_NAME_BYTES];
    uint32_t base, size;
    struct px_door *door; /* borrowed; NULL: the session sends no more output */
    bool is_begun, is_dropped;
    struct px_backlog *backlog;
    struct px_gather *lines;   /* gathers output to be shown */
    struct px_gather *pulled;  /* gathers output for pulls */
    struct px_flights flights; /* output for pulls that is on its way to the
                                  tool */
    struct px_history *past;   /* output that the tool has received; NULL: none
                                  is kept */
    /* How many deliveries there had been when a pull last asked for earlier
     * output. */
    uint64_t owed_since;
    uint64_t open_count;
    uint8_t open[]; /* [size]: channels that have not ended */
};

struct px_forwards {
    struct px_forwards_cfg cfg;
    struct ep_cache_pool pool; /* memory for the histories of all jobs */
    struct stream *streams;    /* owned */
};

static struct stream *find_stream(const struct px_forwards *all, uint32_t base)
{
    struct stream *at = all->streams;

    while (at != NULL && at->base != base)
        at = at->next;
    return at;
}

/* --- pieces that were delivered to pulls */

/* Notes a piece that was delivered for a pull. When memory is out, the piece
 * counts as one that has reached the tool. */
static void remember(struct stream *stream, const struct px_lib_output *piece,
                     uint64_t number)
{
    if (!px_flights_add(&stream->flights, piece, number))
        px_history_add(stream->past, piece);
}

/* True when a piece may be delivered now. A piece to be shown waits while
 * output of its channel is on its way to a pull, as that may have to be shown
 * first. A piece for a pull waits only for output that was delivered before
 * this pull was answered. */
static bool may_go(const struct stream *stream,
                   const struct px_lib_output *piece, bool is_pulled)
{
    const struct px_forwards_cfg *cfg = &stream->all->cfg;
    uint64_t since = UINT64_MAX;

    if (is_pulled)
        since = cfg->events->since(cfg->arg, stream->base, piece->rank,
                                   (uint8_t)piece->channel);
    return !px_flights_have(&stream->flights, piece, since);
}

void px_forwards_missed(struct px_forwards *all, uint64_t delivery)
{
    const struct px_forwards_events *events = all->cfg.events;

    for (struct stream *at = all->streams; at != NULL; at = at->next) {
        const struct px_lib_output *piece =
            px_flights_miss(&at->flights, delivery);

        if (piece != NULL)
            events->on_missed(all->cfg.arg, at->base, piece->rank,
                              (uint8_t)piece->channel, delivery);
    }
}

void px_forwards_taken(struct px_forwards *all, uint64_t taken)
{
    for (struct stream *at = all->streams; at != NULL; at = at->next) {
        const struct px_lib_output *piece;

        while ((piece = px_flights_land(&at->flights, taken)) != NULL)
            px_history_add(at->past, piece);
    }
}

/* --- to the tool */

static bool is_pulled(const struct stream *stream, uint32_t rank,
                      uint16_t channel)
{
    const struct px_forwards_cfg *cfg = &stream->all->cfg;

    return (cfg->events->pulled(cfg->arg, stream->base, rank) & channel) != 0;
}

static void note_end(struct stream *stream, const struct px_lib_output *piece)
{
    const struct px_forwards_cfg *cfg = &stream->all->cfg;
    const uint8_t bit = (uint8_t)piece->channel;

    if ((stream->open[piece->rank] & bit) == 0)
        return;
    stream->open[piece->rank] &= (uint8_t)~bit;
    stream->open_count--;
    cfg->events->on_end(cfg->arg, stream->base, piece->rank, bit);
}

static void hand_over(struct stream *stream, struct px_lib_output *piece,
                      bool is_for_pull)
{
    struct px_source_deliveries *all = stream->all->cfg.deliveries;
    int rc;

    piece->nspace = stream->name;
    piece->is_pulled = is_for_pull;
    rc = px_lib_deliver(piece);
    /* When memory is out the helper ends: else the tool would miss output and
     * not know it. */
    OV_ASSERT(rc == 0);
    all->given++;
    all->last = NULL;
    all->owners[all->given % PX_SOURCE_DELIVERIES] = 0;
}

static void deliver(struct stream *stream, struct px_lib_output *piece,
                    bool is_for_pull)
{
    hand_over(stream, piece, is_for_pull);
    if (is_for_pull)
        remember(stream, piece, stream->all->cfg.deliveries->given);
    else
        px_history_add(stream->past, piece);
    if (piece->is_end)
        note_end(stream, piece);
}

/* Adds a piece to a gather, and delivers what is released. False: earlier
 * output was delivered instead, and the caller must put the same piece again.
 */
static bool put_piece(struct stream *stream, const struct px_lib_output *piece,
                      bool is_for_pull, uint64_t now_ms)
{
    struct px_gather *gather = is_for_pull ? stream->pulled : stream->lines;
    struct px_lib_output out;
    const enum px_gather_verdict verdict =
        px_gather_put(gather, piece, now_ms, &out);

    if (verdict != PX_GATHER_HELD)
        deliver(stream, &out, is_for_pull);
    return verdict != PX_GATHER_FIRST;
}

/* Delivers or gathers a piece, after the output of its channel that the other
 * gather holds. False: the piece cannot be handled yet. */
static bool take_piece(struct stream *stream, const struct px_lib_output *piece,
                       uint64_t now_ms)
{
    const bool is_for_pull = is_pulled(stream, piece->rank, piece->channel);
    struct px_gather *other = is_for_pull ? stream->lines : stream->pulled;
    struct px_lib_output held;

    if (px_gather_take(other, piece->rank, piece->channel, &held)) {
        (void)put_piece(stream, &held, is_for_pull, now_ms);
        return false;
    }
    return put_piece(stream, piece, is_for_pull, now_ms);
}

static bool is_owed(const struct stream *stream,
                    const struct px_lib_output *piece)
{
    return (px_history_owes(stream->past, piece->rank) & piece->channel) != 0;
}

/* Delivers the earlier output that is owed to pulls, once it is known how much
 * has reached the tool; then the beginning of a line that was not shown yet. */
static void pay_claims(struct stream *stream, uint64_t now_ms)
{
    const uint64_t first = px_flights_first(&stream->flights);
    const uint64_t *given = &stream->all->cfg.deliveries->given;
    const uint64_t before = *given;
    struct px_lib_output out, held;

    if (first != 0 && first <= stream->owed_since)
        return;
    while (*given == before) {
        switch (px_history_pay(stream->past, &out)) {
        case PX_HISTORY_NOTHING:
            return;
        case PX_HISTORY_PIECE:
            hand_over(stream, &out, true);
            break;
        case PX_HISTORY_PAID:
            if (px_gather_take(stream->lines, out.rank, out.channel, &held))
                (void)put_piece(stream, &held, true, now_ms);
        }
    }
}

/* Finds the next piece, without removing it; false: there is none now. */
static bool look_at_next(struct stream *stream, struct px_lib_output *piece)
{
    const struct px_lib_output *again = px_flights_again(&stream->flights);
    struct job_door msg;

    if (again != NULL) {
        *piece = *again;
        return true;
    }
    if (px_backlog_get(stream->backlog, &msg) != 0)
        return false;
    *piece = (struct px_lib_output){.rank = msg.first - stream->base,
                                    .channel = (uint16_t)(1u << msg.channel),
                                    .mem = msg.rest.at,
                                    .len_bytes = ov_rd_left(&msg.rest),
                                    .is_end = msg.is_end,
                                    .dropped_bytes = msg.dropped_bytes,
                                    .before_bytes = msg.before_bytes};
    return true;
}

static void drop_next(struct stream *stream)
{
    if (px_flights_again(&stream->flights) != NULL)
        px_flights_drop(&stream->flights);
    else
        px_backlog_drop(stream->backlog);
}

static bool is_at_end(const struct stream *stream)
{
    return stream->door == NULL && px_flights_again(&stream->flights) == NULL &&
           px_backlog_is_empty(stream->backlog);
}

static void give_lines(struct stream *stream, uint64_t now_ms, bool all)
{
    struct px_lib_output out;

    if (!px_gather_peek(stream->lines, &out) || is_owed(stream, &out) ||
        !px_gather_get(stream->lines, now_ms, all, &out))
        return;
    if (is_pulled(stream, out.rank, out.channel))
        (void)put_piece(stream, &out, true, now_ms);
    else
        deliver(stream, &out, false);
}

/* Delivers gathered output when it has been held long enough or nothing follows
 * it, and output held for a pull also when the pull has ended. */
static bool give_held(struct stream *stream, uint64_t now_ms)
{
    const uint64_t given = stream->all->cfg.deliveries->given;
    bool all = is_at_end(stream);
    struct px_lib_output out;

    give_lines(stream, now_ms, all);
    if (given != stream->all->cfg.deliveries->given)
        return true;
    if (!px_gather_peek(stream->pulled, &out) || is_owed(stream, &out))
        return false;
    if (!is_pulled(stream, out.rank, out.channel)) {
        if (may_go(stream, &out, false) &&
            px_gather_get(stream->pulled, now_ms, true, &out))
            (void)put_piece(stream, &out, false, now_ms);
        return false;
    }
    if (!may_go(stream, &out, true) ||
        !px_gather_get(stream->pulled, now_ms, all, &out))
        return false;
    deliver(stream, &out, true);
    return true;
}

static bool give_stream(struct stream *stream, uint64_t now_ms)
{
    const struct px_source_deliveries *all = stream->all->cfg.deliveries;
    const uint64_t given = all->given;
    struct px_lib_output piece;

    if (!stream->is_begun || stream->is_dropped || px_lib_room() == 0)
        return false;
    pay_claims(stream, now_ms);
    if (given != all->given || give_held(stream, now_ms))
        return true;
    while (
        given == all->given && look_at_next(stream, &piece) &&
        !is_owed(stream, &piece) &&
        may_go(stream, &piece, is_pulled(stream, piece.rank, piece.channel))) {
        if (take_piece(stream, &piece, now_ms))
            drop_next(stream);
    }
    return given != all->given;
}

/* --- all streams */

static bool is_over(const struct stream *stream)
{
    return stream->is_dropped ||
           ((stream->open_count == 0 || is_at_end(stream)) &&
            px_flights_are_over(&stream->flights) &&
            px_history_is_paid(stream->past) &&
            px_gather_is_empty(stream->lines) &&
            px_gather_is_empty(stream->pulled));
}

static void close_stream(struct stream *stream)
{
    px_backlog_close(stream->backlog);
    px_gather_close(stream->lines);
    px_gather_close(stream->pulled);
    px_history_close(stream->past);
    px_flights_fini(&stream->flights);
    free(stream);
}

static void reap_streams(struct px_forwards *all)
{
    struct stream **at = &all->streams;

    while (*at != NULL) {
        struct stream *stream = *at;

        if (!is_over(stream)) {
            at = &stream->next;
            continue;
        }
        *at = stream->next;
        close_stream(stream);
    }
}

bool px_forwards_give(struct px_forwards *all, uint64_t now_ms)
{
    bool is_any = false;

    for (struct stream *at = all->streams; at != NULL; at = at->next)
        is_any |= give_stream(at, now_ms);
    reap_streams(all);
    return is_any;
}

bool px_forwards_are_busy(const struct px_forwards *all)
{
    bool are = false;

    for (const struct stream *at = all->streams; at != NULL; at = at->next)
        are |= px_flights_first(&at->flights) != 0 ||
               px_gather_due_ms(at->lines) != 0 ||
               px_gather_due_ms(at->pulled) != 0;
    return are;
}

/* --- what the session sends */

bool px_forward_hear(struct px_forwards *all, uint32_t base,
                     const struct job_door *msg)
{
    struct stream *stream = find_stream(all, base);
    bool is_kept;

    if (stream == NULL || stream->is_dropped || msg->first < base ||
        msg->first - base >= stream->size || msg->channel == 0 ||
        msg->channel >= CHANNELS_END)
        return true;
    is_kept = px_backlog_put(stream->backlog, msg) == 0;
    all->cfg.events->on_change(all->cfg.arg);
    return is_kept;
}

static void on_backlog(void *arg)
{
    struct stream *stream = arg;
    const struct px_forwards_cfg *cfg = &stream->all->cfg;

    if (stream->door != NULL)
        px_door_go_on(stream->door);
    cfg->events->on_change(cfg->arg);
}

void px_forward_cut(struct px_forwards *all, uint32_t base)
{
    struct stream *stream = find_stream(all, base);

    if (stream == NULL)
        return;
    stream->door = NULL;
    all->cfg.events->on_change(all->cfg.arg);
}

void px_forward_drop(struct px_forwards *all, uint32_t base)
{
    struct stream *stream = find_stream(all, base);

    if (stream == NULL)
        return;
    stream->is_dropped = true;
    px_forward_cut(all, base);
}

void px_forward_begin(struct px_forwards *all, uint32_t base)
{
    struct stream *stream = find_stream(all, base);

    if (stream == NULL)
        return;
    stream->is_begun = true;
    all->cfg.events->on_change(all->cfg.arg);
}

void px_forwards_stop(struct px_forwards *all)
{
    for (struct stream *at = all->streams; at != NULL; at = at->next)
        at->is_dropped = true;
}

/* --- questions of other modules */

uint8_t px_forward_covers(const struct px_forwards *all, uint32_t base,
                          uint32_t rank)
{
    const struct stream *stream = find_stream(all, base);

    return stream != NULL && !stream->is_dropped ? stream->open[rank] : 0;
}

bool px_forward_is_open(const struct px_forwards *all, uint32_t base)
{
    for (const struct stream *at = all->streams; at != NULL; at = at->next) {
        if ((base == at->base || base == UINT32_MAX) && !at->is_dropped)
            return true;
    }
    return false;
}

/* Directives of a pull override those of the spawn. When memory is out they
 * have no effect. */
void px_forward_wish(struct px_forwards *all, uint32_t base,
                     const struct px_lib_wish *wish)
{
    struct stream *stream = find_stream(all, base);
    struct px_gather_cfg cfg = {.size_bytes = wish->buffer_bytes,
                                .time_ms = wish->buffer_s * 1000};
    struct px_gather *gather;

    if (stream == NULL || !px_gather_is_empty(stream->pulled))
        return;
    cfg.procs = stream->size;
    if (px_gather_open(&cfg, &gather) != 0)
        return;
    px_gather_close(stream->pulled);
    stream->pulled = gather;
}

int px_forward_claim(struct px_forwards *all, uint32_t base,
                     const struct px_history_claim *claim)
{
    struct stream *stream = find_stream(all, base);

    if (stream == NULL)
        return 0;
    px_lib_withhold(stream->name, claim->rank, claim->channels);
    if (claim->max_bytes == 0)
        return 0;
    stream->owed_since = all->cfg.deliveries->given;
    return px_history_owe(stream->past, claim);
}

void px_forward_forget(struct px_forwards *all, uint32_t owner)
{
    for (struct stream *at = all->streams; at != NULL; at = at->next)
        px_history_forget(at->past, owner);
}

/* --- adding a job */

static int open_parts(struct stream *stream, const struct px_forward_cfg *cfg)
{
    const struct px_lib_wish *wish = cfg->wish;
    const struct px_backlog_cfg backlog = {
        .writer = stream->all->cfg.writer,
        .dir = stream->all->cfg.dir,
        .base = stream->base,
        .procs = stream->size,
        .limit_bytes = px_source_limit_bytes(
            &(struct px_lib_wish){.copies = true,
                                  .has_cache = wish->has_cache,
                                  .cache_bytes = wish->cache_bytes}),
        .drops_oldest = wish->drops_oldest,
        .on_change = on_backlog,
        .arg = stream};
    struct px_gather_cfg gather = {.procs = stream->size,
                                   .size_bytes = wish->buffer_bytes,
                                   .time_ms = wish->buffer_s * 1000};
    const struct px_history_cfg past = {.procs = stream->size,
                                        .room_bytes = cfg->job->cache_bytes,
                                        .pool = &stream->all->pool};
    int rc = px_backlog_open(&backlog, &stream->backlog);

    if (rc == 0)
        rc = px_gather_open(&gather, &stream->pulled);
    gather.has_lines = cfg->has_lines;
    if (rc == 0)
        rc = px_gather_open(&gather, &stream->lines);
    if (rc == 0 && past.room_bytes > 0)
        rc = px_history_open(&past, &stream->past);
    return rc;
}

int px_forward_add(struct px_forwards *all, const struct px_forward_cfg *cfg)
{
    const struct job_door *job = cfg->job;
    const uint8_t channels = cfg->channels & job->channels;
    struct stream *stream = calloc(1, sizeof(*stream) + job->count);
    int rc;

    if (stream == NULL)
        return OV_ENOMEM;
    stream->all = all;
    stream->base = job->first;
    stream->size = job->count;
    stream->door = cfg->door;
    snprintf(stream->name, sizeof(stream->name), "%.*s", PX_LIB_NAME_BYTES - 1,
             job->text);
    px_flights_init(&stream->flights);
    memset(stream->open, channels, job->count);
    stream->open_count =
        (uint64_t)job->count * (unsigned)__builtin_popcount(channels);
    rc = open_parts(stream, cfg);
    if (rc != 0) {
        close_stream(stream);
        return rc;
    }
    stream->next = all->streams;
    all->streams = stream;
    return 0;
}

int px_forwards_open(const struct px_forwards_cfg *cfg,
                     struct px_forwards **out)
{
    *out = calloc(1, sizeof(**out));
    if (*out == NULL)
        return OV_ENOMEM;
    (*out)->cfg = *cfg;
    (*out)->pool.limit_bytes = PX_HISTORY_POOL_BYTES;
    return 0;
}

void px_forwards_close(struct px_forwards *all)
{
    if (all == NULL)
        return;
    while (all->streams != NULL) {
        struct stream *stream = all->streams;

        all->streams = stream->next;
        close_stream(stream);
    }
    free(all);
}
