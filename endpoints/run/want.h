/* Output of a further job that nobody wants: it need not come.
 *
 * Everything comes at first, so that who asks soon misses nothing. Once some of
 * it came for nobody, the nodes are told to drop what nobody wants, and when
 * somebody does to send it again.
 */
#ifndef ENDPOINTS_RUN_WANT_H
#define ENDPOINTS_RUN_WANT_H

#include <stdbool.h>
#include <stdint.h>

#include "topo/tree.h"

struct run;

/* That come for nobody before the nodes are told, of all processes. */
enum { RUN_UNWANTED_BYTES = 64 * 1024 };

struct run_want {
    uint32_t base, size; /* of the job */
    uint32_t channels;   /* that its processes have: bits, 1 << channel */
    uint8_t *shut;       /* owned [size]: such bits: they are dropped there */
    uint64_t unwanted_bytes;
};

/* Returns 0 or OV_ENOMEM. */
int ep_run_want_open(struct run_want *want, uint32_t base, uint32_t size,
                     uint32_t channels);
void ep_run_want_close(struct run_want *want);

/* A record came. O(1), and when the nodes are told O(size). */
void ep_run_want_record(struct run *r, struct run_want *want, uint32_t number,
                        uint8_t channel, uint32_t len_bytes);
/* These processes are not to be read, or are again. O(1). */
void ep_run_want_hold(struct run *r, const struct topo_range *range,
                      bool is_held);
/* Somebody wants more than before. Returns whether nodes are to hear of it.
 * O(size). */
bool ep_run_want_again(struct run *r, struct run_want *want);

#endif
