/* Messages between the spawner and its owner, over a SOCK_SEQPACKET pair.
 *
 * A packet is an 8-byte header and up to EP_WIRE_PIECE_BYTES of body:
 *
 *      0      1      2      3      4             8
 *      | type | flags|  fds |  0   | total bytes | body ...
 *
 * A message longer than a piece is sent as several packets of the same type
 * and total; flag bit 1 marks the first, bit 0 the last one, which carries
 * the descriptors (SCM_RIGHTS). Packets are whole or absent, so descriptors
 * belong to exactly one message and nothing needs resynchronising.
 *
 * Nothing blocks. What the socket does not take stays in a queue, with
 * duplicates of its descriptors.
 */
#ifndef ENDPOINTS_SPAWN_WIRE_H
#define ENDPOINTS_SPAWN_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    EP_WIRE_FDS_MAX = 4,
    EP_WIRE_HEADER_BYTES = 8,
    EP_WIRE_PIECE_BYTES = 32 * 1024 - EP_WIRE_HEADER_BYTES,
    EP_WIRE_BODY_MAX = 8 * 1024 * 1024,
};

/* A message that is to be sent. */
struct ep_wire_out {
    struct ep_wire_out *next;
    int fds[EP_WIRE_FDS_MAX];
    uint8_t fd_count;
    uint8_t type;
    uint32_t len_bytes;
    uint32_t sent_bytes;
    uint8_t body[];
};

/* A received message. */
struct ep_wire_in {
    uint8_t type;
    bool fds_lost;    /* descriptors were sent, but there was no room */
    uint8_t fd_count; /* number of descriptors in fds */
    uint32_t len_bytes;
    const uint8_t *body;      /* borrowed until the next ep_wire_recv */
    int fds[EP_WIRE_FDS_MAX]; /* owned by the receiver, CLOEXEC */
};

struct ep_wire {
    int fd;                    /* owned; -1 after fini */
    struct ep_wire_out *first; /* owned queue */
    struct ep_wire_out *last;
    uint8_t *packet; /* owned: the last packet that was received */
    uint8_t *body; /* owned: the message that is being put together, or NULL */
    uint32_t body_bytes; /* how many bytes of this message have come so far */
    uint32_t body_total; /* how many bytes this message has in all */
    uint8_t body_type;
    bool body_done;
};

/* Takes `fd`, which must be non-blocking. Returns 0 or OV_ENOMEM; after an
 * error fd is still the caller's. */
int ep_wire_init(struct ep_wire *wire, int fd);
/* Closes the socket and drops the queue. A repeated call does nothing. */
void ep_wire_fini(struct ep_wire *wire);

/* Makes a message of len_bytes, which the caller fills in and posts. Returns
 * NULL when memory is out. len_bytes is at most EP_WIRE_BODY_MAX. */
struct ep_wire_out *ep_wire_out_new(uint8_t type, uint32_t len_bytes);
void ep_wire_out_free(struct ep_wire_out *out);

/* Sends or queues `out` with fd_count descriptors, and owns it from here on,
 * also after an error. The descriptors are borrowed: they are sent or
 * duplicated before the call returns. Returns 0, OV_EINVAL (one of them is not
 * open), OV_ESYS (no descriptor is free for a duplicate; errno) or OV_ECLOSED
 * (the other side has closed the socket). */
int ep_wire_post(struct ep_wire *wire, struct ep_wire_out *out, const int *fds,
                 uint8_t fd_count);

/* Sends queued messages. Returns 0 when the queue is empty, OV_EAGAIN when the
 * socket is full (wait until it is writable), OV_EFULL when too many
 * descriptors are in flight (try again after a while; the socket stays
 * writable) or OV_ECLOSED. */
int ep_wire_flush(struct ep_wire *wire);
bool ep_wire_is_empty(const struct ep_wire *wire);
/* Drops all queued messages. When one of them was sent in part, the receiver
 * discards that part at the next message. */
void ep_wire_clear(struct ep_wire *wire);

/* Receives the next message. Returns 0, OV_EAGAIN (no message is there),
 * OV_ECLOSED, OV_EPROTO or OV_ENOMEM; after the last three the wire cannot be
 * used. */
int ep_wire_recv(struct ep_wire *wire, struct ep_wire_in *in);

#endif
