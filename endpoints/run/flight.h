/* The bytes of a stream that are on their way, in frames that were sent and
 * that some node has not taken yet. Pure. Memory: 8 bytes for each frame of the
 * window. */
#ifndef ENDPOINTS_RUN_FLIGHT_H
#define ENDPOINTS_RUN_FLIGHT_H

#include <stdint.h>

struct run_flight {
    uint64_t *sent; /* owned: for each frame, by its number, how many bytes were
                     * sent before it */
    uint32_t frames_max;
    uint64_t frames, bytes; /* how many frames and bytes were sent so far */
};

/* At most `window` frames are on their way at a time. Returns 0 or
 * OV_ENOMEM. */
int ep_run_flight_open(struct run_flight *flight, uint32_t window);
/* *flight may be zeroed. */
void ep_run_flight_close(struct run_flight *flight);
/* Notes that the next frame was sent, with this many bytes. O(1). */
void ep_run_flight_add(struct run_flight *flight, uint32_t len_bytes);
/* Returns the bytes of the frames from number `base` on, when all nodes have
 * taken the frames before it. O(1). */
uint64_t ep_run_flight_bytes(const struct run_flight *flight, uint64_t base);

#endif
