/* The launcher's orders to the nodes, on stream 0. Each waits until the stream
 * has room for it. */
#ifndef SIM_ORDERS_H
#define SIM_ORDERS_H

#include "overlay/control.h"
#include "sim/state.h"

/* Kinds of orders that only the simulator has. The body is the index of a job
 * in sim_world.jobs, 4 bytes. Without a body the order is to launch the run's
 * own job, or to kill all jobs. */
enum sim_order_kind {
    SIM_ORDER_LAUNCH = OV_CONTROL_APP,
    SIM_ORDER_KILL,
};

/* Queues a message of this kind; the body is copied. */
void sim_orders_plan(struct sim_world *w, uint8_t kind, const uint8_t *body,
                     uint32_t len_bytes);
/* Queues an order about the job with this index in sim_world.jobs; SIM_JOBS_ALL
 * makes one without a body. */
void sim_orders_plan_job(struct sim_world *w, uint8_t kind, uint32_t job);
/* Drops all orders that wait. */
void sim_orders_drop(struct sim_world *w);

/* Makes the next order into an event for the root. False when none waits, or
 * there is no room for it. */
bool sim_orders_next(struct sim_world *w, struct ov_event *ev);

#endif
