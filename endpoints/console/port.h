/* One descriptor of the console: which source may write next, and which wait.
 *
 * Line mode. A source whose line is open after its last record holds the
 * descriptor; records of others are parked. A piece of the holder's line never
 * waits behind them: pieces that are parked are found by their source, and
 * pieces still on their way can come because parked records are taken in for
 * good (spilled) whenever they could be what holds such a piece up.
 *
 * Records are spilled when the holder's next piece is not here, everything of
 * it that is here has been written, and the parked records exceed the limit or
 * have been parked for EP_PORT_PARK_NS. Never otherwise: an output that is
 * merely slow must hold its writers up, not fill a disk.
 *
 * When the holder loses the descriptor. It must not block others for good, but
 * it has not paused while its next piece is stuck in the tree behind megabytes
 * of others' output. So others must be waiting, all of the holder's bytes must
 * be written (until then it may lack the window to send more), one second
 * (EP_PORT_PAUSE_NS) must have passed since, and one of these must be true:
 *   - in that second less than EP_PORT_BUSY_BYTES of others came, and all of
 *     it was taken in: nothing is jammed, a piece would have come through;
 *   - since its last piece round_bytes of others were taken in, the most that
 *     can be ahead of it in the tree, where inputs are served in turn;
 *   - the spool is full or unusable: waiting longer can bring nothing.
 * If none is true, another second begins. So a prompt holds others up for one
 * second, or in a flood of others for as long as round_bytes take, if that is
 * longer. A long line in a flood is torn only when a node cannot send one piece
 * in a second although its turn came. When the loop itself was late (a stopped
 * process), the second begins anew.
 *
 * Not for use outside the console.
 */
#ifndef ENDPOINTS_CONSOLE_PORT_H
#define ENDPOINTS_CONSOLE_PORT_H

#include <stdbool.h>
#include <stdint.h>

#include "endpoints/console/item.h"
#include "endpoints/console/outlet.h"
#include "endpoints/console/park.h"

struct ep_console_cfg;
struct job_record;

#define EP_PORT_PAUSE_NS   UINT64_C(1000000000)
#define EP_PORT_PARK_NS    UINT64_C(100000000)
#define EP_PORT_LOOK_NS    UINT64_C(250000000) /* how often it looks */
#define EP_PORT_BUSY_BYTES (UINT64_C(4) << 20)

struct ep_port_events {
    /* The descriptor has taken all of the item's bytes. */
    void (*on_written)(void *arg, const struct ep_item *item);
    /* The record's buffer is free. May come from within a call. */
    void (*on_taken)(void *arg, uint64_t cookie);
    /* This many records (in hand, or spooled before) are written, or dropped
     * with this many bytes. May come from within a call. */
    void (*on_gone)(void *arg, uint32_t records, uint64_t dropped_bytes);
    /* The descriptor, or the spool behind it, gave an error. Told once:
     * everything that it had is dropped, and all that comes will be. */
    void (*on_error)(void *arg, uint8_t channel, int err);
    void (*on_note)(void *arg, const char *text);
    /* The sink or the spool has moved on; the deadline may have changed. */
    void (*on_step)(void *arg);
};

struct ep_port {
    const struct ep_console_cfg *cfg; /* borrowed */
    const struct ep_port_events *events;
    void *arg;
    struct ep_item_pool *pool; /* borrowed */
    struct ep_outlet out;
    struct ep_park park;
    struct ep_source *holder;
    uint64_t quiet_ns; /* when the second began; see above */
    uint64_t looked_ns;
    uint64_t came_bytes; /* of others, parked since the holder's last piece */
    uint64_t came_quiet_bytes; /* ... since quiet_ns */
    uint8_t channel;
    bool is_idle;    /* the outlet was idle when last looked at */
    bool is_waiting; /* others were waiting when last looked at */
    bool is_spilling;
    bool is_full; /* the spool refused a record under this holder */
    bool is_finishing;
    bool is_dead;  /* everything is dropped */
    bool is_noted; /* the one note that there may be was given */
};

/* Returns 0, or as ep_outlet_open(). */
int ep_port_open(struct ep_port *port, uint8_t channel, int fd,
                 const struct ep_console_cfg *cfg, struct ep_item_pool *pool,
                 const struct ep_port_events *events, void *arg);

/* Drops what is left, with callbacks. */
void ep_port_close(struct ep_port *port);

/* Takes one record. Returns 0, or OV_ENOMEM, and nothing has changed. */
int ep_port_record(struct ep_port *port, const struct job_record *rec,
                   uint64_t now_ns);

/* Does what can be done at this time. Harmless at any time. */
void ep_port_pump(struct ep_port *port, uint64_t now_ns);

/* Returns when it wants to be pumped next; UINT64_MAX: at no given time. */
uint64_t ep_port_deadline(const struct ep_port *port);

/* No record follows, so an open line can no longer go on. */
void ep_port_finish(struct ep_port *port, uint64_t now_ns);

/* Drops everything that is not written, and everything that comes. */
void ep_port_give_up(struct ep_port *port);

bool ep_port_is_idle(const struct ep_port *port);

#endif
