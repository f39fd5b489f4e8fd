/* What waits for one pull: in memory, then in a file, then no more.
 *
 * At its bound the queue drops: what comes (the default) or what has waited
 * longest. Bytes dropped of a channel are counted, and told with the next ones
 * of it, or with its end; ends are never dropped. Nor is what was redirected,
 * where it waits here alone: what comes is dropped while such waits, and more
 * of that is taken beyond the bound; its user is to stop what comes:
 * px_queue_has. What goes out can be put
 * together per channel: until so many bytes are there, so many seconds have
 * passed, or the channel ends.
 *
 * Where the file takes nothing, as the disk is full, that is the bound: what
 * comes is dropped. Ends of channels wait in memory then, and so does what was
 * redirected, as above; its user is to stop what comes: px_queue_is_tight.
 *
 * Memory: what it is told, at most 4 MiB of what is put together, 56 bytes
 * for each channel of all processes from the first drop, or with putting
 * together, on; and what the file does not take, as above.
 * Not thread-safe.
 */
#ifndef PMIX_API_HELPER_QUEUE_H
#define PMIX_API_HELPER_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

#include "pmix_api/spool.h"
#include "pmix_api/wire.h"

enum {
    /* Of one output. */
    PX_QUEUE_OUTPUT_MAX = (1 << 20) + PX_OUTPUT_BYTES_MAX + 1,
    /* Of one as it came, with its head. */
    PX_QUEUE_PACKET_MAX = PX_OUTPUT_HEAD_BYTES + PX_OUTPUT_BYTES_MAX,
};

struct px_queue_cfg {
    const char *dir;       /* borrowed: for the file */
    uint32_t first, procs; /* numbers of processes */
    uint32_t near_bytes;   /* of them in memory, as needed */
    uint64_t limit_bytes;  /* kept at most, at least 1 MiB */
    bool drops_oldest;
    bool keeps_redirected; /* what was redirected waits here alone */
    uint32_t buffer_bytes; /* put together; 0: nothing, at most 1 MiB */
    uint32_t buffer_ms;    /* and sent after so long; 0: whenever it is full */
    uint64_t span_bytes;   /* or when so many bytes of others have gone before
                              it, about; 0: however many */
    bool has_lines; /* an open line waits for its end, as far as there is room;
                       the last one of a channel gets one */
};

struct px_queue_cell;
struct px_queue_spare;

struct px_queue {
    struct px_queue_cfg cfg;
    struct px_spool spool;
    struct px_queue_cell *cells;  /* owned [procs x channels]; NULL: none yet */
    uint8_t *out;                 /* owned: what px_queue_get() put together */
    struct px_queue_spare *spare; /* owned, in order: behind the spool */
    struct px_queue_spare *spare_last; /* borrowed */
    uint64_t waiting_bytes; /* payload in the spool and of the spare ones */
    uint64_t spare_bytes;   /* of it in these */
    uint64_t filed_ends;    /* in the spool */
    uint64_t held_bytes;    /* being put together */
    uint64_t stored_bytes;  /* payload that has ever come in */
    uint64_t kept_end;      /* so many had, with the last that is not dropped */
    uint64_t held_since;    /* so many had gone before the oldest of these, or
                               fewer; */
    uint64_t looked_at;     /* and when that was looked up */
    bool has_dropped;
};

/* Returns 0 or OV_ENOMEM. */
int px_queue_open(struct px_queue *queue, const struct px_queue_cfg *cfg);
void px_queue_close(struct px_queue *queue);

/* Copies one output. */
void px_queue_put(struct px_queue *queue, const struct px_output *output);

/* Takes out the next output that is to go: false when there is none now.
 * all: also what is being put together. Its bytes are in `mem`
 * (PX_QUEUE_PACKET_MAX), or in the queue until the next call. */
bool px_queue_get(struct px_queue *queue, uint64_t now_ms, bool all,
                  uint8_t *mem, struct px_output *out);

/* Bytes of payload that wait here. */
static inline uint64_t px_queue_bytes(const struct px_queue *queue)
{
    return queue->waiting_bytes + queue->held_bytes;
}

/* The same with those that have gone before others that came earlier: without
 * the last so many, all that ever came have gone; about, where some are put
 * together. */
static inline uint64_t px_queue_span(const struct px_queue *queue)
{
    return queue->held_bytes == 0 ? queue->waiting_bytes
                                  : queue->stored_bytes - queue->held_since;
}

/* So many bytes wait, or take so much of the file with their heads. */
bool px_queue_has(const struct px_queue *queue, uint64_t bytes);

/* px_queue_get() has nothing to do until time passes. */
static inline bool px_queue_is_idle(const struct px_queue *queue)
{
    return px_spool_is_empty(&queue->spool) && queue->spare == NULL;
}

/* The file takes nothing, and what comes costs memory. */
static inline bool px_queue_is_tight(const struct px_queue *queue)
{
    return queue->spare != NULL;
}

/* When time makes something go, on the clock of px_queue_get(); 0: never. */
uint64_t px_queue_due_ms(const struct px_queue *queue);

#endif
