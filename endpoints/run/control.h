/* Messages of the launcher to all nodes, on stream 0. */
#ifndef ENDPOINTS_RUN_CONTROL_H
#define ENDPOINTS_RUN_CONTROL_H

#include <stdbool.h>
#include <stdint.h>

#include "topo/tree.h"

struct job;
struct ep_tap_replay;
struct run;

/* Ranges of processes that one message signals. */
enum { RUN_SIGNAL_RANGES_MAX = 64 };

void ep_run_control_queue(struct run *r, uint8_t kind, bool more,
                          const void *body, uint32_t len_bytes);
/* Sends what was queued, as far as there is room. */
void ep_run_control_pump(struct run *r);
/* Both. */
void ep_run_control(struct run *r, uint8_t kind, const void *body,
                    uint32_t len_bytes);
/* A job's text, to all nodes, which have something to run from here on.
 * Returns 0; OV_EFULL when it is larger than JOB_BYTES_MAX. */
int ep_run_control_job(struct run *r, const struct job *job);
/* To all processes, or to those of the ranges of process numbers. */
void ep_run_signal(struct run *r, int signo);
void ep_run_signal_some(struct run *r, int signo,
                        const struct topo_range *ranges, uint32_t count);
/* Asks for output from before; returns the ticket of the answers, or 0 when
 * nothing is kept. O(ranges). */
uint16_t ep_run_replay(struct run *r, const struct ep_tap_replay *want);

#endif
