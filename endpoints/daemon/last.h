/* The last bytes that a process has written to any of its channels, which are
 * kept where filters leave lines out: when it fails they are told. */
#ifndef ENDPOINTS_DAEMON_LAST_H
#define ENDPOINTS_DAEMON_LAST_H

#include <stdint.h>

enum {
    /* For all processes of a daemon together, unless they are very many. */
    EP_LAST_ALL_BYTES = 8 << 20,
    EP_LAST_BYTES_MAX = 8192, /* of one process at most, and at least */
    EP_LAST_BYTES_MIN = 512,
};

/* All zero: nothing was written. */
struct ep_last {
    uint8_t *ring; /* owned; of ep_last_room() bytes */
    uint64_t total_bytes;
};

/* How much is kept of each process, of all of them in a daemon. */
uint32_t ep_last_room(uint64_t procs);

void ep_last_fini(struct ep_last *last);

/* Adds what was written; `room` is the same in all calls. Where memory is out,
 * nothing is kept. O(room). */
void ep_last_add(struct ep_last *last, uint32_t room, const uint8_t *mem,
                 uint32_t len_bytes);

/* Copies the next bytes that are kept to dst, at most `most`; the first call is
 * for from = 0. Returns how many, 0 at the end. */
uint32_t ep_last_read(const struct ep_last *last, uint32_t room, uint32_t from,
                      uint8_t *dst, uint32_t most);

#endif
