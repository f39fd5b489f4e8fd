/* The output side of one descriptor of the console: takes items, and writes
 * their bytes in order.
 *
 * Items of a plain style go to the sink as they are, by reference. Other items
 * are formatted into a few blocks of 64 KiB. A block is handed to the sink when
 * it is full or when no other block is being written, so a quiet console adds
 * no delay, and a busy one makes no small writes. Items wait in a list while
 * there are no free blocks or jobs of the sink.
 *
 * The outlet knows where lines end: it adds a newline where another source's
 * output follows an unfinished line, and none where the same line goes on.
 * Between lines it can also pause for other programs that write to the same
 * file. On a terminal a colour that a process has left on ends where output of
 * another one follows, and labels come again behind a carriage return.
 */
#ifndef ENDPOINTS_CONSOLE_OUTLET_H
#define ENDPOINTS_CONSOLE_OUTLET_H

#include <stdbool.h>
#include <stdint.h>

#include "text/format.h"
#include "endpoints/console/colour.h"
#include "endpoints/console/item.h"

struct ep_sink;
struct ep_writer;

enum {
    EP_OUTLET_BLOCK_BYTES = 64 * 1024,
    EP_OUTLET_BLOCKS = 8,
};

/* Where the outlet stops, before it begins an item. */
enum ep_outlet_pause {
    EP_OUTLET_GOES_ON,
    EP_OUTLET_PAUSES_AT_LINE, /* stops at the end of a line */
    EP_OUTLET_PAUSES_AT_ITEM, /* stops also at the end of a piece of a line */
};

struct ep_outlet_events {
    /* Every byte of the item is written, or was dropped by ep_outlet_drop. May
     * be called from within ep_outlet_put when the item has no bytes. */
    void (*on_done)(void *arg, struct ep_item *item);
    /* A group of on_done calls is over, or ep_outlet_errno may have changed. */
    void (*on_batch_end)(void *arg);
};

struct ep_outlet_block {
    uint8_t *mem; /* owned, made at its first use */
    uint32_t len_bytes;
};

struct ep_outlet {
    const struct ep_outlet_events *events;
    void *arg;
    struct ep_sink *sink; /* NULL when the outlet is closed */
    /* borrowed: the colour of the terminal to which all goes, or NULL */
    struct ep_colour *colour;
    /* items not yet, or only in part, handed to the sink */
    struct ep_item *ready_first;
    struct ep_item *ready_last;
    /* items handed to the sink but not yet written */
    struct ep_item *sent_first;
    struct ep_item *sent_last;
    uint64_t handed_bytes; /* bytes put into blocks or jobs so far */
    uint64_t written_bytes;
    uint64_t open_bytes; /* written of the line that is unfinished */
    /* progress and time at the last ep_outlet_is_stuck */
    uint64_t seen_progress;
    uint64_t seen_ns;
    uint32_t at_bytes;    /* bytes of ready_first already formatted */
    uint32_t first_block; /* index of the first block in use */
    uint32_t blocks_busy; /* number of blocks handed to the sink */
    uint32_t line_proc;   /* the process whose line is not ended yet */
    /* channel of that line; 0: the next byte begins a line */
    uint8_t line_channel;
    uint8_t last_channel; /* channel of the last byte */
    bool line_is_plain;
    bool is_raw;
    bool mid_line; /* the last byte written was not a newline */
    bool is_finishing;
    enum ep_outlet_pause pause;
    int err; /* an errno: nothing can be written any longer */
    struct text_format format;
    struct ep_outlet_block blocks[EP_OUTLET_BLOCKS];
};

struct ep_outlet_cfg {
    struct ep_writer *writer; /* borrowed */
    int fd;                   /* copied by the sink */
    bool is_raw;              /* no newlines are added; all items are plain */
    const struct ep_outlet_events *events;
    void *arg;
};

/* Opens an outlet. Returns 0, OV_ENOMEM, or OV_ESYS with errno. A closed
 * descriptor can be opened; it gives EBADF when something is written. */
int ep_outlet_open(struct ep_outlet *out, const struct ep_outlet_cfg *cfg);

/* Says, before anything is put, that the descriptor is a terminal, and which
 * colour that has; borrowed, as outlets may share it. */
void ep_outlet_shows(struct ep_outlet *out, struct ep_colour *colour);

/* Takes an item; its memory stays borrowed until on_done. */
void ep_outlet_put(struct ep_outlet *out, struct ep_item *item);

/* Stops at the point that `pause` names. Returns true when that point is
 * reached and everything before it is written; if not, call it again in
 * on_batch_end. While a line is open, EP_OUTLET_PAUSES_AT_LINE waits for the
 * rest of that line. */
bool ep_outlet_pause(struct ep_outlet *out, enum ep_outlet_pause pause);
void ep_outlet_resume(struct ep_outlet *out);

/* Says that no item follows: an unfinished last line gets its newline, unless
 * its style is plain. */
void ep_outlet_finish(struct ep_outlet *out);

/* Returns why the descriptor can no longer be written (EPIPE, ENOSPC ...); 0
 * while it can. After an error, ep_outlet_drop calls on_done for the items that
 * are left. */
int ep_outlet_errno(const struct ep_outlet *out);

/* True when every item that was put is written. */
bool ep_outlet_is_idle(const struct ep_outlet *out);

/* True when bytes wait and the descriptor has taken none since *since_ns, which
 * is before `now_ns`. The answer is as exact as the calls are frequent. */
bool ep_outlet_is_stuck(struct ep_outlet *out, uint64_t now_ns,
                        uint64_t *since_ns);

/* Closes the descriptor, and calls on_done for all items. May be called
 * again. */
void ep_outlet_drop(struct ep_outlet *out);

/* Closes the outlet. No items may be left (ep_outlet_drop). */
void ep_outlet_close(struct ep_outlet *out);

#endif
