/* Sends the time of the launcher's clock to all nodes, before the first job and
 * then every 30 seconds. With it a node reports when a process has ended
 * (job/clock.h), even when its own clock is wrong. */
#ifndef ENDPOINTS_RUN_CLOCK_H
#define ENDPOINTS_RUN_CLOCK_H

struct event_base;
struct run_clock;
struct run_orders;

/* The orders are borrowed. Returns 0 or OV_ENOMEM. */
int ep_run_clock_open(struct event_base *base, struct run_orders *orders,
                      struct run_clock **out);
void ep_run_clock_close(struct run_clock *clock); /* NULL is fine */

/* Sends the time now, and again and again until the clock is closed. */
void ep_run_clock_begin(struct run_clock *clock);

#endif
