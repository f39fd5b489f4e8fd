/* Events that the driver gives to the node which is stepped after that step, on
 * the same host, oldest first. At most 512 wait. */
#ifndef SIM_OWED_H
#define SIM_OWED_H

#include <stdbool.h>

#include "overlay/event.h"

struct sim_owed;

/* Returns NULL when out of memory. */
struct sim_owed *sim_owed_new(void);
void sim_owed_free(struct sim_owed *owed);

void sim_owed_push(struct sim_owed *owed, const struct ov_event *ev);
/* Removes the oldest event and copies it to *ev. False when there is none. */
bool sim_owed_pop(struct sim_owed *owed, struct ov_event *ev);

#endif
