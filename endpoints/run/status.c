/* Gathers the numbers of the line of status, once a second, and erases what
 * stands beneath the output. */
#include "endpoints/run/status.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <event2/event.h>

#include "endpoints/console/console.h"
#include "endpoints/output/output.h"
#include "endpoints/run/screen.h"
#include "endpoints/run/status_words.h"
#include "endpoints/sys/clock.h"
#include "endpoints/sys/fatal.h"
#include "endpoints/sys/terminal.h"
#include "overlay/base/err.h"
#include "text/style.h"

enum {
    FIRST_MS = 2000,
    EVERY_MS = 1000,
    PAUSED_MS = 2000, /* between two looks whether there is a place again */
    RATE_S = 3,       /* the rate is a mean of about this time */
};

struct run_status {
    struct run_status_cfg cfg;
    struct event *timer;           /* owned */
    struct run_status_view before; /* what was seen at the last look */
    uint64_t looked_ns;
    double rate;   /* bytes of stdin per second */
    bool has_line; /* the line is shown, not only bars */
    bool is_held;
};

/* Adds what follows from the last look and from the time since then. */
static void compare(struct run_status *status, struct run_status_view *view)
{
    struct run_status_view *before = &status->before;
    const uint64_t now_ns = ep_clock_ns();
    const double gone_s = (double)(now_ns - status->looked_ns) / 1e9;
    const double bytes = (double)(view->stdin_bytes - before->stdin_bytes);
    const bool lags = ep_run_status_lags(before, view);

    if (before->stdin_bytes == 0)
        status->rate = bytes / gone_s;
    else
        status->rate =
            (status->rate * RATE_S + bytes) / ((double)RATE_S + gone_s);
    view->stdin_rate = (uint64_t)status->rate;
    view->elapsed_s = (now_ns - status->cfg.start_ns) / 1000000000;
    status->looked_ns = now_ns;
    *before = *view;
    before->awaited = NULL;
    if (!lags)
        view->slow_host = NULL;
}

/* Returns when to look again; 0: never. */
static unsigned show(struct run_status *status)
{
    const unsigned width = ep_terminal_size(STDERR_FILENO).columns;
    struct run_status_view view = {0};
    char text[EP_CONSOLE_STATUS_BYTES + 1];

    if (!status->cfg.look(status->cfg.arg, width, &view)) {
        (void)ep_output_status(status->cfg.output, NULL);
        return 0;
    }
    compare(status, &view);
    ep_run_status_words(&view, width, text, sizeof(text));
    free(view.awaited);
    return ep_output_status(status->cfg.output, text) ? EVERY_MS : PAUSED_MS;
}

static void set_timer(struct run_status *status, unsigned wait_ms)
{
    const struct timeval wait = {.tv_sec = wait_ms / 1000,
                                 .tv_usec =
                                     (suseconds_t)(wait_ms % 1000) * 1000};

    evtimer_add(status->timer, &wait);
}

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
    struct run_status *status = arg;
    unsigned wait_ms = PAUSED_MS;

    (void)fd;
    (void)what;
    if (status->is_held)
        return;
    if (ep_terminal_is_taken(STDERR_FILENO))
        ep_output_forget(status->cfg.output);
    else
        wait_ms = show(status);
    if (wait_ms > 0)
        set_timer(status, wait_ms);
}

/* Sets the timer for the first look. */
static void begin(struct run_status *status)
{
    const uint64_t gone_ms = (ep_clock_ns() - status->cfg.start_ns) / 1000000;

    set_timer(status, gone_ms + EVERY_MS < FIRST_MS
                          ? FIRST_MS - (unsigned)gone_ms
                          : EVERY_MS);
}

int ep_run_status_open(const struct run_status_cfg *cfg,
                       struct run_status **out)
{
    const unsigned channels = ep_run_screen();
    struct run_status *status;

    *out = NULL;
    if (channels == 0)
        return 0;
    status = calloc(1, sizeof(*status));
    *out = status;
    if (status == NULL)
        return OV_ENOMEM;
    status->cfg = *cfg;
    status->looked_ns = ep_clock_ns();
    status->timer = evtimer_new(cfg->base, on_timer, status);
    if (status->timer == NULL)
        return OV_ENOMEM;
    ep_fatal_open();
    status->has_line =
        cfg->is_wanted && (channels & (1u << TEXT_CHANNEL_STDERR)) != 0;
    if (status->has_line)
        begin(status);
    return 0;
}

void ep_run_status_close(struct run_status *status)
{
    if (status == NULL)
        return;
    ep_output_settle(status->cfg.output);
    ep_fatal_close();
    if (status->timer != NULL)
        event_free(status->timer);
    free(status);
}

bool ep_run_status_hold(struct run_status *status, bool is_held)
{
    if (status == NULL)
        return true;
    if (status->has_line && status->is_held && !is_held)
        set_timer(status, EVERY_MS);
    status->is_held = is_held;
    return ep_output_hold(status->cfg.output, is_held);
}

bool ep_run_status_tells(const struct run_status *status)
{
    return status != NULL && status->has_line && !status->is_held &&
           !ep_terminal_is_taken(STDERR_FILENO);
}
