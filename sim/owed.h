/* Events that a driver owes the node that is stepped: they follow the step, at
 * the same host, oldest first. At most 512 wait. */
#ifndef SIM_OWED_H
#define SIM_OWED_H

#include <stdbool.h>

#include "overlay/event.h"

struct sim_owed;

/* NULL: memory is out. */
struct sim_owed *sim_owed_new(void);
void sim_owed_free(struct sim_owed *owed);

void sim_owed_push(struct sim_owed *owed, const struct ov_event *ev);
/* False when there is none. */
bool sim_owed_pop(struct sim_owed *owed, struct ov_event *ev);

#endif
