/* The words of wire.h about pulling output. */
#ifndef PMIX_API_WIRE_PULL_H
#define PMIX_API_WIRE_PULL_H

#include <stdbool.h>
#include <stdint.h>

struct px_pull {
    uint32_t id, first, last; /* id: 1, 2, 3 ... */
    uint8_t channels;
    bool redirects, has_more; /* the next PULL is of the same one */
    bool is_last;             /* the last bytes from before, not the first */
    uint32_t cache_bytes;     /* 0: nothing from before */
};

/* A channel of a process. */
struct px_broken {
    uint32_t rank;
    uint8_t channel; /* enum ov_channel */
};

struct px_end {
    uint32_t id;
    uint64_t lost_bytes;
    bool is_kept;      /* what was redirected to it is the launcher's to give */
    uint64_t position; /* back, from here on (share.h) */
};

#endif
