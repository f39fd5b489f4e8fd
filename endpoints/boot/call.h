/* A call: how a daemon that a resource manager has started reaches its parent.
 *
 * Nobody stands between the two who could hand over addresses. So a parent
 * opens a gate (gate.h) at a port that its children can work out, and a child
 * calls there (caller.h). Once both have proved the session key the connection
 * takes the place of the remote shell's stdin and stdout: the start-up text
 * (boot.h) goes over it.
 *
 * What is said on a new connection, all of a fixed length:
 *
 *   gate to caller   "xylgate1" 8 | nonce 16
 *   caller to gate   hello 48     as of endpoints/fabric/auth.h
 *   gate to caller   accept 48    or the end of the connection
 *
 * The MACs are made with a key of their own, derived from the session's: what
 * is proved here is worth nothing at the fabric, and the other way round.
 */
#ifndef ENDPOINTS_BOOT_CALL_H
#define ENDPOINTS_BOOT_CALL_H

#include <stdint.h>

#include "endpoints/fabric/auth.h"

enum {
    EP_CALL_PORTS_MAX = 16, /* that a gate tries, and a caller */
    EP_CALL_MAGIC_BYTES = 8,
    EP_CALL_GREETING_BYTES = EP_CALL_MAGIC_BYTES + EP_AUTH_NONCE_BYTES,
    /* Where no range is given: above the ports that systems hand out. */
    EP_CALL_PORT_FIRST = 61000,
    EP_CALL_PORT_LAST = 65535
};

/* The key of calls of a session; ep_auth_fini wipes it. Returns 0 or
 * OV_ESYS. */
int ep_call_auth(const struct ep_auth *session, struct ep_auth *call);

/* The port number `attempt` of the gate of a node, or 0 when there is no
 * further one. first 0: no range is given. Pure; who has the key knows it. */
uint16_t ep_call_port(const struct ep_auth *call, uint32_t node, uint16_t first,
                      uint16_t last, unsigned attempt);

/* What a gate says first. */
void ep_call_greet(const uint8_t nonce[EP_AUTH_NONCE_BYTES],
                   uint8_t out[EP_CALL_GREETING_BYTES]);
/* The nonce in it, borrowed, or NULL when it is no gate's. */
const uint8_t *ep_call_nonce(const uint8_t greeting[EP_CALL_GREETING_BYTES]);

#endif
