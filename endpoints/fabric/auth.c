/* Proofs of the session key; auth.h explains messages and reasons. */
#include "config.h"

#include "endpoints/fabric/auth.h"

#include <stdlib.h>
#include <string.h>

#include <sodium.h>

#include "overlay/base/err.h"
#include "overlay/base/panic.h"
#include "overlay/base/wire.h"

enum {
    HELLO_FIELDS = EP_AUTH_HELLO_BYTES - EP_AUTH_MAC_BYTES,
    ACCEPT_FIELDS = EP_AUTH_ACCEPT_BYTES - EP_AUTH_MAC_BYTES,
    REFUSE_FIELDS = EP_AUTH_REFUSE_BYTES - EP_AUTH_MAC_BYTES,
    SEEN_CAP_FIRST = 16
};

/* Labels are hashed with their NUL, so none is a prefix of another. */
static const char label_hello[] = "xylem hello";
static const char label_accept[] = "xylem accept";
static const char label_refuse[] = "xylem refuse";

static void mac(const struct ep_auth *auth, const char *label,
                const uint8_t *fields, size_t fields_bytes, const uint8_t *tail,
                size_t tail_bytes, uint8_t out[EP_AUTH_MAC_BYTES])
{
    crypto_generichash_state st;
    int rc = crypto_generichash_init(&st, auth->key, sizeof(auth->key),
                                     EP_AUTH_MAC_BYTES);

    rc |= crypto_generichash_update(&st, (const unsigned char *)label,
                                    strlen(label) + 1);
    rc |= crypto_generichash_update(&st, fields, fields_bytes);
    rc |= crypto_generichash_update(&st, tail, tail_bytes);
    rc |= crypto_generichash_final(&st, out, EP_AUTH_MAC_BYTES);
    OV_ASSERT(rc == 0); /* libsodium fails only for lengths outside its range */
    sodium_memzero(&st, sizeof(st));
}

static bool mac_is_right(const struct ep_auth *auth, const char *label,
                         const uint8_t *cm, size_t fields_bytes,
                         const uint8_t *tail, size_t tail_bytes)
{
    uint8_t want[EP_AUTH_MAC_BYTES];

    mac(auth, label, cm, fields_bytes, tail, tail_bytes, want);
    return sodium_memcmp(want, cm + fields_bytes, sizeof(want)) == 0;
}

int ep_auth_init(struct ep_auth *auth, uint64_t session, const char *key_hex)
{
    size_t got_bytes = 0;

    *auth = (struct ep_auth){.session = session};
    if (sodium_init() < 0)
        return OV_ESYS;
    if (strlen(key_hex) != EP_AUTH_KEY_HEX - 1 ||
        sodium_hex2bin(auth->key, sizeof(auth->key), key_hex,
                       EP_AUTH_KEY_HEX - 1, NULL, &got_bytes, NULL) != 0 ||
        got_bytes != sizeof(auth->key)) {
        ep_auth_fini(auth);
        return OV_EINVAL;
    }
    return 0;
}

int ep_auth_generate(struct ep_auth *auth)
{
    if (sodium_init() < 0)
        return OV_ESYS;
    randombytes_buf(&auth->session, sizeof(auth->session));
    randombytes_buf(auth->key, sizeof(auth->key));
    return 0;
}

void ep_auth_fini(struct ep_auth *auth)
{
    sodium_memzero(auth, sizeof(*auth));
}

int ep_auth_nonce(uint8_t nonce[EP_AUTH_NONCE_BYTES])
{
    if (sodium_init() < 0)
        return OV_ESYS;
    randombytes_buf(nonce, EP_AUTH_NONCE_BYTES);
    return 0;
}

void ep_auth_hello_make(const struct ep_auth *auth,
                        const uint8_t nonce[EP_AUTH_NONCE_BYTES],
                        const struct ep_auth_hello *hello,
                        uint8_t out[EP_AUTH_HELLO_BYTES])
{
    struct ov_wr wr = ov_wr_init(out, HELLO_FIELDS);

    OV_ASSERT(hello->attach > 0);
    ov_wr_u16(&wr, EP_AUTH_VERSION);
    ov_wr_u64(&wr, auth->session);
    ov_wr_u32(&wr, hello->node);
    ov_wr_u32(&wr, hello->target);
    ov_wr_u64(&wr, hello->attach);
    OV_ASSERT(!wr.bad && wr.at == wr.end);
    mac(auth, label_hello, out, HELLO_FIELDS, nonce, EP_AUTH_NONCE_BYTES,
        out + HELLO_FIELDS);
}

/* Reads the fields of a hello, and checks version and session. */
static int hello_read(const struct ep_auth *auth, const uint8_t *cm,
                      struct ep_auth_hello *hello)
{
    struct ov_rd rd = ov_rd_init(cm, HELLO_FIELDS);
    uint16_t version = ov_rd_u16(&rd);
    uint64_t session = ov_rd_u64(&rd);

    hello->node = ov_rd_u32(&rd);
    hello->target = ov_rd_u32(&rd);
    hello->attach = ov_rd_u64(&rd);
    if (version != EP_AUTH_VERSION || hello->attach == 0)
        return OV_EPROTO;
    return session == auth->session ? 0 : OV_EAUTH;
}

int ep_auth_hello_check(const struct ep_auth *auth,
                        const uint8_t nonce[EP_AUTH_NONCE_BYTES],
                        const uint8_t *cm, size_t len_bytes,
                        struct ep_auth_hello *hello)
{
    int rc = OV_EPROTO;

    if (len_bytes == EP_AUTH_HELLO_BYTES)
        rc = hello_read(auth, cm, hello);
    if (rc == 0 && !mac_is_right(auth, label_hello, cm, HELLO_FIELDS, nonce,
                                 EP_AUTH_NONCE_BYTES))
        rc = OV_EAUTH;
    if (rc != 0)
        *hello = (struct ep_auth_hello){0};
    return rc;
}

/* Sets the fields of an accept, which depend on the hello alone: who accepts,
 * and which dial. */
static void accept_fields(const struct ep_auth *auth,
                          const uint8_t hello_cm[EP_AUTH_HELLO_BYTES],
                          uint8_t out[ACCEPT_FIELDS])
{
    struct ov_wr wr = ov_wr_init(out, ACCEPT_FIELDS);
    struct ep_auth_hello hello;
    int rc = hello_read(auth, hello_cm, &hello);

    OV_ASSERT(rc == 0);
    ov_wr_u16(&wr, EP_AUTH_VERSION);
    ov_wr_u64(&wr, auth->session);
    ov_wr_u32(&wr, hello.target);
    ov_wr_u64(&wr, hello.attach);
    ov_wr_u32(&wr, 0);
    OV_ASSERT(!wr.bad && wr.at == wr.end);
}

void ep_auth_accept_make(const struct ep_auth *auth,
                         const uint8_t hello_cm[EP_AUTH_HELLO_BYTES],
                         uint8_t out[EP_AUTH_ACCEPT_BYTES])
{
    accept_fields(auth, hello_cm, out);
    mac(auth, label_accept, out, ACCEPT_FIELDS, hello_cm + HELLO_FIELDS,
        EP_AUTH_MAC_BYTES, out + ACCEPT_FIELDS);
}

static bool version_is_ours(const uint8_t *cm)
{
    struct ov_rd rd = ov_rd_init(cm, 2);

    return ov_rd_u16(&rd) == EP_AUTH_VERSION;
}

int ep_auth_accept_check(const struct ep_auth *auth,
                         const uint8_t hello_cm[EP_AUTH_HELLO_BYTES],
                         const uint8_t *cm, size_t len_bytes)
{
    uint8_t want[ACCEPT_FIELDS];

    if (len_bytes != EP_AUTH_ACCEPT_BYTES || !version_is_ours(cm))
        return OV_EPROTO;
    accept_fields(auth, hello_cm, want);
    if (memcmp(want, cm, ACCEPT_FIELDS) != 0 ||
        !mac_is_right(auth, label_accept, cm, ACCEPT_FIELDS,
                      hello_cm + HELLO_FIELDS, EP_AUTH_MAC_BYTES))
        return OV_EAUTH;
    return 0;
}

void ep_auth_refuse_make(const struct ep_auth *auth,
                         const uint8_t hello_cm[EP_AUTH_HELLO_BYTES],
                         uint16_t reason, uint8_t out[EP_AUTH_REFUSE_BYTES])
{
    struct ov_wr wr = ov_wr_init(out, REFUSE_FIELDS);

    ov_wr_u16(&wr, EP_AUTH_VERSION);
    ov_wr_u16(&wr, reason);
    mac(auth, label_refuse, out, REFUSE_FIELDS, hello_cm + HELLO_FIELDS,
        EP_AUTH_MAC_BYTES, out + REFUSE_FIELDS);
}

int ep_auth_refuse_check(const struct ep_auth *auth,
                         const uint8_t hello_cm[EP_AUTH_HELLO_BYTES],
                         const uint8_t *cm, size_t len_bytes, uint16_t *reason)
{
    struct ov_rd rd;

    *reason = 0;
    if (len_bytes != EP_AUTH_REFUSE_BYTES || !version_is_ours(cm))
        return OV_EPROTO;
    if (!mac_is_right(auth, label_refuse, cm, REFUSE_FIELDS,
                      hello_cm + HELLO_FIELDS, EP_AUTH_MAC_BYTES))
        return OV_EAUTH;
    rd = ov_rd_init(cm + 2, 2);
    *reason = ov_rd_u16(&rd);
    return 0;
}

void ep_auth_seen_init(struct ep_auth_seen *seen, uint32_t nodes)
{
    *seen = (struct ep_auth_seen){.nodes = nodes};
}

void ep_auth_seen_fini(struct ep_auth_seen *seen)
{
    free(seen->table);
    *seen = (struct ep_auth_seen){0};
}

/* Finds the entry of the node, or the free entry where it belongs. The table is
 * never full. Only proved nodes are looked up, so a plain multiplicative hash
 * is good enough. */
static struct ep_auth_seen_entry *seen_find(struct ep_auth_seen_entry *table,
                                            uint32_t cap, uint32_t node)
{
    uint32_t hash = node * 2654435769u;
    uint32_t at = (hash ^ hash >> 15) & (cap - 1);

    while (table[at].attach != 0 && table[at].node != node)
        at = (at + 1) & (cap - 1);
    return &table[at];
}

/* Enlarges the table so that it stays at most half full. */
static int seen_grow(struct ep_auth_seen *seen)
{
    uint32_t cap = seen->cap == 0 ? SEEN_CAP_FIRST : 2 * seen->cap;
    struct ep_auth_seen_entry *table = calloc(cap, sizeof(*table));

    if (table == NULL)
        return OV_ENOMEM;
    for (uint32_t i = 0; i < seen->cap; i++) {
        const struct ep_auth_seen_entry *old = &seen->table[i];

        if (old->attach != 0)
            *seen_find(table, cap, old->node) = *old;
    }
    free(seen->table);
    seen->table = table;
    seen->cap = cap;
    return 0;
}

int ep_auth_seen_take(struct ep_auth_seen *seen,
                      const struct ep_auth_hello *hello)
{
    struct ep_auth_seen_entry *entry;

    if (hello->node >= seen->nodes || hello->attach == 0 ||
        (hello->attach & EP_AUTH_PROBE) != 0)
        return OV_EINVAL;
    if (2 * (uint64_t)seen->used >= seen->cap && seen_grow(seen) != 0)
        return OV_ENOMEM;
    entry = seen_find(seen->table, seen->cap, hello->node);
    if (hello->attach <= entry->attach)
        return OV_EAUTH;
    if (entry->attach == 0)
        seen->used++;
    *entry = (struct ep_auth_seen_entry){hello->attach, hello->node};
    return 0;
}
