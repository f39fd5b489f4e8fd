/* An output channel: the read end of a pipe, a process's stdout, stderr or
 * stddiag.
 *
 * It is pulled: on_ready says once that there is something to read, and the
 * channel is then silent until ep_channel_read has drained it, so a channel
 * that nobody reads costs nothing and its process blocks on a full pipe.
 *
 * In line mode ep_channel_read gives whole lines only, newline included. The
 * open tail waits (its carry, at most EP_CHANNEL_CARRY_MAX), in memory or in a
 * file that all channels of a daemon share (tails.h), and comes first next
 * time. It comes out without its newline
 *   - in pieces, when the line passes EP_CHANNEL_CARRY_MAX or the room given,
 *     or when neither memory nor file has room for it;
 *   - at the end of the channel;
 *   - when it is older than open_ms.
 * So what a read gave ends in the middle of a line exactly when its last byte
 * is no newline. Bytes are never changed, lost or reordered, NUL included.
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
    EP_CHANNEL_IDLE, /* drained; on_ready will tell */
    EP_CHANNEL_END,  /* the end, everything is delivered */
};

struct ep_channel_cfg {
    struct event_base *base; /* borrowed, outlives the channel */
    struct ep_tails *tails;  /* borrowed, as well; raw: not used */
    int fd;                  /* the channel's from a successful open on */
    bool raw;                /* bytes as they come, no lines */
    uint32_t open_ms;        /* deliver an open line of this age; 0: never */
    /* Something to read: data, the end, or an open line grown old. Called from
     * the event loop; may call anything below. */
    void (*on_ready)(void *arg, struct ep_channel *ch);
    void *arg; /* borrowed */
};

/* Makes cfg->fd non-blocking (for a pipe's read end that is nobody else's
 * business) and arms the channel. Returns 0, OV_ESYS or OV_ENOMEM; fd is then
 * still the caller's. Cost: about 400 bytes.
 */
int ep_channel_open(const struct ep_channel_cfg *cfg, struct ep_channel **out);

/* Closes the descriptor; what was not read is lost. NULL is allowed. */
void ep_channel_close(struct ep_channel *ch);

/* Puts at most `room` bytes (at least 1) at dst, straight from the pipe where
 * that can be; it may write to all of dst. *got may be 0 in every state. Give
 * EP_CHANNEL_CARRY_MAX of room to have lines up to that length whole. With
 * EP_CHANNEL_IDLE on_ready may be due to the carry, which is then on its way to
 * the file or from it.
 * Cost: one read(2) as a rule; bytes are copied only for the open tail.
 * Returns 0, or OV_ESYS when the descriptor failed: the state is then
 * EP_CHANNEL_END and *got bytes are the last ones. Not to be called after
 * EP_CHANNEL_END.
 */
int ep_channel_read(struct ep_channel *ch, uint8_t *dst, uint32_t room,
                    uint32_t *got, enum ep_channel_state *state);

/* After a read that left EP_CHANNEL_MORE: on_ready comes all the same, soon.
 * For an owner that gives others a turn. */
void ep_channel_wait(struct ep_channel *ch);

/* It is not going to be read for some time: what others need is left to them.
 * Call ep_channel_read then without being told. */
void ep_channel_rest(struct ep_channel *ch);

/* Bytes of open lines that the file has not given back, with the errno of the
 * last time; each is told once. They belong before what was read last. */
uint64_t ep_channel_lost(struct ep_channel *ch, int *err);

/* Bytes that its pipe holds. One system call. */
uint32_t ep_channel_unread(const struct ep_channel *ch);

/* The channel ends after what its pipe holds now, although others may hold
 * the pipe open. on_ready follows unless a read is due anyway. */
void ep_channel_expire(struct ep_channel *ch);

#endif
