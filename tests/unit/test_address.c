/* Addresses as text, and private data of connections as bytes: these come from
 * peers that have not proved themselves yet. */
#include "endpoints/ofi/address.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "endpoints/ofi/cm.h"
#include "overlay/base/err.h"

/* Each address is read and written as the same text, in its shortest form. */
static void an_address_survives_its_way(void **state)
{
    static const struct {
        const char *text, *again;
        uint16_t port;
    } cases[] = {
        {"127.0.0.1:1", "127.0.0.1:1", 1},
        {"10.1.2.3:65535", "10.1.2.3:65535", 65535},
        {"[::1]:5", "[::1]:5", 5},
        {"[2001:db8:0:0::7]:40000", "[2001:db8::7]:40000", 40000},
        {"[fe80::1%lo]:5", "[fe80::1]:5", 5},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        union ep_sockaddr addr = {0};
        char text[EP_ADDR_MAX];

        assert_int_equal(ep_addr_parse(cases[i].text, &addr), 0);
        assert_int_equal(ep_addr_port(&addr), cases[i].port);
        ep_addr_format(&addr, text);
        assert_string_equal(text, cases[i].again);
    }
}

static void what_is_no_address_is_refused(void **state)
{
    static const char *const texts[] = {
        "",           ":",           "1.2.3.4",       "1.2.3.4:",
        ":5",         "[]:5",        "[:5",           "[::1:5",
        "::1:5",      "[::1]",       "[1.2.3.4]:5",   "1.2.3.4:0",
        "1.2.3.4:-1", "1.2.3.4:+1",  "1.2.3.4: 1",    "1.2.3.4:1x",
        "1.2.3:4",    "1.2.3.256:4", "1.2.3.4:65536", "host:5",
        "[::1]]:5",   "[[::1]:5",    "[::g]:5",       "1.2.3.4:99999999999999",
    };
    char text[2 * EP_ADDR_MAX];
    union ep_sockaddr addr;

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        assert_int_equal(ep_addr_parse(texts[i], &addr), OV_EINVAL);
    for (size_t len = 1; len < sizeof(text) - 2; len++) {
        memset(text, '1', len);
        strcpy(text + len, ":5");
        assert_int_equal(ep_addr_parse(text, &addr), OV_EINVAL);
    }
}

/* The layout is one byte of length, the bytes, and zeros up to the largest
 * size. */
static void private_data_has_the_bytes_that_are_drawn(void **state)
{
    static const uint8_t golden[EP_CM_WIRE_MAX] = {3, 0xa1, 0xb2, 0xc3};
    uint8_t wire[EP_CM_WIRE_MAX];
    const uint8_t *cm = NULL;
    size_t len_bytes = 0;

    (void)state;
    memset(wire, 0xff, sizeof(wire));
    assert_int_equal(ep_cm_encode(wire, golden + 1, 3), 49);
    assert_memory_equal(wire, golden, sizeof(wire));
    assert_true(ep_cm_decode(wire, sizeof(wire), &cm, &len_bytes));
    assert_ptr_equal(cm, wire + 1);
    assert_int_equal(len_bytes, 3);
}

/* A fabric may pad the data or leave the padding out. The bytes that the length
 * announces must be there, and must fit. */
static void private_data_of_a_wrong_length_is_refused(void **state)
{
    uint8_t wire[2 * EP_CM_WIRE_MAX] = {3};
    const uint8_t *cm = NULL;
    size_t len_bytes = 0;

    (void)state;
    for (size_t bytes = 0; bytes < sizeof(wire); bytes++)
        assert_int_equal(ep_cm_decode(wire, bytes, &cm, &len_bytes),
                         bytes >= 4);
    wire[0] = EP_CM_MAX;
    assert_true(ep_cm_decode(wire, EP_CM_WIRE_MAX, &cm, &len_bytes));
    assert_false(ep_cm_decode(wire, EP_CM_WIRE_MAX - 1, &cm, &len_bytes));
    wire[0] = EP_CM_MAX + 1;
    assert_false(ep_cm_decode(wire, sizeof(wire), &cm, &len_bytes));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_address_survives_its_way),
        cmocka_unit_test(what_is_no_address_is_refused),
        cmocka_unit_test(private_data_has_the_bytes_that_are_drawn),
        cmocka_unit_test(private_data_of_a_wrong_length_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
