/* Private data of connections, as it is sent: its length, then its bytes.
 * Received data may be from a stranger. */
#ifndef ENDPOINTS_OFI_CM_H
#define ENDPOINTS_OFI_CM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "endpoints/fabric/transport.h"

enum { EP_CM_WIRE_MAX = EP_CM_MAX + 1 /* verbs carries up to 55 */ };

/* The length is sent because some fabrics pad the data to a size of their own.
 * Encode takes EP_CM_MAX bytes at most, always writes EP_CM_WIRE_MAX bytes, and
 * returns that number. Decode returns false for data that no peer of ours
 * sends, and leaves *cm unchanged; otherwise *cm points into wire. O(1). */
size_t ep_cm_encode(uint8_t *wire, const uint8_t *cm, size_t len_bytes);
bool ep_cm_decode(const uint8_t *wire, size_t wire_bytes, const uint8_t **cm,
                  size_t *len_bytes);

#endif
