/* What goes down: the job and stdin. */
#ifndef ENDPOINTS_RUN_DOWN_H
#define ENDPOINTS_RUN_DOWN_H

#include <stdbool.h>
#include <stdint.h>

struct run;

int ep_run_job_send(struct run *r);
/* Sends what waits, as far as there is room. */
void ep_run_pump(struct run *r);
/* As ep_run_push and ep_run_push_keep. */
void ep_run_pushed_to(struct run *r, const uint8_t *mem, uint32_t len_bytes);
void ep_run_pushers(struct run *r, bool are_there);
/* A process is over and took so many bytes of stdin. */
void ep_run_took(struct run *r, uint32_t rank, uint64_t taken_bytes);
/* Nothing more will be taken: the rest of stdin is for others. */
void ep_run_give_back(struct run *r);

#endif
