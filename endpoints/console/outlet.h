/* One descriptor's end of the console: items in, bytes out, in order.
 *
 * Items of a plain style go to the sink as they are, by reference. Others are
 * formatted into a few blocks of 64 KiB. A block leaves when it is full or when
 * nothing else is on its way, so a quiet console adds no delay, and a busy one
 * makes no small writes. Items wait in a list while there are no free blocks or
 * jobs.
 *
 * The outlet knows where lines end: it puts a newline where another source's
 * output follows an unfinished line, and none where the same line goes on.
 * There it can also pause for other programs that write to the same file.
 */
#ifndef ENDPOINTS_CONSOLE_OUTLET_H
#define ENDPOINTS_CONSOLE_OUTLET_H

#include <stdbool.h>
#include <stdint.h>

#include "text/format.h"
#include "endpoints/console/item.h"

struct ep_sink;
struct ep_writer;

enum {
    EP_OUTLET_BLOCK_BYTES = 64 * 1024,
    EP_OUTLET_BLOCKS = 8,
};

/* Where the outlet pauses, before it begins an item. */
enum ep_outlet_pause {
    EP_OUTLET_GOES_ON,
    EP_OUTLET_PAUSES_AT_LINE, /* at the end of a line */
    EP_OUTLET_PAUSES_AT_ITEM, /* also at the end of a piece of a line */
};

struct ep_outlet_events {
    /* Every byte of the item is written, or was dropped by ep_outlet_drop. May
     * be called from within ep_outlet_put when the item has no bytes. */
    void (*on_done)(void *arg, struct ep_item *item);
    /* Some items may have been done, or ep_outlet_errno may have changed. */
    void (*on_batch_end)(void *arg);
};

struct ep_outlet_block {
    uint8_t *mem; /* owned, made at its first use */
    uint32_t len_bytes;
};

struct ep_outlet {
    const struct ep_outlet_events *events;
    void *arg;
    struct ep_sink *sink;        /* NULL: closed */
    struct ep_item *ready_first; /* not, or not wholly, handed to the sink */
    struct ep_item *ready_last;
    struct ep_item *sent_first; /* handed over, not yet written */
    struct ep_item *sent_last;
    uint64_t handed_bytes; /* put into blocks or jobs so far */
    uint64_t written_bytes;
    uint64_t seen_progress; /* of ep_outlet_is_stuck */
    uint64_t seen_ns;
    uint32_t at_bytes;    /* bytes of ready_first already formatted */
    uint32_t first_block; /* the first of the blocks in use */
    uint32_t blocks_busy; /* handed to the sink */
    uint32_t line_proc;   /* the process of the line that is not closed */
    uint8_t line_channel; /* of that line; 0: the next byte starts a line */
    uint8_t last_channel; /* the channel of the last byte */
    bool line_is_plain;
    bool is_raw;
    bool mid_line; /* the last byte was not a newline */
    bool is_finishing;
    enum ep_outlet_pause pause;
    int err; /* an errno: nothing further can be written */
    struct text_format format;
    struct ep_outlet_block blocks[EP_OUTLET_BLOCKS];
};

struct ep_outlet_cfg {
    struct ep_writer *writer; /* borrowed */
    int fd;                   /* copied by the sink */
    bool is_raw;              /* no newlines added; all items are plain */
    const struct ep_outlet_events *events;
    void *arg;
};

/* Returns 0, OV_ENOMEM, or OV_ESYS with errno. A closed descriptor can be
 * opened; it gives EBADF when something is written. */
int ep_outlet_open(struct ep_outlet *out, const struct ep_outlet_cfg *cfg);

/* Takes an item; its memory stays borrowed until on_done. */
void ep_outlet_put(struct ep_outlet *out, struct ep_item *item);

/* Begins nothing further from the point that `pause` names. Returns true when
 * that point is reached and everything before it is written; if not, look again
 * at on_batch_end. While a line is open, EP_OUTLET_PAUSES_AT_LINE waits for the
 * rest of it. */
bool ep_outlet_pause(struct ep_outlet *out, enum ep_outlet_pause pause);
void ep_outlet_resume(struct ep_outlet *out);

/* No item follows: an unfinished last line gets its newline, unless its style
 * is plain. */
void ep_outlet_finish(struct ep_outlet *out);

/* Returns why the descriptor can no longer be written (EPIPE, ENOSPC ...); 0
 * while it can. Final: ep_outlet_drop answers the items that are left. */
int ep_outlet_errno(const struct ep_outlet *out);

/* True when everything that was put is written. */
bool ep_outlet_is_idle(const struct ep_outlet *out);

/* Tells whether bytes wait and none was taken since some time before `now_ns`;
 * *since_ns is that time. It is as exact as it is called often. */
bool ep_outlet_is_stuck(struct ep_outlet *out, uint64_t now_ns,
                        uint64_t *since_ns);

/* Closes the descriptor, and answers all items as done. May be called again. */
void ep_outlet_drop(struct ep_outlet *out);

/* Closes the outlet. No items may be left (ep_outlet_drop). */
void ep_outlet_close(struct ep_outlet *out);

#endif
