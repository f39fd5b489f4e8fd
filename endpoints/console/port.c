/* Decides which source holds a descriptor, and parks and spills records of the
 * other sources. */
#include "config.h"

#include "endpoints/console/port.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "endpoints/console/bar_set.h"
#include "endpoints/console/console.h"
#include "overlay/base/err.h"
#include "overlay/base/panic.h"

enum { NOTE_BYTES = 256 };

static void source_settle(struct ep_port *port, struct ep_source *source)
{
    if (!source->is_open && source->first == NULL && port->holder != source)
        ep_source_remove(&port->park.sources, source);
}

static void holder_set(struct ep_port *port, struct ep_source *source)
{
    if (port->holder != source) {
        port->is_spilling = false;
        port->is_full = false;
    }
    port->holder = source;
}

static void holder_lose(struct ep_port *port)
{
    struct ep_source *source = port->holder;

    holder_set(port, NULL);
    source_settle(port, source);
}

/* ---- the end of things ---- */

static void item_gone(struct ep_port *port, struct ep_item *item)
{
    const uint64_t dropped = port->is_dead ? item->payload_bytes : 0;
    const uint32_t records = item->records;
    struct ep_item *run = item->run;

    if (!port->is_dead && item->len_bytes > 0)
        port->events->on_written(port->arg, item);
    if (run == NULL && !item->is_spooled && records > 0)
        port->events->on_taken(port->arg, item->cookie);
    ep_item_put(port->pool, item);
    if (run != NULL && --run->users == 0) {
        if (port->park.spool != NULL)
            ep_spool_release(port->park.spool, &run->ref);
        ep_item_put(port->pool, run);
    }
    port->events->on_gone(port->arg, records, dropped);
}

static void on_outlet_done(void *arg, struct ep_item *item)
{
    item_gone(arg, item);
}

/* After an error: drops everything that waits, and all that comes. */
static void port_kill(struct ep_port *port)
{
    struct ep_item *item;

    if (port->is_dead)
        return;
    port->is_dead = true;
    if (port->bars != NULL)
        ep_bar_set_forget(port->bars, port);
    /* the outlet may be writing bytes of the spool */
    ep_outlet_drop(&port->out);
    while ((item = port->park.first) != NULL) {
        /* All sources are dropped as well, so this item need not be removed
         * from its source's list. */
        item->source = NULL;
        ep_park_take(&port->park, item);
        item_gone(port, item);
    }
    ep_spool_close(port->park.spool);
    port->park.spool = NULL;
    port->holder = NULL;
    ep_sources_fini(&port->park.sources);
}

static void port_fail(struct ep_port *port, int err)
{
    if (port->is_dead)
        return;
    port_kill(port);
    port->events->on_error(port->arg, port->channel, err);
}

/* Handles a file that cannot be read: the records that were spooled are
 * lost. */
static void port_fail_spooled(struct ep_port *port, int err)
{
    char text[NOTE_BYTES];
    uint64_t bytes = 0;

    for (const struct ep_item *item = port->park.first; item != NULL;
         item = item->next)
        bytes += item->is_spooled ? item->payload_bytes : 0;
    snprintf(text, sizeof(text),
             "%" PRIu64 " bytes of output that waited for %s are lost: the "
             "temporary file that held them cannot be read (%s)",
             bytes, text_channel_name(port->channel), strerror(err));
    port->events->on_note(port->arg, text);
    port_fail(port, err);
}

/* ---- issuing ---- */

static void item_issue(struct ep_port *port, struct ep_item *item,
                       uint64_t now_ns)
{
    struct ep_source *source = item->source;
    const bool is_opening = item->is_opening;
    /* An empty record that is not the end does not change the line. */
    const bool counts = item->len_bytes > 0 || item->is_eof;

    item->source = NULL;
    ep_outlet_put(&port->out, item);
    if (!ep_outlet_is_idle(&port->out))
        port->is_idle = false;
    if (counts && !port->cfg->is_raw) {
        holder_set(port, is_opening ? source : NULL);
        port->quiet_ns = now_ns;
        port->came_bytes = 0;
        port->came_quiet_bytes = 0;
    }
    if (source != NULL)
        source_settle(port, source);
}

static void run_issue(struct ep_port *port, struct ep_item *run,
                      uint64_t now_ns)
{
    struct ep_item *item;
    uint32_t at_bytes = 0;

    run->users = 1; /* one use is our own, until all its records are issued */
    while ((item = ep_park_next(&port->park, run, &at_bytes)) != NULL)
        item_issue(port, item, now_ns);
    if (at_bytes < run->ref.len_bytes)
        port_fail(port, ENOMEM);
    if (--run->users > 0)
        return;
    if (port->park.spool != NULL)
        ep_spool_release(port->park.spool, &run->ref);
    ep_item_put(port->pool, run);
}

/* Issues the next item if it may be written and its bytes are in memory. */
static bool port_issue_next(struct ep_port *port, uint64_t now_ns)
{
    struct ep_item *item =
        port->holder != NULL ? port->holder->first : port->park.first;
    int rc;

    if (item == NULL)
        return false;
    rc = item->is_spooled ? ep_park_fetch(&port->park, item) : 0;
    if (rc == OV_EAGAIN)
        return false;
    if (rc != 0) {
        port_fail_spooled(port, errno);
        return false;
    }
    ep_park_take(&port->park, item);
    if (item->is_spooled)
        run_issue(port, item, now_ns);
    else
        item_issue(port, item, now_ns);
    return !port->is_dead;
}

/* ---- waiting for the holder ---- */

/* True when other sources wait for a piece of the holder's line that has not
 * come. */
static bool is_held(const struct ep_port *port)
{
    return port->holder != NULL && port->holder->first == NULL &&
           port->park.first != NULL;
}

static bool has_spool(const struct ep_port *port)
{
    return port->cfg->spool_limit_bytes > 0 && !port->is_full;
}

/* True when the holder loses the descriptor; otherwise may begin another
 * second. */
static bool has_paused(struct ep_port *port, uint64_t now_ns)
{
    const bool is_late =
        port->is_waiting && now_ns - port->looked_ns > 2 * EP_PORT_LOOK_NS;
    const bool is_jammed = port->is_spilling && port->park.hand_count > 0;

    port->is_waiting = true;
    port->looked_ns = now_ns;
    if (!is_late) {
        if (now_ns - port->quiet_ns < EP_PORT_PAUSE_NS)
            return false;
        if (port->came_bytes >= port->cfg->round_bytes || !has_spool(port))
            return true;
        if (port->came_quiet_bytes < EP_PORT_BUSY_BYTES && !is_jammed)
            return true;
    }
    port->quiet_ns = now_ns;
    port->came_quiet_bytes = 0;
    return false;
}

static void port_note(struct ep_port *port)
{
    char text[NOTE_BYTES];
    int err =
        port->park.spool != NULL ? ep_spool_errno(port->park.spool) : ENOMEM;

    if (port->is_noted)
        return;
    port->is_noted = true;
    if (err == 0)
        snprintf(
            text, sizeof(text),
            "rank %" PRIu32 " does not finish a line, and the temporary "
            "file for the others' output is full (%" PRIu64
            " MiB): the line is cut as soon as this rank pauses for a second",
            port->holder->rank, port->cfg->spool_limit_bytes >> 20);
    else
        snprintf(text, sizeof(text),
                 "rank %" PRIu32
                 " does not finish a line, and the others' output cannot wait "
                 "in a temporary file (%s; TMPDIR names its directory): the "
                 "line is cut as soon as this rank pauses for a second",
                 port->holder->rank,
                 err == ENOTSUP ? "no directory on a disk" : strerror(err));
    port->events->on_note(port->arg, text);
}

static void on_spool_change(void *arg)
{
    struct ep_port *port = arg;

    port->events->on_step(port->arg);
}

static bool is_over_limit(const struct ep_port *port)
{
    return port->park.hand_bytes > port->cfg->park_limit_bytes ||
           port->park.hand_count > port->cfg->park_limit_records;
}

/* Spills all records in hand, as far as the spool has room. */
static void port_spill(struct ep_port *port)
{
    int rc = 0;

    if (port->park.spool == NULL) {
        const struct ep_spool_cfg cfg = {
            .limit_bytes = port->cfg->spool_limit_bytes,
            .dir = port->cfg->spool_dir,
            .on_change = on_spool_change,
            .arg = port,
        };

        if (ep_spool_open(port->cfg->writer, &cfg, &port->park.spool) != 0)
            rc = OV_EFULL;
    }
    while (rc == 0) {
        uint64_t cookie;

        rc = ep_park_spill(&port->park, &cookie);
        if (rc == 0)
            port->events->on_taken(port->arg, cookie);
    }
    if (rc != OV_ENOENT && rc != OV_EAGAIN)
        port->is_full = true;
}

static void port_spill_if_needed(struct ep_port *port, uint64_t now_ns)
{
    if (!is_held(port) || !port->is_idle || port->park.hand_count == 0)
        return;
    if (is_over_limit(port) || now_ns - port->quiet_ns >= EP_PORT_PARK_NS)
        port->is_spilling = true;
    if (port->is_spilling && has_spool(port))
        port_spill(port);
    if (port->is_full && is_over_limit(port))
        port_note(port);
}

void ep_port_pump(struct ep_port *port, uint64_t now_ns)
{
    int err = ep_outlet_errno(&port->out);

    if (port->is_dead)
        return;
    if (err != 0) {
        port_fail(port, err);
        return;
    }
    if (!port->is_idle && ep_outlet_is_idle(&port->out)) {
        port->is_idle = true;
        port->quiet_ns = now_ns;
        port->came_quiet_bytes = 0;
    }
    for (;;) {
        while (port_issue_next(port, now_ns))
            ;
        if (port->is_dead || !is_held(port))
            break;
        if (!port->is_finishing &&
            (!port->is_idle || !has_paused(port, now_ns)))
            break;
        holder_lose(port);
    }
    if (!is_held(port) || !port->is_idle)
        port->is_waiting = false;
    port_spill_if_needed(port, now_ns);
    if (port->is_finishing && port->park.first == NULL && !port->is_dead)
        ep_outlet_finish(&port->out);
}

uint64_t ep_port_deadline(const struct ep_port *port)
{
    uint64_t at_ns;

    if (port->is_dead || !port->is_waiting)
        return UINT64_MAX;
    at_ns = port->looked_ns + EP_PORT_LOOK_NS;
    if (at_ns > port->quiet_ns + EP_PORT_PAUSE_NS)
        at_ns = port->quiet_ns + EP_PORT_PAUSE_NS;
    if (!port->is_spilling && port->park.hand_count > 0 &&
        at_ns > port->quiet_ns + EP_PORT_PARK_NS)
        at_ns = port->quiet_ns + EP_PORT_PARK_NS;
    return at_ns;
}

/* ---- records ---- */

static bool takes_bars(const struct ep_port *port, const struct ep_item *item)
{
    return port->bars != NULL && item->origin.style->format == TEXT_FORMAT_TEXT;
}

/* Sets how the record changes the line of its source. Returns false when memory
 * is out. */
static bool item_classify(struct ep_port *port, struct ep_item *item)
{
    struct ep_sources *all = &port->park.sources;
    struct ep_source *source =
        ep_source_find(all, item->proc, item->origin.channel);
    const bool was_open = source != NULL && source->is_open;
    bool is_open = was_open;

    if (item->len_bytes > 0)
        is_open = item->mem[item->len_bytes - 1] != '\n';
    if (takes_bars(port, item) &&
        ep_bar_set_take(port->bars, port, item, was_open))
        is_open = false;
    if (item->is_eof)
        is_open = false;
    if (!was_open && !is_open)
        return true;
    if (source == NULL)
        source = ep_source_add(all, item->proc, item->origin.channel);
    if (source == NULL)
        return false;
    source->rank = item->origin.rank;
    source->is_open = is_open;
    item->source = source;
    item->is_opening = is_open;
    return true;
}

static bool may_go(const struct ep_port *port, const struct ep_item *item)
{
    if (port->holder == NULL)
        return port->park.first == NULL;
    return item->source == port->holder && port->holder->first == NULL;
}

int ep_port_record(struct ep_port *port, const struct job_record *rec,
                   uint64_t now_ns)
{
    struct ep_item *item = ep_item_get(port->pool);

    if (item == NULL)
        return OV_ENOMEM;
    item->mem = rec->mem;
    item->len_bytes = item->to_bytes = rec->len_bytes;
    item->payload_bytes = rec->len_bytes;
    item->records = 1;
    item->proc = rec->proc;
    item->origin = (struct text_origin){
        .style = rec->style != NULL ? rec->style : &port->cfg->style,
        .host = rec->host,
        .time_ns = rec->time_ns,
        .rank = rec->rank,
        .channel = rec->channel,
    };
    item->cookie = rec->cookie;
    item->is_eof = rec->is_end;
    if (port->is_dead) {
        item_gone(port, item);
        return 0;
    }
    if (!port->cfg->is_raw && !item_classify(port, item)) {
        ep_item_put(port->pool, item);
        return OV_ENOMEM;
    }
    if (may_go(port, item)) {
        item_issue(port, item, now_ns);
    } else {
        port->came_bytes += item->len_bytes;
        port->came_quiet_bytes += item->len_bytes;
        ep_park_push(&port->park, item);
    }
    ep_port_pump(port, now_ns);
    return 0;
}

/* ---- opening and ending ---- */

static void on_outlet_batch_end(void *arg)
{
    struct ep_port *port = arg;

    port->events->on_step(port->arg);
}

static const struct ep_outlet_events outlet_events = {
    .on_done = on_outlet_done,
    .on_batch_end = on_outlet_batch_end,
};

int ep_port_open(struct ep_port *port, uint8_t channel, int fd,
                 const struct ep_console_cfg *cfg, struct ep_item_pool *pool,
                 const struct ep_port_events *events, void *arg)
{
    const struct ep_outlet_cfg out = {.writer = cfg->writer,
                                      .fd = fd,
                                      .is_raw = cfg->is_raw,
                                      .events = &outlet_events,
                                      .arg = port};

    *port = (struct ep_port){.cfg = cfg,
                             .events = events,
                             .arg = arg,
                             .pool = pool,
                             .channel = channel,
                             .is_idle = true};
    ep_park_init(&port->park, pool);
    return ep_outlet_open(&port->out, &out);
}

void ep_port_close(struct ep_port *port)
{
    port_kill(port);
    ep_outlet_close(&port->out);
    ep_park_fini(&port->park);
}

void ep_port_takes_bars(struct ep_port *port, struct ep_bar_set *bars)
{
    port->bars = bars;
}

/* Makes lines of the bars whose channels have not ended. */
static void end_bars(struct ep_port *port, uint64_t now_ns)
{
    struct ep_item *item = ep_item_get(port->pool);

    while (item != NULL && ep_bar_set_end(port->bars, port, item)) {
        if (may_go(port, item))
            item_issue(port, item, now_ns);
        else
            ep_park_push(&port->park, item);
        item = ep_item_get(port->pool);
    }
    if (item != NULL)
        ep_item_put(port->pool, item);
}

void ep_port_finish(struct ep_port *port, uint64_t now_ns)
{
    port->is_finishing = true;
    if (port->bars != NULL)
        end_bars(port, now_ns);
    ep_port_pump(port, now_ns);
}

void ep_port_give_up(struct ep_port *port)
{
    port_kill(port);
}

bool ep_port_is_idle(const struct ep_port *port)
{
    return port->is_dead ||
           (port->park.first == NULL && ep_outlet_is_idle(&port->out));
}
