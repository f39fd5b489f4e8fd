/* Memory that the launcher and its PMIx helper share: larger outputs go
 * through it, so that the kernel does not copy them twice.
 *
 * The launcher puts bytes in and says where they are (wire.h, OUTPUT); the
 * helper says how far it has read. Positions count bytes from the beginning, in
 * the order of use; the memory repeats every PX_SHARE_BYTES. Bytes of one
 * output are in one piece: what is left before the end is skipped when they are
 * more. Where everything was read the next ones are at the beginning again, so
 * that no more memory is touched than is in use. Where it is full the launcher
 * waits until the helper has read half of it, and says so (wire.h, ROOM), or
 * sends bytes by the socket when that takes too long.
 *
 * The helper also says here how far each pull is that redirects.
 *
 * Neither side trusts the other: a position that makes no sense counts as
 * "nothing is free", or is refused. The helper cannot write where the bytes
 * are. Each struct belongs to one thread; O(bytes) all.
 */
#ifndef PMIX_API_SHARE_H
#define PMIX_API_SHARE_H

#include <stdbool.h>
#include <stdint.h>

enum {
    PX_SHARE_BYTES = 1 << 20,
    PX_SHARE_LEN_MIN = 4096, /* fewer bytes are not worth it */
    PX_SHARE_SLOTS = 128,    /* pulls */
};

struct px_share_head;

/* How far a pull is: positions in all redirected bytes, counted in the order in
 * which they came. Of the pull's those before it are with the tool: */
struct px_share_state {
    uint64_t sent; /* in its kernel's buffer, at least; of a dead tool as
                      `read`; */
    uint64_t read; /* the tool has read them, not beyond `sent` */
};

struct px_share {
    struct px_share_head *head; /* owned, mapped; NULL: there is none */
    uint8_t *mem;               /* owned, mapped: PX_SHARE_BYTES */
    uint64_t next, read;        /* the launcher's: positions */
};

/* The launcher's. *fd is the caller's to close once it was handed on. Returns
 * 0, or OV_ESYS with errno: outputs go through the socket then. */
int px_share_make(struct px_share *share, int *fd);
/* The helper's: what was made, by its descriptor, which can be closed
 * afterwards. Returns 0, or OV_ESYS with errno. */
int px_share_take(struct px_share *share, int fd);
/* Either side's; also of one that was never made, all zero. */
void px_share_close(struct px_share *share);

/* Copies len_bytes, at most PX_SHARE_BYTES, in. Returns false when there is no
 * room now, or no memory at all; else *at is where they are. */
bool px_share_put(struct px_share *share, const void *mem, uint32_t len_bytes,
                  uint64_t *at);

/* There was no room: the helper is to say so when half of it is free. Returns
 * false when that much is, or nobody would say it. */
bool px_share_await(struct px_share *share);

/* The bytes at a position; NULL: they cannot be there. */
const uint8_t *px_share_look(const struct px_share *share, uint64_t at,
                             uint32_t len_bytes);
/* All before this position was read. Returns true when the launcher is to be
 * told. */
bool px_share_free(struct px_share *share, uint64_t end);

/* The helper's: how far this pull, not 0, is; or nobody has the slot, with
 * pull 0. */
void px_share_settle(struct px_share *share, unsigned slot, uint32_t pull,
                     struct px_share_state state);
/* The launcher's: what was said last. False: nothing of that pull, and *state
 * is as it was. *slot is where to look first, and where it was found.
 * O(PX_SHARE_SLOTS). */
bool px_share_settled(const struct px_share *share, uint32_t pull,
                      unsigned *slot, struct px_share_state *state);

#endif
