/* The address book of a hub. */
#include "endpoints/hub/book.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "overlay/base/err.h"
#include "overlay/event.h"

static struct ep_boot_peer peer_of(uint32_t node, unsigned port)
{
    struct ep_boot_peer peer = {.node = node};

    snprintf(peer.address, sizeof(peer.address), "127.0.0.1:%u", port);
    return peer;
}

static void put(struct ep_book *book, uint32_t node, unsigned port)
{
    struct ep_boot_peer peer = peer_of(node, port);

    assert_int_equal(ep_book_put(book, &peer), 0);
}

/* Numbers are added in an order that puts some before and some after all
 * others; each is found with its own address, and no other number is found. */
static void what_was_put_is_found(void **state)
{
    enum { NODES = 101, STEP = 37 };
    struct ep_book book = {0};

    (void)state;
    for (unsigned i = 0; i < NODES; i++)
        put(&book, 2 * (i * STEP % NODES), i * STEP % NODES);
    assert_int_equal(book.count, NODES);
    for (unsigned i = 0; i < NODES; i++) {
        struct ep_boot_peer want = peer_of(2 * i, i);
        const struct ep_boot_peer *got = ep_book_find(&book, 2 * i);

        assert_non_null(got);
        assert_int_equal(got->node, 2 * i);
        assert_string_equal(got->address, want.address);
        assert_null(ep_book_find(&book, 2 * i + 1));
    }
    ep_book_fini(&book);
}

/* A daemon that listens anew is found at its new address only. */
static void what_is_told_again_replaces(void **state)
{
    struct ep_book book = {0};

    (void)state;
    put(&book, 7, 1);
    put(&book, 0, 2);
    put(&book, 7, 3);
    assert_int_equal(book.count, 2);
    assert_string_equal(ep_book_find(&book, 7)->address, "127.0.0.1:3");
    assert_string_equal(ep_book_find(&book, 0)->address, "127.0.0.1:2");
    ep_book_fini(&book);
}

/* Nothing is found in an empty book, and it can be closed without being
 * opened. */
static void an_empty_book_finds_nobody(void **state)
{
    struct ep_book book = {0};

    (void)state;
    assert_null(ep_book_find(&book, 0));
    ep_book_fini(&book);
}

/* The layout is the 16 bytes of the nonce and then the text; every other
 * length, and a text with a NUL, is refused and changes nothing. */
static void an_entry_survives_its_way(void **state)
{
    uint8_t mem[2 * OV_ADDRESS_MAX];
    struct ep_boot_peer from = peer_of(7, 65535), to = peer_of(8, 1);
    uint32_t len_bytes;

    (void)state;
    for (unsigned i = 0; i < sizeof(from.nonce); i++)
        from.nonce[i] = (uint8_t)(i + 1);
    len_bytes = ep_book_encode(&from, mem);
    assert_int_equal(len_bytes, 16 + strlen("127.0.0.1:65535"));
    assert_memory_equal(mem, from.nonce, 16);
    assert_memory_equal(mem + 16, "127.0.0.1:65535", 15);
    assert_int_equal(ep_book_decode(mem, 16, &to), OV_EPROTO);
    assert_int_equal(ep_book_decode(mem, 16 + EP_ADDR_MAX, &to), OV_EPROTO);
    mem[20] = '\0';
    assert_int_equal(ep_book_decode(mem, len_bytes, &to), OV_EPROTO);
    mem[20] = '0';
    assert_string_equal(to.address, "127.0.0.1:1");
    assert_int_equal(ep_book_decode(mem, len_bytes, &to), 0);
    assert_int_equal(to.node, 8);
    assert_memory_equal(to.nonce, from.nonce, sizeof(to.nonce));
    assert_memory_equal(to.address + 4, "0.0.1:65535", 12);
    memset(mem, 'x', sizeof(mem));
    assert_int_equal(ep_book_decode(mem, 16 + EP_ADDR_MAX - 1, &to), 0);
    assert_int_equal(strlen(to.address), EP_ADDR_MAX - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_put_is_found),
        cmocka_unit_test(what_is_told_again_replaces),
        cmocka_unit_test(an_empty_book_finds_nobody),
        cmocka_unit_test(an_entry_survives_its_way),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
