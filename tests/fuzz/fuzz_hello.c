/* Private data of connections: only the correct bytes are ever accepted. The
 * first byte selects a message, and how a correct one is changed; the other
 * bytes are the message, or are combined with a correct one. */
#include "tests/fuzz/fuzz.h"

#include <string.h>

#include "endpoints/fabric/auth.h"
#include "overlay/base/err.h"

static const char key[] =
    "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
static const uint8_t nonce[EP_AUTH_NONCE_BYTES] = {1, 2, 3};
static const struct ep_auth_hello hello = {.node = 5, .target = 2, .attach = 9};

/* Combines the bytes with `cm` by exclusive or; returns whether that changed
 * `cm`. */
static int spoil(uint8_t *cm, size_t cm_bytes, const uint8_t *mem,
                 size_t len_bytes)
{
    int changed = 0;

    for (size_t i = 0; i < len_bytes && i < cm_bytes; i++) {
        cm[i] ^= mem[i];
        changed |= mem[i];
    }
    return changed != 0;
}

static void check_hello(const struct ep_auth *auth, const uint8_t *mem,
                        size_t len_bytes)
{
    uint8_t cm[EP_AUTH_HELLO_BYTES];
    struct ep_auth_hello seen;
    int changed, rc;

    rc = ep_auth_hello_check(auth, nonce, mem, len_bytes, &seen);
    ep_auth_hello_make(auth, nonce, &hello, cm);
    FUZZ_CHECK(rc == OV_EPROTO || rc == OV_EAUTH ||
               (len_bytes == sizeof(cm) && memcmp(mem, cm, sizeof(cm)) == 0));
    changed = spoil(cm, sizeof(cm), mem, len_bytes);
    rc = ep_auth_hello_check(auth, nonce, cm, sizeof(cm), &seen);
    FUZZ_CHECK((rc == 0) == !changed);
    FUZZ_CHECK(rc != 0 ? seen.attach == 0 : seen.attach == hello.attach);
}

static void check_accept(const struct ep_auth *auth, const uint8_t *hello_cm,
                         const uint8_t *mem, size_t len_bytes)
{
    uint8_t cm[EP_AUTH_ACCEPT_BYTES];
    int changed, rc;

    ep_auth_accept_make(auth, hello_cm, cm);
    rc = ep_auth_accept_check(auth, hello_cm, mem, len_bytes);
    FUZZ_CHECK(rc == OV_EPROTO || rc == OV_EAUTH ||
               (len_bytes == sizeof(cm) && memcmp(mem, cm, sizeof(cm)) == 0));
    changed = spoil(cm, sizeof(cm), mem, len_bytes);
    rc = ep_auth_accept_check(auth, hello_cm, cm, sizeof(cm));
    FUZZ_CHECK((rc == 0) == !changed);
}

static void check_refuse(const struct ep_auth *auth, const uint8_t *hello_cm,
                         const uint8_t *mem, size_t len_bytes)
{
    uint8_t cm[EP_AUTH_REFUSE_BYTES];
    uint16_t reason = 0;
    int changed, rc;

    ep_auth_refuse_make(auth, hello_cm, 7, cm);
    rc = ep_auth_refuse_check(auth, hello_cm, mem, len_bytes, &reason);
    FUZZ_CHECK(rc == OV_EPROTO || rc == OV_EAUTH ||
               (len_bytes == sizeof(cm) && memcmp(mem, cm, sizeof(cm)) == 0));
    changed = spoil(cm, sizeof(cm), mem, len_bytes);
    rc = ep_auth_refuse_check(auth, hello_cm, cm, sizeof(cm), &reason);
    FUZZ_CHECK((rc == 0) == !changed);
    FUZZ_CHECK(reason == (rc == 0 ? 7 : 0));
}

int LLVMFuzzerTestOneInput(const uint8_t *mem, size_t len_bytes)
{
    uint8_t hello_cm[EP_AUTH_HELLO_BYTES];
    struct ep_auth auth;

    if (len_bytes < 1)
        return 0;
    FUZZ_CHECK(ep_auth_init(&auth, 0x1122334455667788u, key) == 0);
    ep_auth_hello_make(&auth, nonce, &hello, hello_cm);
    if (mem[0] % 3 == 0)
        check_hello(&auth, mem + 1, len_bytes - 1);
    else if (mem[0] % 3 == 1)
        check_accept(&auth, hello_cm, mem + 1, len_bytes - 1);
    else
        check_refuse(&auth, hello_cm, mem + 1, len_bytes - 1);
    ep_auth_fini(&auth);
    return 0;
}
