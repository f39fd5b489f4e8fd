/* Simulates the network: ports, links and what travels on them. */
#ifndef SIM_NET_H
#define SIM_NET_H

#include "sim/state.h"

/* Carry out actions of node n. */
void sim_net_send(struct sim_world *w, uint32_t n, const struct ov_act *act);
void sim_net_close(struct sim_world *w, uint32_t n, uint16_t link);
void sim_net_dial(struct sim_world *w, uint32_t n, uint32_t peer);
/* Dials a node only to see whether the dial is refused. */
void sim_net_probe(struct sim_world *w, uint32_t n, const struct ov_act *act);

/* Handles the arrival of a frame's first byte at the receiver's port. */
void sim_net_arrive(struct sim_world *w, const struct sim_item *item);

/* Handle items whose time has come. They return true when *ev is an event for
 * the item's node. An item of a connection that has ended gives none. */
bool sim_net_deliver(struct sim_world *w, const struct sim_item *item,
                     struct ov_event *ev);
bool sim_net_sent(struct sim_world *w, const struct sim_item *item,
                  struct ov_event *ev);
bool sim_net_down(struct sim_world *w, const struct sim_item *item,
                  struct ov_event *ev);
bool sim_net_dial_failed(struct sim_world *w, const struct sim_item *item,
                         struct ov_event *ev);
bool sim_net_probed(struct sim_world *w, const struct sim_item *item,
                    struct ov_event *ev);
/* Handles the result of a dial. When *ev is OV_EV_LINK_UP, *dialled is the
 * event for the node that was dialled, and comes first. */
bool sim_net_connect(struct sim_world *w, const struct sim_item *item,
                     struct ov_event *ev, struct ov_event *dialled);

/* Breaks the link of n to its parent, and reports that to both ends. Does
 * nothing when the parent is not `above`, unless `above` is TOPO_NONE. */
void sim_net_break(struct sim_world *w, uint32_t n, uint32_t above);

#endif
