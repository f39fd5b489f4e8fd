/* Counts the holders of each record in the launcher: the console, the files and
 * the like. When the last holder lets go of a record, it is given back to the
 * tree.
 */
#ifndef ENDPOINTS_RUN_RECORDS_H
#define ENDPOINTS_RUN_RECORDS_H

#include <stdint.h>

struct ov_buf;
struct run_records;

enum {
    /* The most records at a time, which is the limit of the overlay's root. */
    RUN_RECORDS_MAX = 4096,
    /* The cookie of a record that does not come from the overlay. */
    RUN_NO_RECORD = RUN_RECORDS_MAX
};

/* Called when the last holder has let go of a record. The record is not used
 * after that. */
typedef void (*run_records_free_fn)(void *arg, uint32_t cookie,
                                    struct ov_buf *buf);

/* Returns 0 or OV_ENOMEM. */
int ep_run_records_open(run_records_free_fn on_free, void *arg,
                        struct run_records **out);
/* Frees the counts. on_free is not called for records that still have holders.
 * NULL is fine. */
void ep_run_records_close(struct run_records *held);

/* The first function notes the first holder of a record, and its buffer; the
 * second notes one more holder. Nothing is counted for RUN_NO_RECORD. O(1). */
void ep_run_hold_new(struct run_records *held, uint32_t cookie,
                     struct ov_buf *buf);
void ep_run_hold(struct run_records *held, uint64_t cookie);
/* Notes that one holder has let go of the record. O(1). */
void ep_run_let_go(struct run_records *held, uint64_t cookie);

#endif
