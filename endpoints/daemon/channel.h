/* An output channel: the read end of a pipe, which is a process's stdout,
 * stderr or stddiag.
 *
 * The owner pulls: on_ready reports once that there is something to read, and
 * the channel then reports nothing until ep_channel_read has drained it. So a
 * channel that is not read costs nothing, and its process blocks on a full
 * pipe.
 *
 * In line mode ep_channel_read gives whole lines only, newline included. The
 * unfinished line (the carry, at most EP_CHANNEL_CARRY_MAX) waits in memory or
 * in a file that all channels of a daemon share (tails.h), and comes first in
 * the next read. It is given without its newline
 *   - in pieces, when the line grows beyond EP_CHANNEL_CARRY_MAX or the given
 *     room, or when neither memory nor file has room for it;
 *   - at the end of the channel;
 *   - when it is older than open_ms.
 * So the bytes of a read end in the middle of a line exactly when the last of
 * them is no newline. Bytes, NUL included, are never changed, lost or
 * reordered.
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
    EP_CHANNEL_MORE, /* read again when there is room: more bytes may come */
    EP_CHANNEL_IDLE, /* the pipe is empty; on_ready will be called */
    EP_CHANNEL_END,  /* everything was given, and no more will come */
};

struct ep_channel_cfg {
    struct event_base *base; /* borrowed, outlives the channel */
    /* borrowed, outlives the channel; not used in raw mode */
    struct ep_tails *tails;
    int fd;   /* owned by the channel after a successful open */
    bool raw; /* gives bytes as they come, without waiting for whole lines */
    /* An unfinished line is given when it is this old; 0: never. */
    uint32_t open_ms;
    /* There is something to read: bytes, the end, or an unfinished line that is
     * older than open_ms. Called from the event loop; may call anything
     * below. */
    void (*on_ready)(void *arg, struct ep_channel *ch);
    void *arg; /* borrowed */
};

/* Makes cfg->fd non-blocking (it must be the only user of this read end) and
 * begins to watch it. Returns 0, OV_ESYS or OV_ENOMEM; after an error fd is
 * still the caller's. Cost: about 400 bytes. */
int ep_channel_open(const struct ep_channel_cfg *cfg, struct ep_channel **out);

/* Closes the descriptor and frees the channel; bytes that were not read are
 * lost. NULL is allowed. */
void ep_channel_close(struct ep_channel *ch);

/* Reads at most `room` bytes (at least 1) into dst, straight from the pipe
 * where possible; it may write to all of dst. *got may be 0 in every state.
 * When room is at least EP_CHANNEL_CARRY_MAX, lines up to that length come
 * whole. After EP_CHANNEL_IDLE, on_ready may also be called because the carry
 * was written to the file or read from it. Cost: usually one read(2); only the
 * unfinished line is copied. Returns 0, or OV_ESYS when the descriptor failed:
 * the state is then EP_CHANNEL_END and *got bytes are the last ones. Must not
 * be called after EP_CHANNEL_END. */
int ep_channel_read(struct ep_channel *ch, uint8_t *dst, uint32_t room,
                    uint32_t *got, enum ep_channel_state *state);

/* Has on_ready called soon, after a read that left EP_CHANNEL_MORE. For an
 * owner that gives other channels a turn first. */
void ep_channel_wait(struct ep_channel *ch);

/* Says that the channel will not be read for some time, so that other channels
 * can use the slot in which its tail is read back. Afterwards, call
 * ep_channel_read without waiting for on_ready. */
void ep_channel_rest(struct ep_channel *ch);

/* Returns how many bytes of unfinished lines were lost because the file could
 * not be read, with the errno of the last failure; each loss is reported once.
 * The lost bytes belong before what was read last. */
uint64_t ep_channel_lost(struct ep_channel *ch, int *err);

/* Returns how many bytes the pipe holds. Cost: one system call. */
uint32_t ep_channel_unread(const struct ep_channel *ch);

/* Has the channel end after the bytes that its pipe holds now, although other
 * processes may hold the pipe open. on_ready follows unless a read is due
 * anyway. */
void ep_channel_expire(struct ep_channel *ch);

#endif
