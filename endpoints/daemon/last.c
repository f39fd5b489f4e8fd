/* Keeps the last bytes of a process in a ring. */
#include "endpoints/daemon/last.h"

#include <stdlib.h>
#include <string.h>

uint32_t ep_last_room(uint64_t procs)
{
    const uint64_t share = EP_LAST_ALL_BYTES / (procs > 0 ? procs : 1);

    if (share < EP_LAST_BYTES_MIN)
        return EP_LAST_BYTES_MIN;
    return share < EP_LAST_BYTES_MAX ? (uint32_t)share : EP_LAST_BYTES_MAX;
}

void ep_last_fini(struct ep_last *last)
{
    free(last->ring);
    *last = (struct ep_last){.ring = NULL};
}

void ep_last_add(struct ep_last *last, uint32_t room, const uint8_t *mem,
                 uint32_t len_bytes)
{
    uint32_t at, some;

    if (len_bytes == 0)
        return;
    if (last->ring == NULL)
        last->ring = malloc(room);
    if (last->ring == NULL)
        return;
    last->total_bytes += len_bytes;
    if (len_bytes > room) {
        mem += len_bytes - room;
        len_bytes = room;
    }
    at = (uint32_t)((last->total_bytes - len_bytes) % room);
    some = len_bytes < room - at ? len_bytes : room - at;
    memcpy(last->ring + at, mem, some);
    memcpy(last->ring, mem + some, len_bytes - some);
}

uint32_t ep_last_read(const struct ep_last *last, uint32_t room, uint32_t from,
                      uint8_t *dst, uint32_t most)
{
    const uint32_t kept =
        last->total_bytes < room ? (uint32_t)last->total_bytes : room;
    const uint32_t len = most < kept - from ? most : kept - from;
    const uint32_t at = (uint32_t)((last->total_bytes - kept + from) % room);
    const uint32_t some = len < room - at ? len : room - at;

    if (len == 0)
        return 0;
    memcpy(dst, last->ring + at, some);
    memcpy(dst + some, last->ring, len - some);
    return len;
}
