/* The functions of the console: two ports, a clock, and callbacks that are made
 * later.
 *
 * Ports report at any time, also from within a call. Their reports are kept
 * here and the callbacks are made from the loop, so that no callback comes
 * while the caller is in a call.
 */
#include "config.h"

#include "endpoints/console/console.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <event2/event.h>

#include "endpoints/console/console_impl.h"
#include "endpoints/sys/clock.h"
#include "endpoints/sys/writer.h"
#include "overlay/base/err.h"
#include "overlay/base/panic.h"

enum { TAKEN_MIN = 256 };

#define PAUSE_LATE_NS UINT64_C(10000000000)
#define PAUSE_GAP_NS  UINT64_C(2000000000)

static uint64_t monotonic_ns(void *arg)
{
    (void)arg;
    return ep_clock_ns();
}

static void deliver_soon(struct ep_console *con)
{
    event_active(con->deliver, 0, 0);
}

/* ---- from the ports ---- */

static void on_written(void *arg, const struct ep_item *item)
{
    const struct ep_console_cfg *cfg = &((struct con_lane *)arg)->con->cfg;

    if (cfg->events->on_written != NULL)
        cfg->events->on_written(cfg->arg, item->proc, item->origin.channel,
                                item->mem, item->len_bytes);
}

static void on_taken(void *arg, uint64_t cookie)
{
    struct ep_console *con = ((struct con_lane *)arg)->con;

    OV_ASSERT(con->taken_put - con->taken_told < con->taken_cap);
    con->taken[con->taken_put++ & (con->taken_cap - 1)] = cookie;
    deliver_soon(con);
}

static void on_gone(void *arg, uint32_t records, uint64_t dropped_bytes)
{
    struct ep_console *con = ((struct con_lane *)arg)->con;

    OV_ASSERT(con->pending >= records);
    con->pending -= records;
    con->dropped_bytes += dropped_bytes;
    if (con->pending == 0)
        deliver_soon(con);
}

static void on_error(void *arg, uint8_t channel, int err)
{
    struct con_lane *lane = arg;

    (void)channel;
    lane->err = err;
    deliver_soon(lane->con);
}

static void on_note(void *arg, const char *text)
{
    struct con_lane *lane = arg;

    snprintf(lane->note, sizeof(lane->note), "%s", text);
    deliver_soon(lane->con);
}

static void timer_set(struct ep_console *con)
{
    uint64_t at_ns = UINT64_MAX;
    uint64_t now_ns;
    struct timeval tv;

    for (int i = 0; i < con->lanes_count; i++) {
        uint64_t port_ns = ep_port_deadline(&con->lanes[i].port);

        if (port_ns < at_ns)
            at_ns = port_ns;
    }
    if (at_ns == UINT64_MAX)
        return; /* a timer that is already set is harmless */
    now_ns = ep_console_now_ns(con);
    at_ns = at_ns > now_ns ? at_ns - now_ns : 0;
    tv.tv_sec = (time_t)(at_ns / 1000000000);
    tv.tv_usec = (suseconds_t)(at_ns % 1000000000 / 1000 + 1);
    event_add(con->timer, &tv);
}

/* True when a pause no longer waits for the end of an open line. When the last
 * check was long ago (a stopped process), the time begins again. */
static bool waits_no_more(struct ep_console *con, uint64_t now_ns)
{
    const bool is_late = now_ns - con->looked_ns > PAUSE_GAP_NS;
    uint64_t handed_bytes = 0;
    bool is_idle = true;

    for (int i = 0; i < con->lanes_count; i++) {
        const struct ep_outlet *out = &con->lanes[i].port.out;

        handed_bytes += con->lanes[i].is_stderr ? out->handed_bytes : 0;
        is_idle =
            is_idle && (!con->lanes[i].is_stderr || ep_outlet_is_idle(out));
    }
    if (!is_idle || handed_bytes != con->quiet_bytes)
        con->quiet_ns = now_ns;
    if (is_late)
        con->pause_ns = con->quiet_ns = now_ns;
    con->quiet_bytes = handed_bytes;
    con->looked_ns = now_ns;
    return con->cfg.is_prompting ||
           now_ns - con->quiet_ns >= EP_PORT_PAUSE_NS ||
           now_ns - con->pause_ns >= PAUSE_LATE_NS;
}

/* Asks the ports to pause. True when they have paused. */
static bool is_paused(struct ep_console *con)
{
    enum ep_outlet_pause pause;
    bool all = !ep_rows_are_shown(con->rows);

    con->waits_no_more |= waits_no_more(con, ep_console_now_ns(con));
    pause = con->waits_no_more ? EP_OUTLET_PAUSES_AT_ITEM
                               : EP_OUTLET_PAUSES_AT_LINE;
    for (int i = 0; i < con->lanes_count; i++) {
        if (con->lanes[i].is_stderr &&
            !ep_outlet_pause(&con->lanes[i].port.out, pause))
            all = false;
    }
    return all;
}

static void on_step(void *arg)
{
    struct con_lane *lane = arg;

    ep_port_pump(&lane->port, ep_console_now_ns(lane->con));
    timer_set(lane->con);
    ep_rows_step(lane->con->rows);
    if ((lane->con->is_busy && lane->con->pending == 0) ||
        lane->con->is_pausing)
        deliver_soon(lane->con);
}

static const struct ep_port_events port_events = {
    .on_written = on_written,
    .on_taken = on_taken,
    .on_gone = on_gone,
    .on_error = on_error,
    .on_note = on_note,
    .on_step = on_step,
};

/* ---- from the loop ---- */

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    ep_console_tick(arg);
}

static void tell_lane(struct ep_console *con, struct con_lane *lane)
{
    const struct ep_console_events *events = con->cfg.events;
    char note[CON_NOTE_BYTES];
    int err = lane->err;

    memcpy(note, lane->note, sizeof(note));
    lane->note[0] = '\0';
    lane->err = 0;
    if (note[0] != '\0' && events->on_note != NULL)
        events->on_note(con->cfg.arg, note);
    if (err != 0 && events->on_error != NULL)
        events->on_error(con->cfg.arg, lane->port.channel, err);
}

static bool is_idle(const struct ep_console *con)
{
    for (int i = 0; i < con->lanes_count; i++) {
        if (!ep_port_is_idle(&con->lanes[i].port))
            return false;
    }
    return con->pending == 0 && con->in_hand == 0;
}

static void on_deliver(evutil_socket_t fd, short what, void *arg)
{
    struct ep_console *con = arg;
    const struct ep_console_events *events = con->cfg.events;

    (void)fd;
    (void)what;
    for (int i = 0; i < con->lanes_count; i++)
        tell_lane(con, &con->lanes[i]);
    while (con->taken_told != con->taken_put) {
        uint64_t cookie = con->taken[con->taken_told++ & (con->taken_cap - 1)];

        con->in_hand--;
        if (events->on_taken != NULL)
            events->on_taken(con->cfg.arg, cookie);
    }
    if (con->is_pausing && is_paused(con)) {
        con->is_pausing = false;
        if (events->on_pause != NULL)
            events->on_pause(con->cfg.arg);
    }
    if (con->is_busy && is_idle(con)) {
        con->is_busy = false;
        if (events->on_drained != NULL)
            events->on_drained(con->cfg.arg);
    }
}

static void lanes_resume(struct ep_console *con)
{
    for (int i = 0; i < con->lanes_count; i++)
        ep_outlet_resume(&con->lanes[i].port.out);
    ep_console_tick(con);
}

/* ---- the calls ---- */

void ep_console_cfg_init(struct ep_console_cfg *cfg)
{
    *cfg = (struct ep_console_cfg){
        .fd_stdout = 1,
        .fd_stderr = 2,
        .park_limit_bytes = 1 << 20,
        .park_limit_records = 4096,
        .spool_limit_bytes = UINT64_C(1) << 30,
        .round_bytes = UINT64_C(64) << 20,
    };
}

static bool is_style(const struct text_style *style, bool is_raw)
{
    return (int)style->label >= 0 && style->label < TEXT_LABEL_MODES &&
           (int)style->format >= 0 && style->format < TEXT_FORMATS &&
           (!is_raw || text_style_is_plain(style));
}

static bool is_one_file(int one, int other)
{
    struct stat a, b;

    return fstat(one, &a) == 0 && fstat(other, &b) == 0 &&
           a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/* True when the descriptor of this lane is a terminal. */
static bool is_terminal(const struct ep_console_cfg *cfg, int lane)
{
    return (cfg->bar_channels & (2u << lane)) != 0 ||
           isatty(lane == 0 ? cfg->fd_stdout : cfg->fd_stderr);
}

int ep_console_open(const struct ep_console_cfg *cfg, struct ep_console **out)
{
    struct ep_console *con;
    int rc = 0;

    if (!is_style(&cfg->style, cfg->is_raw))
        return OV_EINVAL;
    con = calloc(1, sizeof(*con));
    if (con == NULL)
        return OV_ENOMEM;
    con->cfg = *cfg;
    con->resume = lanes_resume;
    con->lanes[1].is_stderr = true;
    con->lanes[0].is_stderr = is_one_file(cfg->fd_stdout, cfg->fd_stderr);
    for (int i = 0; i < CON_LANES; i++)
        con->lanes[i].is_above = con->lanes[i].is_stderr;
    con->is_one = !cfg->is_prompting && con->lanes[0].is_stderr;
    if (con->cfg.now_ns == NULL)
        con->cfg.now_ns = monotonic_ns;
    con->deliver = event_new(cfg->base, -1, 0, on_deliver, con);
    con->timer = event_new(cfg->base, -1, EV_TIMEOUT, on_timer, con);
    if (con->deliver == NULL || con->timer == NULL)
        rc = OV_ENOMEM;
    for (int i = 0; rc == 0 && i < CON_LANES; i++) {
        con->lanes[i].con = con;
        rc = ep_port_open(&con->lanes[i].port, (uint8_t)(i + 1),
                          i == 0 ? cfg->fd_stdout : cfg->fd_stderr, &con->cfg,
                          &con->pool, &port_events, &con->lanes[i]);
        if (rc == 0)
            con->lanes_count = i + 1;
        if (rc == 0 && !cfg->is_raw && is_terminal(cfg, i))
            ep_outlet_shows(&con->lanes[i].port.out, &con->colour);
    }
    if (rc == 0)
        rc = ep_console_rows_open(con);
    if (rc != 0) {
        ep_console_close(con);
        return rc;
    }
    *out = con;
    return 0;
}

void ep_console_close(struct ep_console *con)
{
    if (con == NULL)
        return;
    for (int i = 0; i < con->lanes_count; i++)
        ep_port_close(&con->lanes[i].port);
    ep_bar_set_close(con->bars);
    ep_rows_close(con->rows);
    if (con->deliver != NULL)
        event_free(con->deliver);
    if (con->timer != NULL)
        event_free(con->timer);
    ep_item_pool_fini(&con->pool);
    free(con->taken);
    free(con);
}

/* Makes room in the ring for one more cookie. */
static bool taken_reserve(struct ep_console *con)
{
    uint64_t cap = con->taken_cap == 0 ? TAKEN_MIN : con->taken_cap * 2;
    uint64_t *ring;

    if (con->in_hand < con->taken_cap)
        return true;
    ring = malloc(cap * sizeof(*ring));
    if (ring == NULL)
        return false;
    for (uint64_t at = con->taken_told; at != con->taken_put; at++)
        ring[at & (cap - 1)] = con->taken[at & (con->taken_cap - 1)];
    free(con->taken);
    con->taken = ring;
    con->taken_cap = cap;
    return true;
}

static struct con_lane *lane_of(struct ep_console *con, uint8_t channel)
{
    bool is_first = channel == TEXT_CHANNEL_STDOUT || con->is_one ||
                    (channel == TEXT_CHANNEL_STDERR && con->cfg.merge_stderr);

    return &con->lanes[is_first ? 0 : 1];
}

int ep_console_record(struct ep_console *con, const struct job_record *rec)
{
    struct con_lane *lane;
    int rc;

    if (rec->channel < 1 || rec->channel >= TEXT_CHANNELS ||
        rec->len_bytes > EP_CONSOLE_RECORD_MAX ||
        (rec->style != NULL && !is_style(rec->style, con->cfg.is_raw)))
        return OV_EINVAL;
    if (!taken_reserve(con))
        return OV_ENOMEM;
    lane = lane_of(con, rec->channel);
    con->in_hand++;
    con->pending++;
    rc = ep_port_record(&lane->port, rec, ep_console_now_ns(con));
    if (rc != 0) {
        con->in_hand--;
        con->pending--;
        return rc;
    }
    con->is_busy = true;
    if (lane->is_above && !ep_port_is_idle(&lane->port)) {
        con->came_ns = ep_console_now_ns(con);
        ep_rows_yield(con->rows, rec->len_bytes);
    }
    ep_rows_step(con->rows);
    timer_set(con);
    return 0;
}

void ep_console_finish(struct ep_console *con)
{
    con->is_busy = true;
    if (ep_rows_count(con->rows) > 0)
        ep_rows_hide(con->rows);
    for (int i = 0; i < con->lanes_count; i++)
        ep_port_finish(&con->lanes[i].port, ep_console_now_ns(con));
    deliver_soon(con);
}

uint64_t ep_console_pending(const struct ep_console *con)
{
    uint64_t errors = 0;

    for (int i = 0; i < con->lanes_count; i++)
        errors += con->lanes[i].err != 0;
    return con->pending + errors;
}

bool ep_console_is_stuck(struct ep_console *con, uint64_t *since_ns)
{
    const uint64_t now_ns = ep_console_now_ns(con);
    bool is_stuck = false;

    for (int i = 0; i < con->lanes_count; i++) {
        uint64_t at_ns;

        if (!ep_outlet_is_stuck(&con->lanes[i].port.out, now_ns, &at_ns))
            continue;
        if (!is_stuck || at_ns < *since_ns)
            *since_ns = at_ns;
        is_stuck = true;
    }
    return is_stuck;
}

bool ep_console_pause(struct ep_console *con)
{
    ep_rows_hide(con->rows);
    if (con->pause_ns == 0)
        con->pause_ns = con->quiet_ns = con->looked_ns = ep_console_now_ns(con);
    con->is_pausing = !is_paused(con);
    return !con->is_pausing;
}

void ep_console_resume(struct ep_console *con)
{
    if (con->pause_ns == 0)
        return;
    con->pause_ns = 0;
    con->is_pausing = con->waits_no_more = false;
    lanes_resume(con);
}

void ep_console_give_up(struct ep_console *con)
{
    for (int i = 0; i < con->lanes_count; i++)
        ep_port_give_up(&con->lanes[i].port);
    ep_rows_step(con->rows);
    deliver_soon(con);
}

uint64_t ep_console_dropped(const struct ep_console *con)
{
    return con->dropped_bytes;
}

void ep_console_tick(struct ep_console *con)
{
    const uint64_t now_ns = ep_console_now_ns(con);

    for (int i = 0; i < con->lanes_count; i++)
        ep_port_pump(&con->lanes[i].port, now_ns);
    timer_set(con);
    ep_rows_step(con->rows);
}
