/* Draws rows on a terminal, and erases them. */
#include "config.h"

#include "endpoints/console/rows.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <event2/event.h>

#include "endpoints/sys/fatal.h"
#include "endpoints/sys/terminal.h"
#include "endpoints/sys/writer.h"
#include "overlay/base/err.h"
#include "text/cells.h"

enum {
    SETTLE_MS = 500,
    LINES_MIN = 4,           /* fewer have room for sums alone */
    WAITING_MAX = 64 * 1024, /* bytes of output that wait for a drawing */
    FRAME_BYTES = EP_ROWS_MAX * (EP_ROWS_BYTES + 8) + 32,
};

/* All below the cursor is erased: a terminal that was made narrower may have
 * put the ends of rows there. So is what the terminal echoes in the first row,
 * such as ^C. */
static const char erase[] = "\r\033[J";

/* What is written in one go to draw the rows. */
struct frame {
    uint32_t len_bytes;
    uint32_t rows; /* how many rows it has */
    uint8_t text[FRAME_BYTES];
};

struct ep_rows {
    struct ep_rows_cfg cfg;
    struct ep_sink *sink; /* owned */
    struct event *timer;  /* owned */
    struct ep_row *first; /* in no order */
    uint32_t count;       /* rows in the list, without the last one */
    struct ep_row *last; /* the row EP_ROWS_LAST; NULL: it is not in the list */
    unsigned busy;       /* writes that are not done */
    bool is_shown;       /* the rows are, or may be, on the terminal */
    bool is_hiding;      /* the last write erases them */
    bool is_dead;        /* the terminal cannot be written */
    bool is_held;
    bool is_coloured;       /* the terminal is in the colour of a process */
    bool is_changed;        /* there is something new to draw */
    uint64_t drawn_ns;      /* when they were drawn last; 0: never */
    uint64_t waiting_bytes; /* of output that waits */
    struct frame shown;     /* borrowed by the sink while it is busy */
    struct frame next;
};

/* ---- the terminal ---- */

/* True when another program has the terminal. */
static bool is_taken(const struct ep_rows *rows)
{
    const int fd = ep_sink_fd(rows->sink);

    return isatty(fd) && ep_terminal_is_taken(fd);
}

/* ---- frames ---- */

/* Adds bytes for which there is room in any case. */
static void frame_put(struct frame *frame, const char *text)
{
    const uint32_t len_bytes = (uint32_t)strlen(text);

    memcpy(frame->text + frame->len_bytes, text, len_bytes);
    frame->len_bytes += len_bytes;
}

static void frame_row(struct frame *frame, const struct ep_row *row,
                      uint32_t columns)
{
    if (frame->rows++ > 0)
        frame_put(frame, "\033[K\r\n");
    frame->len_bytes +=
        text_cells_put(row->text, row->text_bytes, row->head_bytes, columns,
                       frame->text + frame->len_bytes, EP_ROWS_BYTES);
}

/* Finds the rows with the smallest keys, at most `most` of them, in their
 * order. Returns how many. */
static uint32_t pick(const struct ep_rows *rows, const struct ep_row *picked[],
                     uint32_t most)
{
    uint32_t count = 0;

    if (most == 0)
        return 0;
    for (const struct ep_row *row = rows->first; row != NULL; row = row->next) {
        uint32_t at;

        if (count == most && row->key >= picked[most - 1]->key)
            continue;
        at = count < most ? count++ : most - 1;
        for (; at > 0 && picked[at - 1]->key > row->key; at--)
            picked[at] = picked[at - 1];
        picked[at] = row;
    }
    return count;
}

/* Writes into `frame` what draws the rows on a terminal of its present size. */
static void compose(const struct ep_rows *rows, struct frame *frame)
{
    const struct ep_terminal_size size =
        ep_terminal_size(ep_sink_fd(rows->sink));
    const uint32_t columns = size.columns - 1;
    const struct ep_row *picked[EP_ROWS_MAX];
    uint32_t most = size.lines < LINES_MIN ? 0 : 1, drawn, left;
    char text[64];

    if (size.lines > EP_ROWS_OUTPUT_MIN)
        most = size.lines - EP_ROWS_OUTPUT_MIN;
    if (most > EP_ROWS_MAX - 2)
        most = EP_ROWS_MAX - 2;
    drawn = pick(rows, picked, rows->count > most ? most - (most > 1) : most);
    left = rows->count - drawn;
    frame->len_bytes = 0;
    frame->rows = 0;
    frame_put(frame, rows->is_coloured ? "\r\033[0m" : "\r");
    for (uint32_t i = 0; i < drawn; i++)
        frame_row(frame, picked[i], columns);
    if (left > 0) {
        const struct ep_row more = {
            .text = (const uint8_t *)text,
            .text_bytes = (uint32_t)snprintf(text, sizeof(text),
                                             "... and %" PRIu32 " more", left)};

        frame_row(frame, &more, columns);
        drawn++;
    }
    if (rows->last != NULL) {
        frame_row(frame, rows->last, columns);
        drawn++;
    }
    frame_put(frame, "\033[J\r");
    if (drawn > 1) {
        snprintf(text, sizeof(text), "\033[%" PRIu32 "A", drawn - 1);
        frame_put(frame, text);
    }
}

/* ---- drawing and erasing ---- */

static void set_timer(struct ep_rows *rows)
{
    const uint64_t now_ns = rows->cfg.now_ns(rows->cfg.now_arg);
    const uint64_t due_ns = rows->drawn_ns + EP_ROWS_EVERY_NS;
    const uint64_t wait_us = due_ns > now_ns ? (due_ns - now_ns) / 1000 + 1 : 0;
    const struct timeval wait = {.tv_usec = (suseconds_t)wait_us};

    if (!evtimer_pending(rows->timer, NULL))
        evtimer_add(rows->timer, &wait);
}

static bool is_due(const struct ep_rows *rows)
{
    return rows->cfg.now_ns(rows->cfg.now_arg) >=
           rows->drawn_ns + EP_ROWS_EVERY_NS;
}

static void gone(struct ep_rows *rows)
{
    rows->is_shown = rows->is_hiding = false;
    rows->waiting_bytes = 0;
    ep_fatal_set(-1, NULL);
    if (rows->count == 0)
        ep_rows_drop(rows, rows->last);
    rows->is_changed = rows->count > 0;
    rows->cfg.on_gone(rows->cfg.arg);
    ep_rows_step(rows);
}

static bool put(struct ep_rows *rows, const void *mem, size_t len_bytes)
{
    struct iovec iov = {.iov_base = (void *)(uintptr_t)mem,
                        .iov_len = len_bytes};

    if (ep_sink_write(rows->sink, &iov, 1, 0) != 0)
        return false;
    rows->busy++;
    return true;
}

static bool write_frame(struct ep_rows *rows)
{
    rows->shown.len_bytes = rows->next.len_bytes;
    memcpy(rows->shown.text, rows->next.text, rows->next.len_bytes);
    if (!put(rows, rows->shown.text, rows->shown.len_bytes))
        return false;
    rows->is_shown = true;
    rows->is_changed = rows->is_coloured = false;
    rows->drawn_ns = rows->cfg.now_ns(rows->cfg.now_arg);
    ep_fatal_set(ep_sink_fd(rows->sink), erase);
    return true;
}

/* Draws rows that are shown anew, unless nothing of what is drawn has
 * changed. */
static void redraw(struct ep_rows *rows)
{
    compose(rows, &rows->next);
    if (rows->next.len_bytes != rows->shown.len_bytes ||
        memcmp(rows->next.text, rows->shown.text, rows->next.len_bytes) != 0)
        (void)write_frame(rows);
    rows->is_changed = false;
}

bool ep_rows_draw(struct ep_rows *rows)
{
    const bool was_shown = ep_rows_are_shown(rows);

    if (rows == NULL || rows->is_dead || rows->is_held || rows->busy > 0 ||
        is_taken(rows) || (!was_shown && !rows->cfg.on_begin(rows->cfg.arg)))
        return false;
    compose(rows, &rows->next);
    if (write_frame(rows))
        return true;
    if (!was_shown)
        rows->cfg.on_gone(rows->cfg.arg);
    return false;
}

/* What rows that are shown have to do. */
static void step_shown(struct ep_rows *rows)
{
    if (rows->is_hiding || rows->busy > 0)
        return; /* the end of the write calls again */
    if (rows->count == 0 && rows->last == NULL) {
        ep_rows_hide(rows);
    } else if (rows->is_changed || rows->waiting_bytes > 0) {
        if (!is_due(rows))
            set_timer(rows);
        else if (is_taken(rows))
            ep_rows_forget(rows);
        else if (rows->waiting_bytes > 0)
            ep_rows_hide(rows);
        else
            redraw(rows);
    }
}

void ep_rows_step(struct ep_rows *rows)
{
    if (rows == NULL || rows->is_dead)
        return;
    if (rows->is_shown) {
        step_shown(rows);
    } else if (rows->is_changed && rows->count > 0 && !rows->is_held) {
        if (is_due(rows))
            (void)ep_rows_draw(rows);
        else
            set_timer(rows);
    }
}

void ep_rows_yield(struct ep_rows *rows, uint32_t bytes)
{
    if (!ep_rows_are_shown(rows))
        return;
    rows->waiting_bytes += bytes + 1; /* an end has none */
    if (rows->count == 0 || rows->waiting_bytes > WAITING_MAX)
        ep_rows_hide(rows);
    else
        ep_rows_step(rows);
}

void ep_rows_hide(struct ep_rows *rows)
{
    if (rows == NULL || !rows->is_shown || rows->is_hiding)
        return;
    rows->is_hiding = put(rows, erase, sizeof(erase) - 1);
}

void ep_rows_hold(struct ep_rows *rows, bool is_held)
{
    if (rows == NULL)
        return;
    rows->is_held = is_held;
    if (is_held)
        ep_rows_hide(rows);
    else
        ep_rows_step(rows);
}

void ep_rows_forget(struct ep_rows *rows)
{
    if (rows != NULL && rows->is_shown && rows->busy == 0)
        gone(rows);
}

bool ep_rows_are_shown(const struct ep_rows *rows)
{
    return rows != NULL && rows->is_shown;
}

/* ---- the list ---- */

void ep_rows_put(struct ep_rows *rows, struct ep_row *row)
{
    rows->is_changed = true;
    if (row->is_in)
        return;
    row->is_in = true;
    if (row->key == EP_ROWS_LAST) {
        rows->last = row;
        return;
    }
    row->prev = NULL;
    row->next = rows->first;
    if (row->next != NULL)
        row->next->prev = row;
    rows->first = row;
    rows->count++;
}

void ep_rows_drop(struct ep_rows *rows, struct ep_row *row)
{
    if (row == NULL || !row->is_in)
        return;
    rows->is_changed = true;
    row->is_in = false;
    if (row == rows->last) {
        rows->last = NULL;
        return;
    }
    if (row->prev != NULL)
        row->prev->next = row->next;
    else
        rows->first = row->next;
    if (row->next != NULL)
        row->next->prev = row->prev;
    rows->count--;
}

void ep_rows_uncolour(struct ep_rows *rows)
{
    rows->is_coloured = true;
}

uint32_t ep_rows_count(const struct ep_rows *rows)
{
    return rows != NULL ? rows->count : 0;
}

/* ---- opening and closing ---- */

static void on_written(void *arg, uint64_t cookie)
{
    struct ep_rows *rows = arg;

    (void)cookie;
    rows->busy--;
}

static void on_error(void *arg, int err)
{
    struct ep_rows *rows = arg;

    (void)err;
    rows->is_dead = true;
    rows->busy = 0;
    gone(rows);
}

static void on_batch_end(void *arg)
{
    struct ep_rows *rows = arg;

    if (rows->is_hiding && rows->busy == 0)
        gone(rows);
    else
        ep_rows_step(rows);
}

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    ep_rows_step(arg);
}

int ep_rows_open(const struct ep_rows_cfg *cfg, struct ep_rows **out)
{
    static const struct ep_sink_events events = {
        .on_written = on_written,
        .on_error = on_error,
        .on_batch_end = on_batch_end,
    };
    struct ep_rows *rows = calloc(1, sizeof(*rows));
    int rc = OV_ENOMEM;

    *out = NULL;
    if (rows == NULL)
        return rc;
    rows->cfg = *cfg;
    rows->timer = evtimer_new(cfg->base, on_timer, rows);
    if (rows->timer != NULL)
        rc = ep_sink_open(cfg->writer, cfg->fd, &events, rows, &rows->sink);
    if (rc != 0) {
        if (rows->timer != NULL)
            event_free(rows->timer);
        free(rows);
        return rc;
    }
    *out = rows;
    return 0;
}

void ep_rows_settle(struct ep_rows *rows)
{
    ep_rows_hold(rows, true);
    if (ep_rows_are_shown(rows))
        (void)ep_sink_wait(rows->sink, SETTLE_MS);
}

void ep_rows_close(struct ep_rows *rows)
{
    if (rows == NULL)
        return;
    ep_rows_settle(rows);
    ep_fatal_set(-1, NULL);
    event_free(rows->timer);
    /* A thread that cannot be ended uses this memory for ever. */
    if (ep_sink_close(rows->sink, true))
        free(rows);
}
