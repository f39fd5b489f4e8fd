/* One descriptor of the console: decides which source may write next, and which
 * wait.
 *
 * Line mode. A source whose last record left its line open holds the
 * descriptor; records of other sources are parked. A piece of the holder's line
 * never waits behind parked records: pieces that are parked are found by their
 * source, and pieces that are still in the tree can come because parked records
 * are spilled (copied, so that their buffers are free) whenever they could hold
 * such a piece up.
 *
 * Records are spilled when the holder's next piece has not come, every piece of
 * the holder that has come is written, and the parked records exceed the limit
 * or have been parked for EP_PORT_PARK_NS. They are never spilled otherwise: an
 * output that is merely slow must hold its writers up, not fill a disk.
 *
 * When the holder loses the descriptor. It must not block other sources for
 * good, but it has not paused while its next piece is stuck in the tree behind
 * megabytes of their output. So other sources must be waiting, all of the
 * holder's bytes must be written (until then it may lack the window to send
 * more), one second (EP_PORT_PAUSE_NS) must have passed since, and one of these
 * must be true:
 *   - in that second less than EP_PORT_BUSY_BYTES of other sources came, and
 * all of it was taken: nothing is jammed, so a piece would have come through;
 *   - since its last piece round_bytes of other sources were taken, the most
 * that can be ahead of it in the tree, where inputs are served in turn;
 *   - the spool is full or cannot be used: waiting longer can bring nothing.
 * If none is true, another second begins. So a prompt holds others up for one
 * second, or in a flood of others for as long as round_bytes take, if that is
 * longer. A long line in a flood is torn only when a node cannot send one piece
 * in a second although its turn came. When the loop itself was late (a stopped
 * process), the second begins again.
 *
 * Where progress bars stand in rows of their own (endpoints/console/bar_set.h),
 * a line that is one does not hold the descriptor.
 *
 * Only the console uses this.
 */
#ifndef ENDPOINTS_CONSOLE_PORT_H
#define ENDPOINTS_CONSOLE_PORT_H

#include <stdbool.h>
#include <stdint.h>

#include "endpoints/console/item.h"
#include "endpoints/console/outlet.h"
#include "endpoints/console/park.h"

struct ep_bar_set;
struct ep_console_cfg;
struct job_record;

#define EP_PORT_PAUSE_NS UINT64_C(1000000000)
#define EP_PORT_PARK_NS  UINT64_C(100000000)
/* time between two pumps while sources wait */
#define EP_PORT_LOOK_NS    UINT64_C(250000000)
#define EP_PORT_BUSY_BYTES (UINT64_C(4) << 20)

struct ep_port_events {
    /* The descriptor has taken all of the item's bytes. */
    void (*on_written)(void *arg, const struct ep_item *item);
    /* The record's buffer is no longer needed. May come from within a call. */
    void (*on_taken)(void *arg, uint64_t cookie);
    /* This many records, which were in hand or spooled, are written, or were
     * dropped with this many bytes. May come from within a call. */
    void (*on_gone)(void *arg, uint32_t records, uint64_t dropped_bytes);
    /* The descriptor, or its spool, gave an error. Called once: everything that
     * waits is dropped, and all that comes will be. */
    void (*on_error)(void *arg, uint8_t channel, int err);
    void (*on_note)(void *arg, const char *text);
    /* The sink or the spool has made progress; the deadline may have
     * changed. */
    void (*on_step)(void *arg);
};

struct ep_port {
    const struct ep_console_cfg *cfg; /* borrowed */
    const struct ep_port_events *events;
    void *arg;
    struct ep_item_pool *pool; /* borrowed */
    struct ep_bar_set *bars;   /* borrowed; NULL: bars are unfinished lines */
    struct ep_outlet out;
    struct ep_park park;
    struct ep_source *holder;
    uint64_t quiet_ns; /* when the second (see above) began */
    uint64_t looked_ns;
    /* bytes of other sources parked since the holder's last piece */
    uint64_t came_bytes;
    /* bytes of other sources parked since quiet_ns */
    uint64_t came_quiet_bytes;
    uint8_t channel;
    bool is_idle;    /* the outlet was idle at the last pump */
    bool is_waiting; /* other sources were waiting at the last pump */
    bool is_spilling;
    bool is_full; /* the spool refused a record while this source held */
    bool is_finishing;
    bool is_dead;  /* there was an error: everything is dropped */
    bool is_noted; /* the one possible call of on_note was made */
};

/* Opens a port. Returns 0, or what ep_outlet_open() returns. */
int ep_port_open(struct ep_port *port, uint8_t channel, int fd,
                 const struct ep_console_cfg *cfg, struct ep_item_pool *pool,
                 const struct ep_port_events *events, void *arg);

/* Drops what is left, with callbacks, and closes the port. */
void ep_port_close(struct ep_port *port);

/* Says, before any record comes, that bars are taken from its output. */
void ep_port_takes_bars(struct ep_port *port, struct ep_bar_set *bars);

/* Takes one record. Returns 0, or OV_ENOMEM; nothing has changed then. */
int ep_port_record(struct ep_port *port, const struct job_record *rec,
                   uint64_t now_ns);

/* Writes, spills and takes the descriptor from the holder, as far as that is
 * due at now_ns. Harmless at any time. */
void ep_port_pump(struct ep_port *port, uint64_t now_ns);

/* Returns when ep_port_pump must be called next; UINT64_MAX: at no given
 * time. */
uint64_t ep_port_deadline(const struct ep_port *port);

/* Says that no record follows, so an open line can no longer go on. */
void ep_port_finish(struct ep_port *port, uint64_t now_ns);

/* Drops everything that is not written, and everything that comes from now
 * on. */
void ep_port_give_up(struct ep_port *port);

bool ep_port_is_idle(const struct ep_port *port);

#endif
