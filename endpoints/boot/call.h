/* A call: how a daemon that a resource manager has started connects to its
 * parent.
 *
 * No process stands between the two that could hand over addresses. So a parent
 * opens a gate (gate.h) at a port that its children can compute, and a child
 * connects there (caller.h). When both have proved that they have the session
 * key, the connection is used instead of a remote shell's stdin and stdout: the
 * start-up text (boot.h) goes over it.
 *
 * These messages of fixed length are sent on a new connection:
 *
 *   gate to caller   "xylgate1" 8 | nonce 16
 *   caller to gate   hello 48     as in endpoints/fabric/auth.h
 *   gate to caller   accept 48    or the end of the connection
 *
 * The MACs use a key that is derived from the session's key for calls alone: so
 * a proof given here is worth nothing at the fabric, and the other way round.
 */
#ifndef ENDPOINTS_BOOT_CALL_H
#define ENDPOINTS_BOOT_CALL_H

#include <stdint.h>

#include "endpoints/fabric/auth.h"

enum {
    EP_CALL_PORTS_MAX = 16, /* how many ports a gate tries, and a caller too */
    EP_CALL_MAGIC_BYTES = 8,
    EP_CALL_GREETING_BYTES = EP_CALL_MAGIC_BYTES + EP_AUTH_NONCE_BYTES,
    /* The ports when no range is given: above those that systems usually give
     * to connections. */
    EP_CALL_PORT_FIRST = 61000,
    EP_CALL_PORT_LAST = 65535
};

/* Derives the key for calls from the session's key; ep_auth_fini wipes it.
 * Returns 0 or OV_ESYS. */
int ep_call_auth(const struct ep_auth *session, struct ep_auth *call);

/* Returns the port that a node's gate, or its caller, tries in attempt number
 * `attempt` (from 0); 0: there are no further ports. A `first` of 0 means that
 * no range is given. Pure; only a process that has the key can compute the
 * port. */
uint16_t ep_call_port(const struct ep_auth *call, uint32_t node, uint16_t first,
                      uint16_t last, unsigned attempt);

/* Writes the greeting, which a gate sends first. */
void ep_call_greet(const uint8_t nonce[EP_AUTH_NONCE_BYTES],
                   uint8_t out[EP_CALL_GREETING_BYTES]);
/* Returns the nonce in a greeting, borrowed; NULL when these bytes are not a
 * gate's greeting. */
const uint8_t *ep_call_nonce(const uint8_t greeting[EP_CALL_GREETING_BYTES]);

#endif
