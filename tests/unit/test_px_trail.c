/* Where bytes of a pull stand among all. */
#include "pmix_api/helper/trail.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/chance.h"

enum { OUTPUTS = 20000, LEN_MAX = 64 * 1024 };

struct output {
    uint64_t own, position, len_bytes; /* before it; its own */
};

static struct output outputs[OUTPUTS];

/* The position before which all are that have gone, which are the first `own`
 * bytes; the truth. */
static uint64_t truth(uint64_t own, unsigned *next, unsigned count)
{
    while (*next < count &&
           outputs[*next].own + outputs[*next].len_bytes <= own)
        ++*next;
    return *next < count ? outputs[*next].position : UINT64_MAX;
}

/* Never beyond the truth, never back, and, when little waits, close to it. */
static void a_position_is_never_beyond_what_has_gone(void **state)
{
    struct chance chance = chance_start(5);
    struct px_trail trail = {.used = 0};
    uint64_t own = 0, position = 0, gone = 0, last = 0, near = 0;
    unsigned next = 0;

    (void)state;
    for (unsigned i = 0; i < OUTPUTS; i++) {
        uint64_t len = chance_in(&chance, 0, LEN_MAX), found, most;
        uint64_t wait = i / 2000 % 2 ? 300 * LEN_MAX : 2 * LEN_MAX;

        outputs[i] = (struct output){own, position, len};
        px_trail_note(&trail, (struct px_trail_mark){own, position});
        own += len;
        position += len + chance_in(&chance, 0, 100);
        if (own > gone + wait)
            gone = own - chance_in(&chance, 0, (uint32_t)wait);
        found = px_trail_see(&trail, gone);
        assert_int_equal(px_trail_pass(&trail, gone), found);
        most = truth(gone, &next, i + 1);
        assert_true(found <= most);
        assert_true(found >= last);
        near += most != UINT64_MAX && most - found <= 2 * LEN_MAX;
        last = found;
    }
    assert_true(near > OUTPUTS / 3);
}

static void nothing_has_gone_at_first(void **state)
{
    struct px_trail trail = {.used = 0};

    (void)state;
    assert_int_equal(px_trail_pass(&trail, 0), 0);
    px_trail_note(&trail, (struct px_trail_mark){0, 5000});
    px_trail_note(&trail, (struct px_trail_mark){10, 6000});
    assert_int_equal(px_trail_pass(&trail, 0), 5000);
    assert_int_equal(px_trail_pass(&trail, 10), 5000);
    px_trail_note(&trail, (struct px_trail_mark){20, 7000});
    assert_int_equal(px_trail_pass(&trail, 19), 5000);
    assert_int_equal(px_trail_pass(&trail, 20), 7000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_position_is_never_beyond_what_has_gone),
        cmocka_unit_test(nothing_has_gone_at_first),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
