/* The struct of the console, for its own files alone. */
#ifndef ENDPOINTS_CONSOLE_CONSOLE_IMPL_H
#define ENDPOINTS_CONSOLE_CONSOLE_IMPL_H

#include <stdbool.h>
#include <stdint.h>

#include "endpoints/console/bar_set.h"
#include "endpoints/console/console.h"
#include "endpoints/console/port.h"
#include "endpoints/console/rows.h"

struct event;

enum { CON_LANES = 2, CON_NOTE_BYTES = 256 };

struct con_lane {
    struct ep_port port;
    struct ep_console *con;
    bool is_stderr; /* its descriptor is the file of stderr */
    bool is_above;  /* its descriptor is the terminal with the rows */
    int err;        /* errno that on_error is to report; 0: none */
    char note[CON_NOTE_BYTES];
};

struct ep_console {
    struct ep_console_cfg cfg;
    struct con_lane lanes[CON_LANES];
    int lanes_count; /* how many lanes are open */
    /* stdout and stderr are one file: all goes to the descriptor of stdout */
    bool is_one;
    struct ep_item_pool pool;
    struct ep_colour colour; /* of the terminal, where there is one */
    /* lets all lanes go on, and does what is due */
    void (*resume)(struct ep_console *con);
    struct event *deliver;
    struct event *timer;
    uint64_t *taken;    /* owned: a ring of cookies for on_taken */
    uint64_t taken_cap; /* a power of two; at least in_hand */
    uint64_t taken_put;
    uint64_t taken_told;
    uint64_t in_hand; /* records for which on_taken was not called yet */
    uint64_t pending; /* records that are not written */
    uint64_t dropped_bytes;
    bool is_busy;    /* on_drained is to be called */
    bool is_pausing; /* on_pause is to be called */
    /* ep_console_pause no longer waits for the end of the line */
    bool waits_no_more;
    uint64_t looked_ns;
    uint64_t pause_ns;    /* when a pause was asked for; 0: it was not */
    uint64_t quiet_ns;    /* since when no output came for stderr */
    uint64_t quiet_bytes; /* bytes handed over to stderr by then */
    struct ep_rows
        *rows; /* owned; NULL: none has been drawn, nor can bars be */
    struct ep_bar_set *bars; /* owned; NULL: bars are unfinished lines */
    struct ep_row status;    /* the line of status */
    char status_text[EP_CONSOLE_STATUS_BYTES + 1];
    uint64_t came_ns; /* when output for stderr came last; 0: never */
};

/* Opens what draws rows and takes bars, where cfg.bar_channels says so. Returns
 * 0, OV_ENOMEM or OV_ESYS. */
int ep_console_rows_open(struct ep_console *con);

static inline uint64_t ep_console_now_ns(const struct ep_console *con)
{
    return con->cfg.now_ns(con->cfg.arg);
}

#endif
