/* How a node cuts what was read from an input into records: where lines are
 * folded each line is a record, so that equal lines are equal records. */
#ifndef OVERLAY_CUT_H
#define OVERLAY_CUT_H

#include "overlay/event.h"

/* The length of the record that begins at_bytes into what was read, behind
 * `records` others. There is a newline at its end, unless it is the last
 * one: that is the rest, also where there are more lines than records may be
 * made (read->records_max; 0 means 1). An answer to REPLAY is one record.
 * O(length). */
uint32_t ov_cut_next(const struct ov_read *read, uint32_t at_bytes,
                     uint32_t records);

/* How many records it becomes. A record without bytes has flags. */
uint32_t ov_cut_records(const struct ov_read *read);

#endif
