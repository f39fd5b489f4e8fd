/* An output channel: the read end of a pipe, which is a process's stdout,
 * stderr or stddiag.
 *
 * It is pulled: on_ready says once that there is something to read, and the
 * channel is then silent until ep_channel_read has drained it. So a channel
 * that is not read costs nothing, and its process blocks on a full pipe.
 *
 * In line mode ep_channel_read gives whole lines only, newline included. The
 * unfinished line (the carry, at most EP_CHANNEL_CARRY_MAX) waits in memory or
 * in a file that all channels of a daemon node_job (tails.h), and comes first
 * next time. It comes out without its newline
 *   - in pieces, when the line grows beyond EP_CHANNEL_CARRY_MAX or the given
 *     room, or when neither memory nor file has room for it;
 *   - at the end of the channel;
 *   - when it is older than open_ms.
 * So what a read gave ends in the middle of a line exactly when its last byte
 * is no newline. Bytes, NUL included, are never changed, lost or reordered.
 */
#ifndef ENDPOINTS_DAEMON_CHANNEL_H
#define ENDPOINTS_DAEMON_CHANNEL_H

#include <stdbool.h>
#include <stdint.h>

#include "endpoints/daemon/tails.h"

struct event_base;
struct ep_channel;

enum { EP_CHANNEL_CARRY_MAX = EP_TAIL_BYTES_MAX };

enum ep_channel_state {
    EP_CHANNEL_MORE, /* there may be more: read again when there is room */
    EP_CHANNEL_IDLE, /* drained; on_ready will be called */
    EP_CHANNEL_END,  /* the end: everything was given */
};

struct ep_channel_cfg {
    struct event_base *base; /* borrowed, outlives the channel */
    struct ep_tails *tails;  /* borrowed as well; not used in raw mode */
    int fd;                  /* the channel's from a successful open on */
    bool raw;                /* gives bytes as they come, not lines */
    /* Gives an unfinished line of this age; 0: never. */
    uint32_t open_ms;
    /* There is something to read: bytes, the end, or an unfinished line that
     * has become old. Called from the event loop; may call anything below. */
    void (*on_ready)(void *arg, struct ep_channel *ch);
    void *arg; /* borrowed */
};

/* Makes cfg->fd non-blocking (it must be the only user of this read end) and
 * begins to watch it. Returns 0, OV_ESYS or OV_ENOMEM; after an error fd is
 * still the caller's. Cost: about 400 bytes. */
int ep_channel_open(const struct ep_channel_cfg *cfg, struct ep_channel **out);

/* Closes the descriptor; what was not read is lost. NULL is allowed. */
void ep_channel_close(struct ep_channel *ch);

/* Puts at most `room` bytes (at least 1) at dst, straight from the pipe where
 * possible; it may write to all of dst. *got may be 0 in every state. With
 * EP_CHANNEL_CARRY_MAX of room, lines up to that length come whole. After
 * EP_CHANNEL_IDLE, on_ready may be called because of the carry, which is then
 * on its way to or from the file. Cost: usually one read(2); only the
 * unfinished line is copied. Returns 0, or OV_ESYS when the descriptor failed:
 * the state is then EP_CHANNEL_END and *got bytes are the last ones. Not to be
 * called after EP_CHANNEL_END. */
int ep_channel_read(struct ep_channel *ch, uint8_t *dst, uint32_t room,
                    uint32_t *got, enum ep_channel_state *state);

/* After a read that left EP_CHANNEL_MORE: has on_ready called soon, for an
 * owner that gives others a turn first. */
void ep_channel_wait(struct ep_channel *ch);

/* Says that the channel will not be read for some time, so that others can use
 * what it holds. After that, call ep_channel_read without waiting for
 * on_ready. */
void ep_channel_rest(struct ep_channel *ch);

/* Bytes of unfinished lines that the file has not given back, with the errno of
 * the last failure; each is reported once. They belong before what was read
 * last. */
uint64_t ep_channel_lost(struct ep_channel *ch, int *err);

/* The bytes that the pipe holds. One system call. */
uint32_t ep_channel_unread(const struct ep_channel *ch);

/* Lets the channel end after what its pipe holds now, although others may hold
 * the pipe open. on_ready follows unless a read is due anyway. */
void ep_channel_expire(struct ep_channel *ch);

#endif
