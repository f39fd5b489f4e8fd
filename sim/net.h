/* Ports, links and what travels on them. */
#ifndef SIM_NET_H
#define SIM_NET_H

#include "sim/state.h"

/* Actions of node n. */
void sim_net_send(struct sim_world *w, uint32_t n, const struct ov_act *act);
void sim_net_close(struct sim_world *w, uint32_t n, uint16_t link);
void sim_net_dial(struct sim_world *w, uint32_t n, uint32_t peer);
/* Dials only to see whether that is refused. */
void sim_net_probe(struct sim_world *w, uint32_t n, const struct ov_act *act);

/* A frame's first byte is at the port. */
void sim_net_arrive(struct sim_world *w, const struct sim_item *item);

/* Items whose time has come. True: *ev comes of it, for the item's node.
 * Nothing does of a connection that is no more. */
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
/* Of a dial. When *ev is OV_EV_LINK_UP, *dialled is for the node that was
 * dialled, and comes first. */
bool sim_net_connect(struct sim_world *w, const struct sim_item *item,
                     struct ov_event *ev, struct ov_event *dialled);

/* Breaks the link of n to its parent, if that is `above` or TOPO_NONE is given:
 * both ends are told. */
void sim_net_break(struct sim_world *w, uint32_t n, uint32_t above);

#endif
