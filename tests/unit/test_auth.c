/* The proof of the session key: golden bytes, and every way to cheat.
 *
 * The golden bytes were computed with an independent BLAKE2b (Python's
 * hashlib), so they also fix the choice of the keyed hash and the output
 * length.
 */
#include "endpoints/fabric/auth.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "overlay/base/err.h"

static const char key_hex[] = "000102030405060708090a0b0c0d0e0f"
                              "101112131415161718191a1b1c1d1e1f";
static const uint64_t session = 0x1122334455667788;
static const struct ep_auth_hello seven = {.node = 7, .target = 3, .attach = 5};
static uint8_t nonce[EP_AUTH_NONCE_BYTES];
static struct ep_auth auth;

static int start(void **state)
{
    (void)state;
    for (unsigned i = 0; i < sizeof(nonce); i++)
        nonce[i] = (uint8_t)(0x40 + i);
    return ep_auth_init(&auth, session, key_hex);
}

static const char *hex(const uint8_t *mem, size_t len_bytes)
{
    static char text[2 * EP_CM_MAX + 1];

    for (size_t i = 0; i < len_bytes; i++)
        snprintf(text + 2 * i, 3, "%02x", mem[i]);
    return text;
}

static void make_hello(uint8_t out[EP_AUTH_HELLO_BYTES])
{
    ep_auth_hello_make(&auth, nonce, &seven, out);
}

static int check_hello(const uint8_t *cm, size_t len_bytes)
{
    struct ep_auth_hello got;

    return ep_auth_hello_check(&auth, nonce, cm, len_bytes, &got);
}

/* A change of the layout, label or hash changes these bytes. */
static void layouts_are_the_documented_bytes(void **state)
{
    uint8_t hello[EP_AUTH_HELLO_BYTES], accept[EP_AUTH_ACCEPT_BYTES];
    uint8_t refuse[EP_AUTH_REFUSE_BYTES];

    (void)state;
    make_hello(hello);
    assert_string_equal(
        hex(hello, sizeof(hello)),
        "0100887766554433221107000000030000000500000000000000bc7b6d751c83"
        "9943855acaba787c07374530a7af1b4b");
    ep_auth_accept_make(&auth, hello, accept);
    assert_string_equal(
        hex(accept, sizeof(accept)),
        "010088776655443322110300000005000000000000000000000051ef97fc3c94"
        "42d896a6067d206d6514329750c36c30");
    ep_auth_refuse_make(&auth, hello, 4, refuse);
    assert_string_equal(hex(refuse, sizeof(refuse)),
                        "01000400d8965952b9e1b276eff3ecd7b76e90bbf9784be0361a");
}

/* A probe is a hello like any other. Each probe has its own number, so that the
 * answer to one is no answer to the next. */
static void probes_are_the_documented_bytes(void **state)
{
    struct ep_auth_hello probe = seven, got;
    uint8_t hello[EP_AUTH_HELLO_BYTES], next[EP_AUTH_HELLO_BYTES];
    uint8_t refuse[EP_AUTH_REFUSE_BYTES];
    uint16_t reason;

    (void)state;
    probe.attach |= EP_AUTH_PROBE;
    ep_auth_hello_make(&auth, nonce, &probe, hello);
    assert_string_equal(hex(hello, sizeof(hello)),
                        "0100887766554433221107000000030000000500000000000080"
                        "45fd14a2328b3adf643e9adb6a014a7e8dcb9254f82c");
    assert_int_equal(
        ep_auth_hello_check(&auth, nonce, hello, sizeof(hello), &got), 0);
    assert_true(got.attach == probe.attach);
    ep_auth_refuse_make(&auth, hello, EP_AUTH_OVER, refuse);
    assert_string_equal(hex(refuse, sizeof(refuse)),
                        "010001013a6178d3acf80692f7912eb9cbcb0c4406baf8f80957");
    ep_auth_refuse_make(&auth, hello, EP_AUTH_ALIVE, refuse);
    assert_string_equal(hex(refuse, sizeof(refuse)),
                        "01000001d83c28f7153819d3366c6fdbc7b0061c6ee945911560");
    probe.attach++;
    ep_auth_hello_make(&auth, nonce, &probe, next);
    assert_int_equal(
        ep_auth_refuse_check(&auth, next, refuse, sizeof(refuse), &reason),
        OV_EAUTH);
}

static void honest_peers_prove_each_other(void **state)
{
    uint8_t hello[EP_AUTH_HELLO_BYTES], accept[EP_AUTH_ACCEPT_BYTES];
    uint8_t refuse[EP_AUTH_REFUSE_BYTES];
    struct ep_auth_hello got;
    uint16_t reason;

    (void)state;
    make_hello(hello);
    assert_int_equal(
        ep_auth_hello_check(&auth, nonce, hello, sizeof(hello), &got), 0);
    assert_int_equal(got.node, 7);
    assert_int_equal(got.target, 3);
    assert_int_equal(got.attach, 5);
    ep_auth_accept_make(&auth, hello, accept);
    assert_int_equal(ep_auth_accept_check(&auth, hello, accept, sizeof(accept)),
                     0);
    ep_auth_refuse_make(&auth, hello, 999, refuse);
    assert_int_equal(
        ep_auth_refuse_check(&auth, hello, refuse, sizeof(refuse), &reason), 0);
    assert_int_equal(reason, 999);
}

/* Every single bit is covered by the version check or by the MAC. */
static void one_flipped_bit_spoils_a_hello(void **state)
{
    uint8_t hello[EP_AUTH_HELLO_BYTES];
    struct ep_auth_hello got;

    (void)state;
    make_hello(hello);
    for (unsigned bit = 0; bit < 8 * sizeof(hello); bit++) {
        hello[bit / 8] ^= (uint8_t)(1u << bit % 8);
        assert_int_equal(
            ep_auth_hello_check(&auth, nonce, hello, sizeof(hello), &got),
            bit < 16 ? OV_EPROTO : OV_EAUTH);
        assert_int_equal(got.attach, 0);
        hello[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    assert_int_equal(check_hello(hello, sizeof(hello)), 0);
}

static void one_flipped_bit_spoils_an_accept(void **state)
{
    uint8_t hello[EP_AUTH_HELLO_BYTES], accept[EP_AUTH_ACCEPT_BYTES];

    (void)state;
    make_hello(hello);
    ep_auth_accept_make(&auth, hello, accept);
    for (unsigned bit = 0; bit < 8 * sizeof(accept); bit++) {
        accept[bit / 8] ^= (uint8_t)(1u << bit % 8);
        assert_int_equal(
            ep_auth_accept_check(&auth, hello, accept, sizeof(accept)),
            bit < 16 ? OV_EPROTO : OV_EAUTH);
        accept[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
}

static void one_flipped_bit_spoils_a_refuse(void **state)
{
    uint8_t hello[EP_AUTH_HELLO_BYTES], refuse[EP_AUTH_REFUSE_BYTES];
    uint16_t reason;

    (void)state;
    make_hello(hello);
    ep_auth_refuse_make(&auth, hello, 4, refuse);
    for (unsigned bit = 0; bit < 8 * sizeof(refuse); bit++) {
        refuse[bit / 8] ^= (uint8_t)(1u << bit % 8);
        assert_int_equal(
            ep_auth_refuse_check(&auth, hello, refuse, sizeof(refuse), &reason),
            bit < 16 ? OV_EPROTO : OV_EAUTH);
        assert_int_equal(reason, 0);
        refuse[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
}

static void other_lengths_are_not_read(void **state)
{
    uint8_t hello[EP_AUTH_HELLO_BYTES + 1] = {0};
    uint8_t answer[EP_AUTH_ACCEPT_BYTES + 1] = {0};
    uint16_t reason;

    (void)state;
    make_hello(hello);
    assert_int_equal(check_hello(NULL, 0), OV_EPROTO);
    for (size_t len = 1; len <= sizeof(hello); len++)
        assert_int_equal(check_hello(hello, len),
                         len == EP_AUTH_HELLO_BYTES ? 0 : OV_EPROTO);
    ep_auth_accept_make(&auth, hello, answer);
    for (size_t len = 0; len <= sizeof(answer); len++)
        assert_int_equal(ep_auth_accept_check(&auth, hello, answer, len),
                         len == EP_AUTH_ACCEPT_BYTES ? 0 : OV_EPROTO);
    ep_auth_refuse_make(&auth, hello, 1, answer);
    for (size_t len = 0; len <= sizeof(answer); len++)
        assert_int_equal(
            ep_auth_refuse_check(&auth, hello, answer, len, &reason),
            len == EP_AUTH_REFUSE_BYTES ? 0 : OV_EPROTO);
}

/* A hello that was recorded at one listener is of no use at another one. */
static void hello_for_another_listener_is_not_proof(void **state)
{
    uint8_t hello[EP_AUTH_HELLO_BYTES], other[EP_AUTH_NONCE_BYTES];
    struct ep_auth_hello got;

    (void)state;
    make_hello(hello);
    for (unsigned i = 0; i < sizeof(other); i++) {
        memcpy(other, nonce, sizeof(other));
        other[i] ^= 1;
        assert_int_equal(
            ep_auth_hello_check(&auth, other, hello, sizeof(hello), &got),
            OV_EAUTH);
    }
}

static void another_session_or_key_is_not_proof(void **state)
{
    uint8_t hello[EP_AUTH_HELLO_BYTES], accept[EP_AUTH_ACCEPT_BYTES];
    struct ep_auth other = auth;

    (void)state;
    other.session++;
    ep_auth_hello_make(&other, nonce, &seven, hello);
    assert_int_equal(check_hello(hello, sizeof(hello)), OV_EAUTH);
    other = auth;
    other.key[31] ^= 0x80;
    ep_auth_hello_make(&other, nonce, &seven, hello);
    assert_int_equal(check_hello(hello, sizeof(hello)), OV_EAUTH);

    /* A listener without the key cannot answer. */
    make_hello(hello);
    ep_auth_accept_make(&other, hello, accept);
    assert_int_equal(ep_auth_accept_check(&auth, hello, accept, sizeof(accept)),
                     OV_EAUTH);
}

/* An accept or refuse belongs to one dial: the next dial does not accept it. */
static void answers_to_another_dial_are_not_proof(void **state)
{
    uint8_t first[EP_AUTH_HELLO_BYTES], second[EP_AUTH_HELLO_BYTES];
    uint8_t accept[EP_AUTH_ACCEPT_BYTES], refuse[EP_AUTH_REFUSE_BYTES];
    struct ep_auth_hello again = seven;
    uint8_t other[EP_AUTH_NONCE_BYTES] = {0};
    uint16_t reason;

    (void)state;
    make_hello(first);
    ep_auth_accept_make(&auth, first, accept);
    ep_auth_refuse_make(&auth, first, 2, refuse);
    again.attach++;
    ep_auth_hello_make(&auth, nonce, &again, second);
    assert_int_equal(
        ep_auth_accept_check(&auth, second, accept, sizeof(accept)), OV_EAUTH);
    assert_int_equal(
        ep_auth_refuse_check(&auth, second, refuse, sizeof(refuse), &reason),
        OV_EAUTH);

    /* The fields are the same, the listener is another: only the hello's MAC
     * differs. */
    ep_auth_hello_make(&auth, other, &seven, second);
    assert_int_equal(
        ep_auth_accept_check(&auth, second, accept, sizeof(accept)), OV_EAUTH);
}

/* The accept comes from a node that has the key, but is not the node that was
 * dialled. */
static void accept_of_another_node_is_not_proof(void **state)
{
    uint8_t hello[EP_AUTH_HELLO_BYTES], other[EP_AUTH_HELLO_BYTES];
    uint8_t accept[EP_AUTH_ACCEPT_BYTES];

    (void)state;
    make_hello(hello);
    memcpy(other, hello, sizeof(other));
    other[14]++; /* Changes the target; the MAC stays that of the hello. */
    ep_auth_accept_make(&auth, other, accept);
    assert_int_equal(ep_auth_accept_check(&auth, hello, accept, sizeof(accept)),
                     OV_EAUTH);
}

/* The labels separate the three kinds of messages, even when lengths are
 * equal. */
static void hello_echoed_back_is_no_accept(void **state)
{
    uint8_t hello[EP_AUTH_HELLO_BYTES], accept[EP_AUTH_ACCEPT_BYTES];

    (void)state;
    make_hello(hello);
    assert_int_equal(ep_auth_accept_check(&auth, hello, hello, sizeof(hello)),
                     OV_EAUTH);
    ep_auth_accept_make(&auth, hello, accept);
    assert_int_not_equal(check_hello(accept, sizeof(accept)), 0);
}

static void attach_number_zero_is_no_hello(void **state)
{
    uint8_t hello[EP_AUTH_HELLO_BYTES];

    (void)state;
    make_hello(hello);
    memset(hello + 18, 0, 8);
    assert_int_equal(check_hello(hello, sizeof(hello)), OV_EPROTO);
}

static int take(struct ep_auth_seen *seen, uint32_t node, uint64_t attach)
{
    struct ep_auth_hello hello = {.node = node, .attach = attach};

    return ep_auth_seen_take(seen, &hello);
}

static void replayed_and_older_hellos_are_stale(void **state)
{
    struct ep_auth_seen seen;

    (void)state;
    ep_auth_seen_init(&seen, 100);
    assert_int_equal(take(&seen, 7, 5), 0);
    assert_int_equal(take(&seen, 7, 5), OV_EAUTH);
    assert_int_equal(take(&seen, 7, 4), OV_EAUTH);
    assert_int_equal(take(&seen, 8, 1), 0);
    assert_int_equal(take(&seen, 7, 6), 0);
    assert_int_equal(take(&seen, 7, EP_AUTH_PROBE - 1), 0);
    assert_int_equal(take(&seen, 7, EP_AUTH_PROBE - 1), OV_EAUTH);
    assert_int_equal(take(&seen, 9, EP_AUTH_PROBE | 1), OV_EINVAL);
    assert_int_equal(take(&seen, 100, 1), OV_EINVAL);
    assert_int_equal(take(&seen, UINT32_MAX, 1), OV_EINVAL);
    assert_int_equal(take(&seen, 9, 0), OV_EINVAL);
    ep_auth_seen_fini(&seen);
}

/* The table is compared with a plain array over many nodes and dials. */
static void seen_table_agrees_with_a_plain_array(void **state)
{
    enum { NODES = 5000, DIALS = 60000 };
    static uint64_t model[NODES];
    struct ep_auth_seen seen;
    uint32_t dice = 12345;

    (void)state;
    print_message("seed %u\n", dice);
    ep_auth_seen_init(&seen, NODES);
    for (unsigned i = 0; i < DIALS; i++) {
        uint32_t node = (dice = dice * 1664525u + 1013904223u) >> 8;
        uint64_t attach = (dice = dice * 1664525u + 1013904223u) >> 24;
        int want = OV_EAUTH;

        node = node % NODES;
        attach++;
        if (attach > model[node]) {
            model[node] = attach;
            want = 0;
        }
        assert_int_equal(take(&seen, node, attach), want);
    }
    assert_true(seen.used <= NODES && seen.cap >= 2 * seen.used);
    ep_auth_seen_fini(&seen);
}

static void only_64_hex_digits_are_a_key(void **state)
{
    static const char *const bad[] = {
        "",
        "00",
        "x00102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d",
        "00010203040506070809 a0b0c0d0e0f101112131415161718191a1b1c1d1e1f",
        "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1",
        "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f0",
        "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1g"};
    static const uint8_t zero[EP_AUTH_KEY_BYTES];
    struct ep_auth other;

    (void)state;
    for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_int_equal(ep_auth_init(&other, 1, bad[i]), OV_EINVAL);
        assert_memory_equal(other.key, zero, sizeof(zero));
    }
    assert_int_equal(ep_auth_init(&other, 1, key_hex), 0);
    assert_memory_equal(other.key, auth.key, sizeof(other.key));
    ep_auth_fini(&other);
    assert_memory_equal(other.key, zero, sizeof(zero));
}

static void sessions_and_nonces_are_made_anew(void **state)
{
    struct ep_auth one, two;
    uint8_t a[EP_AUTH_NONCE_BYTES], b[EP_AUTH_NONCE_BYTES];

    (void)state;
    assert_int_equal(ep_auth_generate(&one), 0);
    assert_int_equal(ep_auth_generate(&two), 0);
    assert_memory_not_equal(one.key, two.key, sizeof(one.key));
    assert_true(one.session != two.session);
    assert_int_equal(ep_auth_nonce(a), 0);
    assert_int_equal(ep_auth_nonce(b), 0);
    assert_memory_not_equal(a, b, sizeof(a));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layouts_are_the_documented_bytes),
        cmocka_unit_test(probes_are_the_documented_bytes),
        cmocka_unit_test(honest_peers_prove_each_other),
        cmocka_unit_test(one_flipped_bit_spoils_a_hello),
        cmocka_unit_test(one_flipped_bit_spoils_an_accept),
        cmocka_unit_test(one_flipped_bit_spoils_a_refuse),
        cmocka_unit_test(other_lengths_are_not_read),
        cmocka_unit_test(hello_for_another_listener_is_not_proof),
        cmocka_unit_test(another_session_or_key_is_not_proof),
        cmocka_unit_test(answers_to_another_dial_are_not_proof),
        cmocka_unit_test(accept_of_another_node_is_not_proof),
        cmocka_unit_test(hello_echoed_back_is_no_accept),
        cmocka_unit_test(attach_number_zero_is_no_hello),
        cmocka_unit_test(replayed_and_older_hellos_are_stale),
        cmocka_unit_test(seen_table_agrees_with_a_plain_array),
        cmocka_unit_test(only_64_hex_digits_are_a_key),
        cmocka_unit_test(sessions_and_nonces_are_made_anew),
    };

    return cmocka_run_group_tests_name("auth", tests, start, NULL);
}
