/* What the files of the little world share. */
#ifndef TESTS_UNIT_WORLD_IMPL_H
#define TESTS_UNIT_WORLD_IMPL_H

#include "tests/unit/world.h"

enum { OWED_MAX = 1024 };

/* Answers that the driver of a node owes it, oldest first. */
struct owed {
    struct ov_event ev[OWED_MAX];
    unsigned at, len;
};

/* --- bag.c: buffers. A count that belongs to a buffer is reduced when the
 * buffer is freed. */
struct ov_buf *bag_new(struct world *w);
void bag_free(struct world *w, struct ov_buf *buf);
void bag_put(struct world *w, struct ov_buf *buf); /* NULL is fine */
void bag_count(struct ov_buf *buf, uint32_t *count);
/* Counts a frame that has arrived, where the node must limit their number. */
void bag_count_frame(struct world *w, uint32_t n, uint32_t from,
                     struct ov_buf *buf);

/* --- world.c: running. Steps a node; the answers to READ and CONSUME follow as
 * further steps, after all actions of the step before. */
void world_run(struct world *w, uint32_t n, struct ov_event ev);
void world_happen(struct world *w, struct fly *f);
void world_end_link(struct world *w, uint32_t n, uint16_t link);
struct ov_event world_consumed(struct world *w, uint32_t n, uint32_t stream,
                               uint64_t seq);

#endif
