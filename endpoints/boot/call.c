/* What both ends of a call share; call.h describes the messages. */
#include "config.h"

#include "endpoints/boot/call.h"

#include <string.h>

#include <sodium.h>

#include "overlay/base/err.h"
#include "overlay/base/panic.h"

static const char magic[EP_CALL_MAGIC_BYTES + 1] = "xylgate1";

/* Derives bytes from the key, the label and a number. */
static void derive(const struct ep_auth *from, const char *label,
                   uint32_t number, uint8_t *out, size_t out_bytes)
{
    uint8_t input[32] = {0};
    int rc;

    OV_ASSERT(strlen(label) < sizeof(input) - 4);
    memcpy(input, label, strlen(label));
    for (unsigned i = 0; i < 4; i++)
        input[28 + i] = (uint8_t)(number >> (8 * i));
    rc = crypto_generichash(out, out_bytes, input, sizeof(input), from->key,
                            sizeof(from->key));
    OV_ASSERT(rc == 0); /* libsodium fails only for lengths outside its range */
}

int ep_call_auth(const struct ep_auth *session, struct ep_auth *call)
{
    if (sodium_init() < 0)
        return OV_ESYS;
    call->session = session->session;
    derive(session, "xylem call", 0, call->key, sizeof(call->key));
    return 0;
}

uint16_t ep_call_port(const struct ep_auth *call, uint32_t node, uint16_t first,
                      uint16_t last, unsigned attempt)
{
    uint8_t hash[crypto_generichash_BYTES_MIN];
    uint32_t ports, at;

    if (first == 0) {
        first = EP_CALL_PORT_FIRST;
        last = EP_CALL_PORT_LAST;
    }
    ports = (uint32_t)last - first + 1;
    if (attempt >= EP_CALL_PORTS_MAX || attempt >= ports)
        return 0;
    derive(call, "xylem gate port", node, hash, sizeof(hash));
    at = (uint32_t)hash[0] | (uint32_t)hash[1] << 8 | (uint32_t)hash[2] << 16;
    return (uint16_t)(first + (at + attempt) % ports);
}

void ep_call_greet(const uint8_t nonce[EP_AUTH_NONCE_BYTES],
                   uint8_t out[EP_CALL_GREETING_BYTES])
{
    memcpy(out, magic, EP_CALL_MAGIC_BYTES);
    memcpy(out + EP_CALL_MAGIC_BYTES, nonce, EP_AUTH_NONCE_BYTES);
}

const uint8_t *ep_call_nonce(const uint8_t greeting[EP_CALL_GREETING_BYTES])
{
    return memcmp(greeting, magic, EP_CALL_MAGIC_BYTES) == 0
               ? greeting + EP_CALL_MAGIC_BYTES
               : NULL;
}
