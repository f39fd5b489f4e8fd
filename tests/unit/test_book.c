/* The address book of a hub. */
#include "endpoints/hub/book.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

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

/* Numbers go in in an order that puts some before and some behind all others;
 * each is found with its own address, and no other number is. */
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

/* Nobody is found in an empty book, and its end needs no beginning. */
static void an_empty_book_finds_nobody(void **state)
{
    struct ep_book book = {0};

    (void)state;
    assert_null(ep_book_find(&book, 0));
    ep_book_fini(&book);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_put_is_found),
        cmocka_unit_test(what_is_told_again_replaces),
        cmocka_unit_test(an_empty_book_finds_nobody),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
