/* One descriptor's end of the console: items in, bytes out, in order.
 *
 * Items of a plain style go to the sink as they are, by reference. Others are
 * formatted into a few blocks of 64 KiB; a block leaves when it is full or
 * when nothing else is on its way, so a quiet console adds no delay and a busy
 * one no small writes. Items wait in a list while blocks or jobs run out.
 *
 * The outlet knows where lines end: it puts a newline where another source's
 * output follows an unfinished line, and none where the same line goes on. It
 * pauses there for others who write to the same file.
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

/* How long an item may wait before it is begun. */
enum ep_outlet_pause {
    EP_OUTLET_GOES_ON,
    EP_OUTLET_PAUSES_AT_LINE, /* where a line ends */
    EP_OUTLET_PAUSES_AT_ITEM, /* or a piece of one */
};

struct ep_outlet_events {
    /* Every byte of the item is written, or dropped by ep_outlet_drop. May be
     * called from within ep_outlet_put when the item has no bytes. */
    void (*on_done)(void *arg, struct ep_item *item);
    /* Some items may have been done, or ep_outlet_errno may have changed. */
    void (*on_batch_end)(void *arg);
};

struct ep_outlet_block {
    uint8_t *mem; /* owned, made at first use */
    uint32_t len_bytes;
};

struct ep_outlet {
    const struct ep_outlet_events *events;
    void *arg;
    struct ep_sink *sink;        /* NULL: closed */
    struct ep_item *ready_first; /* not or not wholly handed to the sink */
    struct ep_item *ready_last;
    struct ep_item *sent_first; /* handed over, not yet written */
    struct ep_item *sent_last;
    uint64_t handed_bytes; /* put into blocks or jobs */
    uint64_t written_bytes;
    uint64_t seen_progress; /* ep_outlet_stuck */
    uint64_t seen_ns;
    uint32_t at_bytes;    /* of ready_first already formatted */
    uint32_t first_block; /* of those in use */
    uint32_t blocks_busy; /* handed to the sink */
    uint32_t line_proc;   /* whose line the last byte is from */
    uint8_t line_channel; /* 0: nobody's, the next byte starts a line */
    uint8_t last_channel; /* that the last byte is from */
    bool line_is_plain;
    bool is_raw;
    bool mid_line; /* the last byte was no newline */
    bool is_finishing;
    enum ep_outlet_pause pause;
    int err; /* nothing more can be written */
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

/* Returns 0, OV_ENOMEM, or OV_ESYS with errno. A closed descriptor opens, and
 * gives EBADF when something is written. */
int ep_outlet_open(struct ep_outlet *out, const struct ep_outlet_cfg *cfg);

/* Takes an item; its memory stays borrowed until on_done. */
void ep_outlet_put(struct ep_outlet *out, struct ep_item *item);

/* From where the pause says on nothing more is begun. Returns whether that is
 * so, and all before it is written; where not, look again at on_batch_end. At
 * an open line EP_OUTLET_PAUSES_AT_LINE waits for what follows. */
bool ep_outlet_pause(struct ep_outlet *out, enum ep_outlet_pause pause);
void ep_outlet_resume(struct ep_outlet *out);

/* Nothing follows: an unfinished last line gets its newline, if it is not of a
 * plain style. */
void ep_outlet_finish(struct ep_outlet *out);

/* Why the descriptor cannot be written any more (EPIPE, ENOSPC ...); 0 while
 * it can. Final: what is left is answered by ep_outlet_drop. */
int ep_outlet_errno(const struct ep_outlet *out);

/* Everything put is written. */
bool ep_outlet_is_idle(const struct ep_outlet *out);

/* Whether bytes wait and none was taken since some time before `now_ns`;
 * *since_ns is that time. As exact as it is called often. */
bool ep_outlet_is_stuck(struct ep_outlet *out, uint64_t now_ns,
                        uint64_t *since_ns);

/* Closes the descriptor and answers all items as done. May be called again. */
void ep_outlet_drop(struct ep_outlet *out);

/* Closes; items that are left must be none (ep_outlet_drop). */
void ep_outlet_close(struct ep_outlet *out);

#endif
