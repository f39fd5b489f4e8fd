/* The last bytes of a process are kept. */
#include "endpoints/daemon/last.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/chance.h"

static void rooms_are_shared(void **state)
{
    (void)state;
    assert_int_equal(ep_last_room(1), 8192);
    assert_int_equal(ep_last_room(1024), 8192);
    assert_int_equal(ep_last_room(8192), 1024);
    assert_int_equal(ep_last_room(1000000), 512);
}

/* In random pieces, read in random pieces: the end of all that was written. */
static void the_last_bytes_are_there(void **state)
{
    enum { ROOM = 100, ALL = 1000 };
    struct chance chance = chance_start(5);

    (void)state;
    for (unsigned trial = 0; trial < 200; trial++) {
        struct ep_last last = {.total_bytes = 0};
        const uint32_t len = chance_in(&chance, 1, ALL);
        const uint32_t kept = len < ROOM ? len : ROOM;
        uint8_t all[ALL], read[ALL];
        uint32_t at = 0, some;

        for (uint32_t i = 0; i < len; i++)
            all[i] = (uint8_t)chance_in(&chance, 0, 255);
        while (at < len) {
            some = chance_in(&chance, 0, 150);
            if (some > len - at)
                some = len - at;
            ep_last_add(&last, ROOM, all + at, some);
            at += some;
        }
        at = 0;
        while ((some = ep_last_read(&last, ROOM, at, read + at,
                                    chance_in(&chance, 1, 60))) > 0)
            at += some;
        assert_int_equal(at, kept);
        assert_memory_equal(read, all + len - kept, kept);
        ep_last_fini(&last);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rooms_are_shared),
        cmocka_unit_test(the_last_bytes_are_there),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
