/* The gate of a parent: where the daemons beneath it call (call.h).
 *
 * It listens on all addresses of this host, as the children know its name
 * only, and is open until the last child has called or the launch is over.
 * Strangers get a greeting and are shut after five seconds, or when more than
 * EP_GATE_PENDING_MAX connections are unproved: the oldest goes.
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
    struct event_base *base;        /* borrowed, outlives the gate */
    const struct ep_auth *auth;     /* of the session; used during the call */
    uint32_t node;                  /* whose gate it is */
    bool any_port;                  /* children are told the address */
    uint16_t port_first, port_last; /* 0, 0: no range is given */
    /* A proved child; the callee owns the descriptor, which does not block.
     * May close the gate. */
    void (*on_call)(void *arg, uint32_t node, int fd);
    void *arg;
};

/* Returns 0; OV_ENOMEM; OV_ESYS with `why` (EP_WHY_MAX bytes) when none of the
 * ports is free. */
int ep_gate_open(const struct ep_gate_cfg *cfg, struct ep_gate **out,
                 char *why);

/* Adds the addresses at which this host can be called to a configuration: all
 * that are up and lead elsewhere, else those of loopback; EP_BOOT_GATES_MAX at
 * most. Returns 0, OV_ESYS or OV_ENOMEM. */
int ep_gate_list(const struct ep_gate *gate, struct ep_boot_config *config);

/* NULL is allowed. */
void ep_gate_close(struct ep_gate *gate);

#endif
