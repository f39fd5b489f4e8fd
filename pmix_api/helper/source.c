/* Delivers output of processes of one job to the tool. */
#include "pmix_api/helper/source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "endpoints/sys/clock.h"
#include "overlay/base/err.h"
#include "overlay/base/panic.h"
#include "pmix_api/helper/backlog.h"
#include "pmix_api/helper/door.h"
#include "pmix_api/helper/gather.h"
#include "pmix_api/helper/receipts.h"

enum {
    LEAST_BYTES = 1 << 20,  /* the smallest limit of output that may wait */
    MOST_BYTES = 256 << 20, /* the largest limit, and the default */
    /* How much a redirecting source reads before px_source_begin(). */
    EARLY_BYTES = 8 << 20,
    /* While a piece is being gathered, at most this much redirected output may
     * be read after it, because the launcher must keep all of that. */
    SPAN_BYTES = 4 << 20,
    /* How much of the copies may wait in the launcher, so that none are lost
     * while this process gets no processor. Normally copies wait in this
     * process, up to the limits above. */
    BRIDGE_BYTES = 64 << 20,
    CHANNELS_END = 4,
    SOON_MS = 30, /* how long copies may wait in the session */
};

_Static_assert((int)PX_GATHER_PIECE_BYTES >= (int)JOB_DOOR_OUTPUT_MAX,
               "an OUTPUT must fit one piece");

struct px_source {
    struct px_source_cfg cfg;
    const struct px_source_events *events;
    void *arg;
    struct px_jobs_entry job;
    struct topo_ranges ranks; /* owned */
    enum px_source_state state;
    bool is_begun, is_stopped, is_known;
    /* How many channels put_ends() has ended so far. */
    uint64_t ends_put;
    struct px_door *door;
    struct px_backlog *backlog;
    struct px_gather *gather;
    struct px_receipts *receipts; /* NULL: the source copies */
    uint64_t told_taken;
    /* Redirected bytes delivered while other bytes are being gathered. */
    uint64_t span_bytes;
    uint8_t *open; /* owned [job.size]: channels that have not ended */
    uint64_t open_count;
    /* Since when further copies would go to the file; 0: memory still has room
     * for them. */
    int64_t saving_ms;
};

/* --- to the tool */

static uint64_t channel_key(const struct px_lib_output *piece)
{
    return (uint64_t)piece->rank << 8 | piece->channel;
}

static void note_end(struct px_source *source, const struct px_lib_output *o)
{
    const uint8_t bit = (uint8_t)o->channel;

    if ((source->open[o->rank] & bit) == 0)
        return;
    source->open[o->rank] &= (uint8_t)~bit;
    source->open_count--;
    source->events->on_end(source->arg, source->job.base, o->rank, bit);
}

static void deliver(struct px_source *source, struct px_lib_output *piece)
{
    struct px_source_deliveries *all = source->cfg.deliveries;
    int rc;

    piece->nspace = source->job.name;
    piece->is_pulled = true;
    rc = px_lib_deliver(piece);
    /* When memory is out the helper ends: else the tool would miss output and
     * not know it. */
    OV_ASSERT(rc == 0);
    all->given++;
    all->last = source;
    all->owners[all->given % PX_SOURCE_DELIVERIES] = source->cfg.owner;
    if (source->receipts != NULL) {
        px_receipts_give(source->receipts, channel_key(piece), all->given);
        all->untold_bytes += piece->len_bytes;
    }
    source->span_bytes = px_gather_is_empty(source->gather)
                             ? 0
                             : source->span_bytes + piece->len_bytes;
    if (piece->is_end)
        note_end(source, piece);
}

static bool may_give(const struct px_source *source)
{
    return source->is_begun && !source->is_stopped && px_lib_room() > 0;
}

/* Delivers or gathers an OUTPUT, which may still be in the door's memory.
 * False: other output must be delivered first, and there is no room for it. A
 * large OUTPUT that is delivered at once is not copied. */
static bool take_output(struct px_source *source, const struct job_door *msg,
                        bool is_at_door, uint64_t now_ms)
{
    const struct px_lib_output piece = {.rank = msg->first - source->job.base,
                                        .channel =
                                            (uint16_t)(1u << msg->channel),
                                        .mem = msg->rest.at,
                                        .len_bytes = ov_rd_left(&msg->rest),
                                        .is_end = msg->is_end,
                                        .dropped_bytes = msg->dropped_bytes,
                                        .before_bytes = msg->before_bytes};
    struct px_lib_output out;
    enum px_gather_verdict verdict =
        px_gather_put(source->gather, &piece, now_ms, &out);

    if (verdict == PX_GATHER_FIRST) {
        deliver(source, &out);
        if (!may_give(source))
            return false;
        verdict = px_gather_put(source->gather, &piece, now_ms, &out);
    }
    if (source->receipts != NULL)
        px_receipts_add(source->receipts, channel_key(&piece));
    if (verdict == PX_GATHER_GOES && is_at_door && out.mem == piece.mem &&
        out.len_bytes >= JOB_DOOR_OUTPUT_MAX / 4)
        out.block = px_door_let_go(source->door);
    if (verdict == PX_GATHER_GOES)
        deliver(source, &out);
    return true;
}

/* Delivers gathered output when it has been held long enough, or when the
 * launcher must keep too much that follows it. */
static bool give_held(struct px_source *source, uint64_t now_ms)
{
    const bool all =
        source->state == PX_SOURCE_GONE ? px_backlog_is_empty(source->backlog)
        : source->receipts != NULL      ? source->span_bytes > SPAN_BYTES ||
                                         px_receipts_are_full(source->receipts)
                                   : false;
    struct px_lib_output out;

    if (!px_gather_get(source->gather, now_ms, all, &out))
        return false;
    deliver(source, &out);
    return true;
}

static bool has_room(const struct px_source *source)
{
    return may_give(source) && (source->receipts == NULL ||
                                !px_receipts_are_full(source->receipts));
}

/* True for the first moments in which copies would go to the file: waiting
 * shortly for a tool that has no processor at the moment costs less than the
 * file. */
static bool is_soon_moving(struct px_source *source)
{
    const int64_t now_ms = ep_clock_ms();

    if (source->receipts != NULL || !px_backlog_is_saving(source->backlog))
        source->saving_ms = 0;
    else if (source->saving_ms == 0)
        source->saving_ms = now_ms;
    return source->saving_ms != 0 && now_ms - source->saving_ms < SOON_MS;
}

bool px_source_give(struct px_source *source, uint64_t now_ms)
{
    const uint64_t given = source->cfg.deliveries->given;
    struct job_door msg;

    if (source->saving_ms != 0 && !is_soon_moving(source))
        px_door_go_on(source->door);
    if (!may_give(source))
        return false;
    if (give_held(source, now_ms))
        return true;
    while (given == source->cfg.deliveries->given && has_room(source) &&
           px_backlog_get(source->backlog, &msg) == 0) {
        if (take_output(source, &msg, false, now_ms))
            px_backlog_drop(source->backlog);
    }
    if (given == source->cfg.deliveries->given && has_room(source) &&
        source->saving_ms == 0)
        px_door_go_on(source->door);
    return given != source->cfg.deliveries->given;
}

/* --- from the session */

static bool is_of_job(const struct px_source *source,
                      const struct job_door *msg)
{
    return msg->first >= source->job.base &&
           msg->first - source->job.base < source->job.size &&
           msg->channel > 0 && msg->channel < CHANNELS_END;
}

/* Keeps an OUTPUT in the backlog. False: it cannot be kept now. */
static bool keep_output(struct px_source *source, const struct job_door *msg)
{
    if (source->receipts != NULL &&
        (source->is_begun || px_backlog_bytes(source->backlog) >= EARLY_BYTES))
        return false;
    if (is_soon_moving(source)) {
        /* The owner asks again, because px_source_is_busy() is true until then.
         */
        source->events->on_change(source->arg);
        return false;
    }
    if (px_backlog_put(source->backlog, msg) != 0)
        return false;
    if (has_room(source))
        source->events->on_change(source->arg);
    return true;
}

static bool hear_output(struct px_source *source, const struct job_door *msg)
{
    if (!is_of_job(source, msg) || (source->is_stopped && !source->receipts))
        return true;
    if (px_backlog_is_idle(source->backlog) && has_room(source)) {
        source->events->on_change(source->arg);
        return take_output(source, msg, true, (uint64_t)ep_clock_ms());
    }
    return keep_output(source, msg);
}

uint64_t px_source_limit_bytes(const struct px_lib_wish *wish)
{
    const uint64_t least =
        wish->copies ? LEAST_BYTES : EARLY_BYTES + JOB_DOOR_OUTPUT_MAX;
    uint64_t limit = MOST_BYTES;

    if (wish->has_cache && wish->cache_bytes < limit)
        limit = wish->cache_bytes;
    return limit > least ? limit : least;
}

static void ask_session(struct px_source *source)
{
    const struct px_lib_wish *wish = &source->cfg.wish;

    px_door_say_ranges(source->door, &source->ranks, source->job.base);
    px_door_say(source->door,
                &(struct job_door){
                    .kind = JOB_DOOR_PULL,
                    .channels = source->cfg.channels,
                    .redirects = !wish->copies,
                    .is_last = wish->drops_oldest,
                    .cache_bytes = source->cfg.cache_bytes,
                    .limit_bytes =
                        wish->copies ? BRIDGE_BYTES
                                     : (uint32_t)px_source_limit_bytes(wish)});
}

/* Makes a redirecting source copy, when the job's output goes to no console, so
 * that there is nothing to redirect. */
static void become_copy(struct px_source *source)
{
    px_receipts_close(source->receipts);
    source->receipts = NULL;
}

static bool on_word(void *arg, const struct job_door *msg)
{
    struct px_source *source = arg;

    if (msg->kind == JOB_DOOR_OUTPUT)
        return hear_output(source, msg);
    if (msg->kind == JOB_DOOR_JOB) {
        source->is_known = true;
        ask_session(source);
    }
    if (msg->kind == JOB_DOOR_PULLED) {
        if (!msg->redirects)
            become_copy(source);
        source->state = PX_SOURCE_LIVE;
        source->events->on_change(source->arg);
    }
    return true;
}

/* Ends all channels of a job that the session has forgotten. */
static void put_ends(struct px_source *source)
{
    const uint64_t all = (uint64_t)source->job.size * (CHANNELS_END - 1);

    for (; source->ends_put < all; source->ends_put++) {
        const uint32_t rank = (uint32_t)(source->ends_put / (CHANNELS_END - 1));
        const struct job_door msg = {
            .kind = JOB_DOOR_OUTPUT,
            .first = source->job.base + rank,
            .channel = (uint8_t)(1 + source->ends_put % (CHANNELS_END - 1)),
            .is_end = true,
        };

        if ((source->open[rank] & 1u << msg.channel) != 0 &&
            px_backlog_put(source->backlog, &msg) != 0)
            return; /* The other ends follow when the file has room again. */
    }
}

/* The connection has ended, perhaps because the session has forgotten the job
 * and so does not know its name. */
static void on_end(void *arg, const char *why)
{
    struct px_source *source = arg;

    source->state = PX_SOURCE_GONE;
    if (source->job.stage == JOB_DOOR_OVER && !source->is_known &&
        why[0] != '\0') {
        become_copy(source);
        source->state = PX_SOURCE_LIVE;
        put_ends(source);
    }
    source->events->on_change(source->arg);
}

static void on_backlog(void *arg)
{
    struct px_source *source = arg;

    if (source->ends_put > 0)
        put_ends(source);
    if (source->receipts == NULL)
        px_door_go_on(source->door);
    source->events->on_change(source->arg);
}

/* --- opening and closing */

static int copy_scope(struct px_source *source, const struct px_scope *scope)
{
    const size_t count = scope->ranks.count;

    source->job = scope->job;
    source->ranks.items = calloc(count, sizeof(*source->ranks.items));
    source->open = calloc(source->job.size, 1);
    if (source->ranks.items == NULL || source->open == NULL)
        return OV_ENOMEM;
    memcpy(source->ranks.items, scope->ranks.items,
           count * sizeof(*source->ranks.items));
    source->ranks.count = source->ranks.max = (uint32_t)count;
    for (size_t i = 0; i < count; i++) {
        const struct topo_range *range = &source->ranks.items[i];

        memset(source->open + range->first, source->cfg.channels,
               range->last - range->first + 1);
    }
    source->open_count = (uint64_t)topo_ranges_size(&source->ranks) *
                         (unsigned)__builtin_popcount(source->cfg.channels);
    return 0;
}

static int open_parts(struct px_source *source)
{
    static const struct px_door_events door_events = {.on_word = on_word,
                                                      .on_end = on_end};
    const struct px_source_cfg *cfg = &source->cfg;
    const struct px_lib_wish *wish = &cfg->wish;
    const struct px_backlog_cfg backlog = {
        .writer = cfg->writer,
        .dir = cfg->dir,
        .base = source->job.base,
        .procs = source->job.size,
        .limit_bytes = wish->copies ? px_source_limit_bytes(wish)
                                    : EARLY_BYTES + JOB_DOOR_OUTPUT_MAX,
        .drops_oldest = wish->drops_oldest,
        .on_change = on_backlog,
        .arg = source};
    int rc = px_backlog_open(&backlog, &source->backlog);

    if (rc == 0)
        rc = px_gather_open(
            &(struct px_gather_cfg){.procs = source->job.size,
                                    .size_bytes = wish->buffer_bytes,
                                    .time_ms = wish->buffer_s * 1000},
            &source->gather);
    if (rc == 0 && !wish->copies)
        rc = px_receipts_open(&source->receipts);
    if (rc == 0)
        rc = px_door_open(cfg->way, &door_events, source, &source->door);
    return rc;
}

int px_source_open(const struct px_source_cfg *cfg,
                   const struct px_source_events *events, void *arg,
                   struct px_source **out)
{
    struct job_door attach = {.kind = JOB_DOOR_ATTACH};
    struct px_source *source = calloc(1, sizeof(*source));
    int rc = OV_ENOMEM;

    *out = source;
    if (source == NULL)
        return rc;
    source->cfg = *cfg;
    source->events = events;
    source->arg = arg;
    if (copy_scope(source, cfg->scope) == 0)
        rc = open_parts(source);
    if (rc != 0) {
        px_source_close(source);
        *out = NULL;
        return rc;
    }
    snprintf(attach.text, sizeof(attach.text), "%s", source->job.name);
    px_door_say(source->door, &attach);
    return 0;
}

void px_source_close(struct px_source *source)
{
    if (source == NULL)
        return;
    px_door_close(source->door);
    px_backlog_close(source->backlog);
    px_gather_close(source->gather);
    px_receipts_close(source->receipts);
    free(source->ranks.items);
    free(source->open);
    free(source);
}

void px_source_begin(struct px_source *source)
{
    source->is_begun = true;
}

/* --- questions of other modules */

enum px_source_state px_source_state(const struct px_source *source)
{
    return source->state;
}

bool px_source_is_over(const struct px_source *source)
{
    return source->open_count == 0 || (source->state == PX_SOURCE_GONE &&
                                       px_backlog_is_empty(source->backlog) &&
                                       px_gather_is_empty(source->gather));
}

/* Stops delivering. A redirecting source stops reading, so that output stays
 * with the session. */
void px_source_stop(struct px_source *source)
{
    source->is_stopped = true;
    if (source->receipts != NULL)
        px_door_pause(source->door);
}

void px_source_missed(struct px_source *source, uint64_t delivery)
{
    if (source->receipts != NULL)
        px_receipts_miss(source->receipts, delivery);
}

void px_source_taken(struct px_source *source, uint64_t taken)
{
    uint64_t now;

    if (source->receipts == NULL)
        return;
    now = px_receipts_take(source->receipts, taken);
    if (now == source->told_taken || !px_door_is_quiet(source->door))
        return;
    source->told_taken = now;
    px_door_say(source->door,
                &(struct job_door){.kind = JOB_DOOR_TAKEN, .taken = now});
}

void px_source_settle(struct px_source *source)
{
    if (source->receipts != NULL && source->is_stopped)
        px_door_say(source->door,
                    &(struct job_door){.kind = JOB_DOOR_TAKEN,
                                       .taken = source->told_taken,
                                       .is_over = true});
}

bool px_source_has_told(const struct px_source *source, uint64_t taken)
{
    return source->receipts == NULL || source->state == PX_SOURCE_GONE ||
           (px_receipts_take(source->receipts, taken) == source->told_taken &&
            px_door_is_quiet(source->door));
}

bool px_source_is_settled(const struct px_source *source, uint64_t taken)
{
    return px_source_has_told(source, taken) &&
           (source->receipts == NULL || source->state == PX_SOURCE_GONE ||
            px_receipts_are_settled(source->receipts, taken));
}

bool px_source_redirects(const struct px_source *source)
{
    return source->receipts != NULL;
}

bool px_source_is_busy(const struct px_source *source)
{
    return source->is_stopped ||
           (source->saving_ms != 0 &&
            ep_clock_ms() - source->saving_ms < SOON_MS) ||
           (source->receipts != NULL &&
            !px_receipts_are_empty(source->receipts)) ||
           px_gather_due_ms(source->gather) != 0;
}

uint32_t px_source_base(const struct px_source *source)
{
    return source->job.base;
}

uint32_t px_source_owner(const struct px_source *source)
{
    return source->cfg.owner;
}

uint8_t px_source_covers(const struct px_source *source, uint32_t base,
                         uint32_t rank)
{
    return source->job.base == base && !source->is_stopped ? source->open[rank]
                                                           : 0;
}
