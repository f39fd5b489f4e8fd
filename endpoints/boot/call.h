/* A call: how a daemon that a resource manager has started reaches its parent.
 *
 * There is no process between the two that could hand over addresses. So a
 * parent opens a gate (gate.h) at a port that its children can work out, and a
 * child calls there (caller.h). When both have proved that they have the
 * session key, the connection takes the place of the remote shell's stdin and
 * stdout: the start-up text (boot.h) goes over it.
 *
 * These are sent on a new connection, each of a fixed length:
 *
 *   gate to caller   "xylgate1" 8 | nonce 16
 *   caller to gate   hello 48     as of endpoints/fabric/auth.h
 *   gate to caller   accept 48    or the end of the connection
 *
 * The MACs are made with a key of their own, derived from the session's: a
 * proof that was given here is worth nothing at the fabric, and the other way
 * round.
 */
#ifndef ENDPOINTS_BOOT_CALL_H
#define ENDPOINTS_BOOT_CALL_H

#include <stdint.h>

#include "endpoints/fabric/auth.h"

enum {
    EP_CALL_PORTS_MAX = 16, /* ports that a gate tries, and a caller */
    EP_CALL_MAGIC_BYTES = 8,
    EP_CALL_GREETING_BYTES = EP_CALL_MAGIC_BYTES + EP_AUTH_NONCE_BYTES,
    /* The ports when no range is given: above those that systems hand out. */
    EP_CALL_PORT_FIRST = 61000,
    EP_CALL_PORT_LAST = 65535
};

/* Derives the key for calls of a session; ep_auth_fini wipes it. Returns 0 or
 * OV_ESYS. */
int ep_call_auth(const struct ep_auth *session, struct ep_auth *call);

/* The port that is to be tried in this attempt at the gate of a node; 0: there
 * is none left. A `first` of 0 means that no range is given. Pure; only a
 * process that has the key can compute it. */
uint16_t ep_call_port(const struct ep_auth *call, uint32_t node, uint16_t first,
                      uint16_t last, unsigned attempt);

/* Writes what a gate sends first. */
void ep_call_greet(const uint8_t nonce[EP_AUTH_NONCE_BYTES],
                   uint8_t out[EP_CALL_GREETING_BYTES]);
/* The nonce in what a gate sends first, borrowed; NULL: no gate has sent
 * this. */
const uint8_t *ep_call_nonce(const uint8_t greeting[EP_CALL_GREETING_BYTES]);

#endif
