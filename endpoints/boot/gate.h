/* The gate of a parent: where the daemons beneath it connect (call.h).
 *
 * The gate listens on all addresses of this host, as the children know only the
 * host's name, and is open until the last child has connected or the launch is
 * over. Any connection gets a greeting, and is closed after five seconds
 * without a proof. When more than EP_GATE_PENDING_MAX connections have proved
 * nothing, the oldest is closed.
 *
 * All happens in the thread of the event base; nothing blocks.
 */
#ifndef ENDPOINTS_BOOT_GATE_H
#define ENDPOINTS_BOOT_GATE_H

#include <stdint.h>

#include "endpoints/boot/boot_config.h"

struct event_base;
struct ep_gate;

enum { EP_GATE_PENDING_MAX = 512 };

struct ep_gate_cfg {
    struct event_base *base; /* borrowed, outlives the gate */
    /* The session's key; used only during ep_gate_open(). */
    const struct ep_auth *auth;
    uint32_t node; /* the node to which the gate belongs */
    /* Any port is good enough, because children get the address. */
    bool any_port;
    uint16_t port_first, port_last; /* 0 and 0: no range is given */
    /* A child has connected and proved that it has the key. The callee owns the
     * descriptor, which is non-blocking. May close the gate. */
    void (*on_call)(void *arg, uint32_t node, int fd);
    void *arg;
};

/* Opens a gate. Returns 0; OV_ENOMEM; or OV_ESYS with `why` (EP_WHY_MAX bytes)
 * when none of the ports is free. */
int ep_gate_open(const struct ep_gate_cfg *cfg, struct ep_gate **out,
                 char *why);

/* Adds to the configuration the addresses at which the gate can be reached:
 * those of all interfaces that are up and can be reached from other hosts, or
 * else those of loopback; at most EP_BOOT_GATES_MAX. Returns 0, OV_ESYS or
 * OV_ENOMEM. */
int ep_gate_list(const struct ep_gate *gate, struct ep_boot_config *config);

/* NULL is allowed. */
void ep_gate_close(struct ep_gate *gate);

#endif
