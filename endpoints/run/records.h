/* Counts who in the launcher holds a record: the console, the files. The last
 * holder that lets go of a record gives it back to the tree.
 */
#ifndef ENDPOINTS_RUN_RECORDS_H
#define ENDPOINTS_RUN_RECORDS_H

#include <stdint.h>

struct ov_buf;
struct run_records;

enum {
    /* At a time: as many as the overlay's root allows. */
    RUN_RECORDS_MAX = 4096,
    /* The cookie of a record that does not come from the overlay. */
    RUN_NO_RECORD = RUN_RECORDS_MAX
};

/* The record has no holder left, and is not looked at again. */
typedef void (*run_records_free_fn)(void *arg, uint32_t cookie,
                                    struct ov_buf *buf);

/* Returns 0 or OV_ENOMEM. */
int ep_run_records_open(run_records_free_fn on_free, void *arg,
                        struct run_records **out);
/* Gives nothing back. NULL is fine. */
void ep_run_records_close(struct run_records *held);

/* Notes the first holder of a record with this buffer; and one more holder.
 * RUN_NO_RECORD has no holders. O(1). */
void ep_run_hold_new(struct run_records *held, uint32_t cookie,
                     struct ov_buf *buf);
void ep_run_hold(struct run_records *held, uint64_t cookie);
/* One holder less; it must have been counted. O(1). */
void ep_run_let_go(struct run_records *held, uint64_t cookie);

#endif
