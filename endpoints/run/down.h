/* What goes down: the job and stdin. */
#ifndef ENDPOINTS_RUN_DOWN_H
#define ENDPOINTS_RUN_DOWN_H

#include <stdbool.h>
#include <stdint.h>

struct run;

/* Of a run that is planned. Returns 0 or OV_ENOMEM. */
int ep_run_down_open(struct run *r);
void ep_run_down_close(struct run *r);

/* Tells the nodes the run's own job, and opens the launcher's stdin where
 * somebody reads it. Returns 0, or 1 when it has said why not. */
int ep_run_job_send(struct run *r);
/* Sends what waits, as far as there is room. */
void ep_run_pump(struct run *r);
/* A push, and those who push: as of struct ep_tap_events. */
void ep_run_pushed_to(struct run *r, const uint8_t *mem, uint32_t len_bytes);
void ep_run_pushers(struct run *r, bool are_there);
/* Nothing more will be taken: the rest of stdin is for others. */
void ep_run_give_back(struct run *r);

#endif
