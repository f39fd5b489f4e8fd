/* Output that was handed over for pulls: which pieces have reached the tool,
 * and which come again. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "pmix_api/helper/flights.h"

static struct px_lib_output piece(uint32_t rank, const char *text)
{
    return (struct px_lib_output){.rank = rank,
                                  .channel = PX_LIB_STDOUT,
                                  .mem = text,
                                  .len_bytes = strlen(text)};
}

static void add(struct px_flights *flights, uint32_t rank, const char *text,
                uint64_t number)
{
    char copy[16];
    struct px_lib_output out = piece(rank, strcpy(copy, text));

    assert_true(px_flights_add(flights, &out, number));
    memset(copy, 0, sizeof(copy)); /* overwrites the original, as flights keep a
                                    * copy */
}

static void check(const struct px_lib_output *out, uint32_t rank,
                  const char *text)
{
    assert_non_null(out);
    assert_int_equal(out->rank, rank);
    assert_int_equal(out->len_bytes, strlen(text));
    assert_memory_equal(out->mem, text, strlen(text));
}

/* Each piece is reported once, in order, up to what the tool has read. */
static void what_is_read_has_landed(void **state)
{
    struct px_flights flights;

    (void)state;
    px_flights_init(&flights);
    assert_true(px_flights_are_over(&flights));
    assert_int_equal(px_flights_first(&flights), 0);
    add(&flights, 0, "a", 3);
    add(&flights, 1, "b", 5);
    add(&flights, 0, "", 6);
    assert_null(px_flights_land(&flights, 2));
    assert_int_equal(px_flights_first(&flights), 3);
    check(px_flights_land(&flights, 5), 0, "a");
    check(px_flights_land(&flights, 5), 1, "b");
    assert_null(px_flights_land(&flights, 5));
    assert_int_equal(px_flights_first(&flights), 6);
    assert_false(px_flights_are_over(&flights));
    check(px_flights_land(&flights, 9), 0, "");
    assert_null(px_flights_land(&flights, 9));
    assert_true(px_flights_are_over(&flights));
    px_flights_fini(&flights);
}

/* A piece that has reached no pull holds up its channel, and comes again, in
 * order; a piece between that has reached the tool does not come again. */
static void what_is_missed_comes_again(void **state)
{
    const struct px_lib_output zero = piece(0, ""), one = piece(1, "");
    struct px_flights flights;

    (void)state;
    px_flights_init(&flights);
    add(&flights, 0, "a", 1);
    add(&flights, 1, "b", 2);
    add(&flights, 0, "c", 3);
    assert_null(px_flights_miss(&flights, 4));
    assert_false(px_flights_have(&flights, &zero, 0));
    assert_true(px_flights_have(&flights, &zero, 1));
    check(px_flights_miss(&flights, 1), 0, "a");
    check(px_flights_miss(&flights, 3), 0, "c");
    assert_true(px_flights_have(&flights, &zero, 0));
    assert_false(px_flights_have(&flights, &one, 0));
    assert_null(
        px_flights_again(&flights)); /* other pieces may be read before */
    check(px_flights_land(&flights, 3), 1, "b");
    assert_null(px_flights_land(&flights, 3));
    assert_false(px_flights_have(&flights, &zero, 1));
    assert_false(px_flights_are_over(&flights));
    check(px_flights_again(&flights), 0, "a");
    px_flights_drop(&flights);
    check(px_flights_again(&flights), 0, "c");
    px_flights_drop(&flights);
    assert_true(px_flights_are_over(&flights));
    px_flights_fini(&flights);
}

/* A piece that is missed again comes before those that have waited
 * meanwhile. */
static void order_stays_where_it_is_missed_again(void **state)
{
    struct px_flights flights;

    (void)state;
    px_flights_init(&flights);
    add(&flights, 0, "a", 1);
    add(&flights, 0, "b", 2);
    add(&flights, 1, "x", 3);
    add(&flights, 0, "c", 4);
    for (uint64_t i = 1; i <= 4; i++)
        px_flights_miss(&flights, i);
    assert_null(px_flights_land(&flights, 4));
    px_flights_drop(&flights);
    add(&flights, 0, "a", 5);
    px_flights_drop(&flights);
    add(&flights, 0, "b", 6);
    px_flights_miss(&flights, 5);
    px_flights_miss(&flights, 6);
    assert_null(px_flights_land(&flights, 6));
    check(px_flights_again(&flights), 1, "x");
    px_flights_drop(&flights);
    for (const char *text = "abc"; *text != '\0'; text++) {
        check(px_flights_again(&flights), 0, (char[]){*text, '\0'});
        px_flights_drop(&flights);
    }
    px_flights_fini(&flights);
}

/* The end frees all pieces that are left. */
static void the_end(void **state)
{
    struct px_flights flights;

    (void)state;
    px_flights_init(&flights);
    add(&flights, 0, "a", 1);
    add(&flights, 0, "b", 2);
    add(&flights, 0, "c", 3);
    px_flights_miss(&flights, 1);
    check(px_flights_land(&flights, 2), 0, "b");
    px_flights_fini(&flights);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_read_has_landed),
        cmocka_unit_test(what_is_missed_comes_again),
        cmocka_unit_test(order_stays_where_it_is_missed_again),
        cmocka_unit_test(the_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
