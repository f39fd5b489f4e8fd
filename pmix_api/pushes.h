/* What tools have pushed to a job, until it goes on its way: messages as of
 * overlay/wire/push.h, in their order.
 *
 * A spool keeps them: some in memory, made for the first of them, then a file
 * without a name. They are full with 256 MiB, or when the file does not take
 * what it was thought to; that is said, and what is on its way by then has room
 * still. What the file does not take is kept in memory as well, so that none is
 * ever refused.
 *
 * Small messages for the same targets come out as one. Not thread-safe.
 */
#ifndef PMIX_API_PUSHES_H
#define PMIX_API_PUSHES_H

#include <stdbool.h>
#include <stdint.h>

#include "pmix_api/spool.h"

struct px_pushes_spare;

/* All zero: nothing was pushed yet. */
struct px_pushes {
    struct px_spool spool;
    bool is_open;
    struct px_pushes_spare *spare; /* owned, in order: behind the spool */
    struct px_pushes_spare **spare_last;
    uint64_t spare_bytes;
    uint8_t *ahead; /* owned: the next message, out of the spool already */
    uint32_t ahead_bytes; /* 0: none */
    bool is_torn;         /* some were lost: not known whom the next is for */
    bool is_full;
    uint64_t lost_bytes; /* of a file that could not be read again */
};

void px_pushes_close(struct px_pushes *pushes);

struct px_pushes_cfg {
    uint32_t near_bytes; /* of memory */
    const char *dir;     /* borrowed until px_pushes_close(): the file's */
};

/* Copies a message of at most PX_PUSH_BYTES_MAX to the end; cfg counts for the
 * first one, and the first one after px_pushes_rest(). */
void px_pushes_put(struct px_pushes *pushes, const void *mem,
                   uint32_t len_bytes, const struct px_pushes_cfg *cfg);

/* Says whether nothing more is to be added: from when they are full until half
 * of it has gone. */
bool px_pushes_are_full(struct px_pushes *pushes);

/* Takes the next message out; with it those behind it that are for the same
 * targets, as far as all are not more than size_bytes, which none alone is.
 * Returns its length, 0 when there is none. */
uint32_t px_pushes_get(struct px_pushes *pushes, uint8_t *out,
                       uint32_t size_bytes);

bool px_pushes_are_none(const struct px_pushes *pushes);

/* Gives back the memory and the file of a job to which nothing is pushed. */
void px_pushes_rest(struct px_pushes *pushes);

#endif
