/* The launcher's words to the nodes, on stream 0: each waits until there is
 * room for it. */
#ifndef SIM_ORDERS_H
#define SIM_ORDERS_H

#include "overlay/control.h"
#include "sim/state.h"

/* Those of the driver. The body is which of sim_world.jobs, 4 bytes; none:
 * launch the own, kill them all. */
enum sim_order_kind {
    SIM_ORDER_LAUNCH = OV_CONTROL_APP,
    SIM_ORDER_KILL,
};

/* A message: its kind and its body, which is copied. */
void sim_orders_plan(struct sim_world *w, uint8_t kind, const uint8_t *body,
                     uint32_t len_bytes);
/* For a job, of sim_world.jobs; SIM_JOBS_ALL: no more is said. */
void sim_orders_plan_job(struct sim_world *w, uint8_t kind, uint32_t job);
/* None is left. */
void sim_orders_drop(struct sim_world *w);

/* The next one, where there is room: true, and *ev is for the root. */
bool sim_orders_next(struct sim_world *w, struct ov_event *ev);

#endif
