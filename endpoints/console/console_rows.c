/* What stands beneath the output of the console: a line of status, and progress
 * bars. */
#include "config.h"

#include "endpoints/console/console_impl.h"

#include <event2/event.h>
#include <stdio.h>
#include <string.h>

#include "endpoints/sys/writer.h"
#include "overlay/base/err.h"

/* how long no output has come when a line of status alone has a place */
#define STATUS_QUIET_NS UINT64_C(1000000000)

/* Stops the lanes of the terminal for the rows. Returns false when they have no
 * place: output waits, or a line is unfinished. */
static bool on_begin(void *arg)
{
    struct ep_console *con = arg;

    if (con->pause_ns != 0)
        return false;
    for (int i = 0; i < con->lanes_count; i++) {
        const struct ep_port *port = &con->lanes[i].port;

        if (con->lanes[i].is_above &&
            (!ep_port_is_idle(port) || port->out.mid_line))
            return false;
    }
    for (int i = 0; i < con->lanes_count; i++) {
        if (con->lanes[i].is_above)
            (void)ep_outlet_pause(&con->lanes[i].port.out,
                                  EP_OUTLET_PAUSES_AT_ITEM);
    }
    if (con->colour.is_on)
        ep_rows_uncolour(con->rows);
    con->colour.is_on = false;
    return true;
}

/* Lets the output go on that waited until the rows were erased. */
static void on_gone(void *arg)
{
    struct ep_console *con = arg;

    if (con->pause_ns == 0)
        con->resume(con);
    else
        event_active(con->deliver, 0, 0);
}

static bool is_drawn(const struct ep_console *con, uint8_t channel)
{
    return (con->cfg.bar_channels & (1u << channel)) != 0;
}

/* The rows are on the terminal that is stderr; or, where bars of stdout alone
 * are drawn, on that which is stdout. */
static int open_rows(struct ep_console *con)
{
    const bool is_stdout = is_drawn(con, TEXT_CHANNEL_STDOUT) &&
                           !is_drawn(con, TEXT_CHANNEL_STDERR);
    const struct ep_sink *sink = con->lanes[is_stdout ? 0 : 1].port.out.sink;
    const struct ep_rows_cfg cfg = {
        .base = con->cfg.base,
        .writer = con->cfg.writer,
        .fd = sink != NULL ? ep_sink_fd(sink) : -1,
        .now_ns = con->cfg.now_ns,
        .now_arg = con->cfg.arg,
        .on_begin = on_begin,
        .on_gone = on_gone,
        .arg = con,
    };

    if (sink == NULL)
        return OV_ECLOSED;
    con->status = (struct ep_row){.key = EP_ROWS_LAST,
                                  .text = (const uint8_t *)con->status_text};
    for (int i = 0; is_stdout && i < con->lanes_count; i++)
        con->lanes[i].is_above = i == 0;
    return ep_rows_open(&cfg, &con->rows);
}

int ep_console_rows_open(struct ep_console *con)
{
    int rc;

    if (con->cfg.bar_channels == 0 || con->cfg.is_raw)
        return 0;
    rc = open_rows(con);
    if (rc != 0)
        return rc;
    con->bars = ep_bar_set_open(con->rows);
    if (con->bars == NULL)
        return OV_ENOMEM;
    for (int i = 0; i < con->lanes_count; i++) {
        if (is_drawn(con, (uint8_t)(i + 1)))
            ep_port_takes_bars(&con->lanes[i].port, con->bars);
    }
    return 0;
}

/* ---- the line of status ---- */

static bool erase_status(struct ep_console *con)
{
    ep_rows_drop(con->rows, &con->status);
    if (ep_rows_count(con->rows) == 0)
        ep_rows_hide(con->rows);
    else
        ep_rows_step(con->rows);
    return !ep_rows_are_shown(con->rows);
}

static bool is_quiet(const struct ep_console *con)
{
    return con->came_ns == 0 ||
           ep_console_now_ns(con) - con->came_ns >= STATUS_QUIET_NS;
}

bool ep_console_status(struct ep_console *con, const char *text)
{
    bool is_alone;

    if (text == NULL)
        return erase_status(con);
    if (con->rows == NULL && open_rows(con) != 0)
        return false;
    is_alone = ep_rows_count(con->rows) == 0;
    if (is_alone && !ep_rows_are_shown(con->rows) && !is_quiet(con))
        return false;
    snprintf(con->status_text, sizeof(con->status_text), "%s", text);
    con->status.text_bytes = (uint32_t)strlen(con->status_text);
    ep_rows_put(con->rows, &con->status);
    if (ep_rows_draw(con->rows))
        return true;
    if (is_alone && !ep_rows_are_shown(con->rows))
        ep_rows_drop(con->rows, &con->status);
    return !is_alone;
}

void ep_console_forget(struct ep_console *con)
{
    ep_rows_forget(con->rows);
}

bool ep_console_hold(struct ep_console *con, bool is_held)
{
    ep_rows_hold(con->rows, is_held);
    return !is_held || !ep_rows_are_shown(con->rows);
}

void ep_console_settle(struct ep_console *con)
{
    ep_rows_settle(con->rows);
}
