/* Records that somebody of the launcher holds: console or files. The last one
 * to let go of a record gives it back to the tree.
 */
#ifndef ENDPOINTS_RUN_HELD_H
#define ENDPOINTS_RUN_HELD_H

#include <stdint.h>

struct ov_buf;
struct run_held;

enum {
    RUN_RECORDS_MAX = 4096, /* at once: what the overlay's root allows */
    /* The cookie of a record that is none of the overlay's. */
    RUN_NO_RECORD = RUN_RECORDS_MAX
};

/* Nobody holds it any more, and nothing of it is looked at again. */
typedef void (*run_held_free_fn)(void *arg, uint32_t cookie,
                                 struct ov_buf *buf);

/* Returns 0 or OV_ENOMEM. */
int ep_run_held_open(run_held_free_fn on_free, void *arg,
                     struct run_held **out);
/* Nothing is given back. NULL is fine. */
void ep_run_held_close(struct run_held *held);

/* The first holder of a record, whose buffer this is; and one more of them.
 * RUN_NO_RECORD is held by nobody. O(1). */
void ep_run_hold_new(struct run_held *held, uint32_t cookie,
                     struct ov_buf *buf);
void ep_run_hold(struct run_held *held, uint64_t cookie);
/* One less, of those that there are. O(1). */
void ep_run_let_go(struct run_held *held, uint64_t cookie);

#endif
