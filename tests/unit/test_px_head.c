/* Heads of messages that come in parts. */
#include "pmix_api/helper/lib/head.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { FD = 7, BYTES = 16 };

/* The results of the next reads; 0: nothing is there, -1: the read fails. */
static struct {
    int pieces[BYTES];
    unsigned next;
    char at;
} peer;

static ssize_t read_peer(int fd, void *mem, size_t bytes)
{
    int piece = peer.pieces[peer.next++];

    assert_int_equal(fd, FD);
    if (piece <= 0) {
        errno = piece == 0 ? EAGAIN : ECONNRESET;
        return -1;
    }
    if ((size_t)piece > bytes)
        piece = (int)bytes;
    for (int i = 0; i < piece; i++)
        ((char *)mem)[i] = peer.at++;
    return piece;
}

static void give(const int *pieces, size_t count)
{
    memset(&peer, 0, sizeof(peer));
    memcpy(peer.pieces, pieces, count * sizeof(*pieces));
}

static void check_later(void)
{
    char mem[BYTES];

    errno = 0;
    assert_int_equal(px_head_read(FD, mem, BYTES, read_peer), -1);
    assert_int_equal(errno, EAGAIN);
}

/* Checks a whole head whose first byte is `first`. */
static void check_whole(char first)
{
    char mem[BYTES];

    assert_int_equal(px_head_read(FD, mem, BYTES, read_peer), BYTES);
    for (int i = 0; i < BYTES; i++)
        assert_int_equal(mem[i], first + i);
}

static void parts_are_one(void **state)
{
    (void)state;
    give((const int[]){5, 0, 1, 10, BYTES}, 5);
    for (int i = 0; i < 3; i++)
        check_later();
    check_whole(0);
    check_whole(BYTES);
}

static void an_error_is_told(void **state)
{
    char mem[BYTES];

    (void)state;
    give((const int[]){5, -1}, 2);
    check_later();
    assert_int_equal(px_head_read(FD, mem, BYTES, read_peer), -1);
    assert_int_equal(errno, ECONNRESET);
    px_head_forget(FD);
}

static void another_connection_begins_anew(void **state)
{
    (void)state;
    give((const int[]){5, BYTES}, 2);
    check_later();
    px_head_forget(FD);
    check_whole(5);
}

static void what_is_large_is_no_head(void **state)
{
    (void)state;
    assert_true(px_head_is_one(FD, HEAD_BYTES_MAX));
    assert_false(px_head_is_one(FD, HEAD_BYTES_MAX + 1));
    assert_false(px_head_is_one(FD, 0));
    assert_false(px_head_is_one(-1, BYTES));
    assert_false(px_head_is_one(HEAD_DESCRIPTORS_MAX, BYTES));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_are_one),
        cmocka_unit_test(an_error_is_told),
        cmocka_unit_test(another_connection_begins_anew),
        cmocka_unit_test(what_is_large_is_no_head),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
