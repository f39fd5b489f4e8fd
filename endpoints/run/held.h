/* Records at the console and at the tap, by their cookies. */
#ifndef ENDPOINTS_RUN_HELD_H
#define ENDPOINTS_RUN_HELD_H

#include <stdint.h>

struct ov_buf;
struct run;

/* Returns 0 or OV_ENOMEM. */
int ep_run_held_open(struct run *r);
void ep_run_held_close(struct run *r);

/* One more holder of the record, whose buffer this is. RUN_NO_RECORD is held
 * by nobody. */
void ep_run_hold(struct run *r, uint64_t cookie, struct ov_buf *buf);
/* One less; the last one gives it back to the tree. */
void ep_run_let_go(struct run *r, uint64_t cookie);

#endif
