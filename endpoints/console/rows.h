/* Rows that stand beneath all output on a terminal, are redrawn in their
 * places, and are erased before anything else is written there.
 *
 * Each user has rows with texts of its own, each with a key; the rows stand in
 * the order of their keys. A row takes one row of the terminal: its text is cut
 * at the width of that (text/cells.h). What does not leave room for some rows
 * of output is summed up in a row that says how many more there are; only the
 * last row, EP_ROWS_LAST, is drawn in any case.
 *
 * The cursor stays at the beginning of the first row, so that one sequence
 * erases all of them, however many there are, and also when a terminal that was
 * made narrower has wrapped them.
 *
 * Changes are drawn at most ten times a second, and nothing wakes the process
 * when nothing has changed. Rows that must make room for output do so when they
 * have stood for a tenth of a second, or when the caller says that it cannot
 * wait; they come back when the output is written. They have a sink of their
 * own, so that a slow terminal does not hold up the loop. The caller keeps
 * everything else from the terminal for as long as they are shown. Nothing is
 * drawn while another program has the terminal. Only the console uses this.
 *
 * Memory: 100 KiB, and what the users keep.
 */
#ifndef ENDPOINTS_CONSOLE_ROWS_H
#define ENDPOINTS_CONSOLE_ROWS_H

#include <stdbool.h>
#include <stdint.h>

struct ep_rows;
struct ep_writer;
struct event_base;

enum {
    EP_ROWS_MAX = 48,       /* most rows that are drawn */
    EP_ROWS_BYTES = 1024,   /* most bytes of a row */
    EP_ROWS_OUTPUT_MIN = 6, /* rows of the terminal that are left to output */
};

#define EP_ROWS_EVERY_NS UINT64_C(100000000)
/* The key of the row that is the last one. It alone does not come back by
 * itself: a row without others is dropped when it was erased. */
#define EP_ROWS_LAST UINT64_MAX

/* A row, in memory of its user. All zero: it is in no list. */
struct ep_row {
    struct ep_row *next, *prev;
    uint64_t key;
    const uint8_t *text; /* borrowed while the row is in the list */
    uint32_t text_bytes;
    uint32_t head_bytes; /* of the text, which nothing in it erases */
    bool is_in;
};

struct ep_rows_cfg {
    struct event_base *base;       /* borrowed, like all pointers here */
    struct ep_writer *writer;      /* outlives the rows */
    int fd;                        /* of the terminal; copied */
    uint64_t (*now_ns)(void *arg); /* the clock, called with now_arg */
    void *now_arg;
    /* Stops everything else that writes to the terminal. Returns false when
     * that is busy, or in the middle of a line: ep_rows_step() follows. */
    bool (*on_begin)(void *arg);
    /* The rows were erased, or can no longer be written: all else may go on.
     * Called from the loop, or from ep_rows_forget(). */
    void (*on_gone)(void *arg);
    void *arg;
};

/* Opens an empty list. Returns 0, OV_ENOMEM or OV_ESYS. */
int ep_rows_open(const struct ep_rows_cfg *cfg, struct ep_rows **out);
/* Erases the rows, waiting for that at most as ep_rows_settle() does. NULL is
 * fine, here and below. */
void ep_rows_close(struct ep_rows *rows);

/* Puts a row into the list, or says that its text has changed. O(1). */
void ep_rows_put(struct ep_rows *rows, struct ep_row *row);
/* Takes a row out of the list, if it is there. O(1). */
void ep_rows_drop(struct ep_rows *rows, struct ep_row *row);
/* Says that a process has left a colour on, which ends before the rows. */
void ep_rows_uncolour(struct ep_rows *rows);
/* Returns how many rows are in the list, without the last one. */
uint32_t ep_rows_count(const struct ep_rows *rows);

/* Draws the rows now. Returns false when the last drawing is still being
 * written, none can be, or there is no place for them. */
bool ep_rows_draw(struct ep_rows *rows);
/* Does what is due: draws what has changed, or begins to erase. Harmless at any
 * time. */
void ep_rows_step(struct ep_rows *rows);

/* Says that this many bytes of output wait for the rows to be erased. */
void ep_rows_yield(struct ep_rows *rows, uint32_t bytes);
/* Begins to erase the rows at once, if they are shown; on_gone follows. */
void ep_rows_hide(struct ep_rows *rows);
/* Erases the rows, and draws none as long as they are held. */
void ep_rows_hold(struct ep_rows *rows, bool is_held);
/* Takes the rows for gone, without writing, unless they are being written. */
void ep_rows_forget(struct ep_rows *rows);
/* True until the rows were erased. */
bool ep_rows_are_shown(const struct ep_rows *rows);
/* Erases the rows and waits for that, for half a second at most; draws none
 * from now on. To be called when the loop no longer runs: no callback
 * follows. */
void ep_rows_settle(struct ep_rows *rows);

#endif
