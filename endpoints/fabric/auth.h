/* Proof of the session key between two daemons, before a link exists.
 *
 * A session is an 8-byte number and a 32-byte random key that every daemon of
 * one tree gets from its starter. A listener makes a 16-byte nonce when it
 * starts to listen and publishes it with its address. The private data of a
 * connect, an accept and a reject carry a keyed MAC (BLAKE2b with an output of
 * 22 bytes). All numbers are little-endian.
 *
 *   hello   version 2 | session 8 | node 4 | target 4 | attach 8 | MAC 22
 *           attach with EP_AUTH_PROBE: a probe, not a dial; see below
 *           MAC over "xylem hello\0", the fields before, the listener's nonce
 *   accept  version 2 | session 8 | node 4 | attach 8 | spare 4 | MAC 22
 *           MAC over "xylem accept\0", the fields before, the hello's MAC
 *   refuse  version 2 | reason 2 | MAC 22
 *           MAC over "xylem refuse\0", the fields before, the hello's MAC
 *
 * The nonce ties a hello to one listener, and the attach number (which only
 * grows for each dialling node) ties it to one dial: a recorded hello is worth
 * nothing, anywhere. The hello's MAC in the answers ties an accept or refuse to
 * that dial.
 *
 * A probe asks only whether a node listens. It is never accepted: the answer is
 * a refuse with one of the reasons below. The rest of its attach field is a
 * number that differs each time, so that a recorded answer is worth nothing.
 *
 * No function logs; none keeps a pointer. MACs are compared in constant time.
 */
#ifndef ENDPOINTS_FABRIC_AUTH_H
#define ENDPOINTS_FABRIC_AUTH_H

#include <stddef.h>
#include <stdint.h>

#include "endpoints/fabric/transport.h"

enum {
    EP_AUTH_VERSION = 1,
    EP_AUTH_KEY_BYTES = 32,
    EP_AUTH_KEY_HEX = 2 * EP_AUTH_KEY_BYTES + 1, /* text with its NUL */
    EP_AUTH_NONCE_BYTES = 16,
    EP_AUTH_MAC_BYTES = 22,
    EP_AUTH_HELLO_BYTES = 48,
    EP_AUTH_ACCEPT_BYTES = 48,
    EP_AUTH_REFUSE_BYTES = 26
};
#define EP_AUTH_PROBE (UINT64_C(1) << 63)
/* set in a probe that asks for the root */
#define EP_AUTH_ROOT (UINT64_C(1) << 62)

/* Reasons of a refuse in addition to those of the overlay (enum
 * ov_refuse_reason), which are all smaller numbers. */
enum ep_auth_reason {
    EP_AUTH_ALIVE = 256, /* answer to a probe: the node is in the tree */
    EP_AUTH_OVER,        /* the node has left the tree for good */
    EP_AUTH_HAS_ROOT,    /* answer to EP_AUTH_ROOT: the node reaches the root */
    EP_AUTH_NO_ROOT,     /* answer to EP_AUTH_ROOT: the root refuses the node */
};
_Static_assert((int)EP_AUTH_HELLO_BYTES <= (int)EP_CM_MAX, "hello too long");
_Static_assert((int)EP_AUTH_ACCEPT_BYTES <= (int)EP_CM_MAX, "accept too long");

struct ep_auth {
    uint64_t session;
    uint8_t key[EP_AUTH_KEY_BYTES]; /* secret; wiped by ep_auth_fini */
};

/* The fields of a hello. */
struct ep_auth_hello {
    uint32_t node;   /* the node that dials */
    uint32_t target; /* the node to which it dials; a listener may host many */
    uint64_t attach; /* at least 1; grows with every dial of `node` */
};

/* Sets the session number and the key, given as 64 hex digits of either case.
 * Returns 0, OV_EINVAL (not 64 hex digits; *auth then holds no key) or OV_ESYS
 * (libsodium finds no source of randomness). */
int ep_auth_init(struct ep_auth *auth, uint64_t session, const char *key_hex);

/* Makes a new random session. Returns 0 or OV_ESYS. */
int ep_auth_generate(struct ep_auth *auth);

/* Wipes the key. May be called for a zeroed *auth, and repeatedly. */
void ep_auth_fini(struct ep_auth *auth);

/* Makes a fresh nonce for a listener. Returns 0 or OV_ESYS. */
int ep_auth_nonce(uint8_t nonce[EP_AUTH_NONCE_BYTES]);

/* Makes the private data of a dial to the listener with this nonce. */
void ep_auth_hello_make(const struct ep_auth *auth,
                        const uint8_t nonce[EP_AUTH_NONCE_BYTES],
                        const struct ep_auth_hello *hello,
                        uint8_t out[EP_AUTH_HELLO_BYTES]);

/* Checks the private data of a request at the listener with this nonce. Returns
 * 0 with *hello filled; OV_EPROTO for a wrong length, version or attach number
 * 0; OV_EAUTH for another session or a wrong MAC. *hello is zeroed on error.
 * Does not check whether the hello is a repeated one: call ep_auth_seen_take
 * next. */
int ep_auth_hello_check(const struct ep_auth *auth,
                        const uint8_t nonce[EP_AUTH_NONCE_BYTES],
                        const uint8_t *cm, size_t len_bytes,
                        struct ep_auth_hello *hello);

/* Make the answers to a hello that ep_auth_hello_check has accepted; `hello_cm`
 * are its 48 bytes. */
void ep_auth_accept_make(const struct ep_auth *auth,
                         const uint8_t hello_cm[EP_AUTH_HELLO_BYTES],
                         uint8_t out[EP_AUTH_ACCEPT_BYTES]);
void ep_auth_refuse_make(const struct ep_auth *auth,
                         const uint8_t hello_cm[EP_AUTH_HELLO_BYTES],
                         uint16_t reason, uint8_t out[EP_AUTH_REFUSE_BYTES]);

/* Check the answer to the hello `hello_cm` that this side has made. An accept
 * must come from the target and repeat the attach number. Return 0, OV_EPROTO
 * (length, version) or OV_EAUTH (anything else is wrong). *reason is 0 on
 * error. */
int ep_auth_accept_check(const struct ep_auth *auth,
                         const uint8_t hello_cm[EP_AUTH_HELLO_BYTES],
                         const uint8_t *cm, size_t len_bytes);
int ep_auth_refuse_check(const struct ep_auth *auth,
                         const uint8_t hello_cm[EP_AUTH_HELLO_BYTES],
                         const uint8_t *cm, size_t len_bytes, uint16_t *reason);

/* The highest attach number of each dialling node that one listener has seen: a
 * hash table that grows with the number of different proved diallers. It takes
 * 16 bytes for each of them at half load or more, and never has more entries
 * than the tree has nodes. */
struct ep_auth_seen_entry {
    uint64_t attach; /* 0: the entry is free */
    uint32_t node;
};

struct ep_auth_seen {
    struct ep_auth_seen_entry *table; /* owned */
    uint32_t cap;                     /* a power of two, or 0 */
    uint32_t used;
    /* number of nodes of the tree; a dialler's number is below it */
    uint32_t nodes;
};

/* Makes an empty table; allocates nothing. */
void ep_auth_seen_init(struct ep_auth_seen *seen, uint32_t nodes);
void ep_auth_seen_fini(struct ep_auth_seen *seen);

/* Notes a hello whose MAC was right. Call it before any answer: even a hello
 * that is refused must not be accepted later. O(1) amortised. Returns 0;
 * OV_EAUTH when its attach number is not above the last one of that node (stale
 * or replayed); OV_EINVAL for a node that the tree does not have, or a probe;
 * OV_ENOMEM. Nothing changes on error. */
int ep_auth_seen_take(struct ep_auth_seen *seen,
                      const struct ep_auth_hello *hello);

#endif
