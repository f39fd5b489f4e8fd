/* Ports, links and what travels on them. */
#ifndef SIM_NET_H
#define SIM_NET_H

#include "sim/world.h"

/* Within a step of node n: its actions. */
void sim_net_send(struct sim_world *w, uint32_t n, const struct ov_act *act);
void sim_net_close(struct sim_world *w, uint32_t n, uint16_t link);
void sim_net_dial(struct sim_world *w, uint32_t n, uint32_t peer);
/* Dials only to see whether that is refused. */
void sim_net_probe(struct sim_world *w, uint32_t n, const struct ov_act *act);

/* Items whose time has come. Nothing of a connection that is no more. */
void sim_net_arrive(struct sim_world *w, const struct sim_item *item);
void sim_net_deliver(struct sim_world *w, const struct sim_item *item);
void sim_net_sent(struct sim_world *w, const struct sim_item *item);
void sim_net_down(struct sim_world *w, const struct sim_item *item);
void sim_net_connect(struct sim_world *w, const struct sim_item *item);
void sim_net_probed(struct sim_world *w, const struct sim_item *item);

/* Breaks the link of n to its parent, if that is `above` or TOPO_NONE is given:
 * both ends are told. */
void sim_net_break(struct sim_world *w, uint32_t n, uint32_t above);

#endif
