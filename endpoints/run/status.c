/* Gathers the numbers of the line of status, once a second. */
#include "endpoints/run/status.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include <event2/event.h>

#include "endpoints/console/status.h"
#include "endpoints/output/output.h"
#include "endpoints/run/status_words.h"
#include "endpoints/sys/clock.h"
#include "endpoints/sys/fatal.h"
#include "overlay/base/err.h"

enum {
    FIRST_MS = 2000,
    EVERY_MS = 1000,
    PAUSED_MS = 2000, /* between two looks whether there is a place again */
    COLUMNS = 80,
    RATE_S = 3, /* the rate is a mean of about this time */
};

struct run_status {
    struct run_status_cfg cfg;
    struct event *timer;           /* owned */
    struct run_status_view before; /* what was seen at the last look */
    uint64_t looked_ns;
    double rate; /* bytes of stdin per second */
    bool is_held;
};

/* True where no program but this run writes to the terminal of stderr. A pipe
 * may lead to one that does; and so does a shell that has started this run in
 * the background of a script, for which it ignores SIGINT. */
static bool is_place(void)
{
    const char *term = getenv("TERM");
    struct sigaction action;
    struct stat out, err;

    return isatty(STDERR_FILENO) && term != NULL && strcmp(term, "dumb") != 0 &&
           sigaction(SIGINT, NULL, &action) == 0 &&
           action.sa_handler != SIG_IGN && fstat(STDERR_FILENO, &err) == 0 &&
           fstat(STDOUT_FILENO, &out) == 0 &&
           (S_ISREG(out.st_mode) ||
            (S_ISCHR(out.st_mode) &&
             (!isatty(STDOUT_FILENO) ||
              (out.st_dev == err.st_dev && out.st_ino == err.st_ino))));
}

/* True when another program uses the terminal, or asks for a password. */
static bool is_taken(void)
{
    struct termios state;

    return tcgetpgrp(STDERR_FILENO) != getpgrp() ||
           tcgetattr(STDERR_FILENO, &state) != 0 || (state.c_lflag & ECHO) == 0;
}

static unsigned columns(void)
{
    struct winsize size;

    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0
               ? size.ws_col
               : COLUMNS;
}

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
    const unsigned width = columns();
    struct run_status_view view = {0};
    char text[EP_STATUS_BYTES + 1];

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
    if (is_taken())
        ep_output_status_forget(status->cfg.output);
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
    struct run_status *status;

    *out = NULL;
    if (!is_place())
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
    begin(status);
    return 0;
}

void ep_run_status_close(struct run_status *status)
{
    if (status == NULL)
        return;
    ep_output_status_settle(status->cfg.output);
    ep_fatal_close();
    if (status->timer != NULL)
        event_free(status->timer);
    free(status);
}

bool ep_run_status_hold(struct run_status *status, bool is_held)
{
    if (status == NULL)
        return true;
    if (status->is_held && !is_held)
        set_timer(status, EVERY_MS);
    status->is_held = is_held;
    return ep_output_status(status->cfg.output, NULL);
}

bool ep_run_status_tells(const struct run_status *status)
{
    return status != NULL && !status->is_held && !is_taken();
}
