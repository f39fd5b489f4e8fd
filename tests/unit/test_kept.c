/* Lists of kept records: their order, and that every cell is given back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "overlay/kept.h"

enum { CELLS = 6 };

static struct ov_kept cells[CELLS];
static struct ov_kept_pool pool;

static int lend(void **state)
{
    (void)state;
    pool = (struct ov_kept_pool){0};
    ov_kept_lend(&pool, cells, CELLS);
    return 0;
}

static unsigned free_cells(void)
{
    unsigned count = 0;

    for (const struct ov_kept *cell = pool.free; cell != NULL;
         cell = cell->next)
        count++;
    return count;
}

static void push(struct ov_kept_list *list, uint32_t rank)
{
    struct ov_kept *kept =
        ov_kept_push(list, &pool, &(struct ov_kept){.rank = rank});

    assert_ptr_equal(kept, list->last);
}

/* Two lists that are used in turn each return their own records in order. */
static void records_come_out_in_the_order_of_their_list(void **state)
{
    struct ov_kept_list a = {0}, b = {0};

    (void)state;
    for (uint32_t round = 0; round < 50; round++) {
        for (uint32_t i = 0; i < CELLS / 2; i++) {
            push(&a, i);
            push(&b, 100 + i);
        }
        assert_int_equal(free_cells(), 0);
        for (uint32_t i = 0; i < CELLS / 2; i++) {
            assert_int_equal(ov_kept_pop(&a, &pool).rank, i);
            assert_int_equal(ov_kept_pop(&b, &pool).rank, 100 + i);
        }
        assert_null(a.first);
        assert_int_equal(free_cells(), CELLS);
    }
}

static _Noreturn void on_panic(const char *file, int line, const char *what)
{
    mock_assert(0, what, file, line);
    abort();
}

/* The driver lends enough cells: running out is a bug, and so is taking from an
 * empty list. */
static void running_out_is_a_fault(void **state)
{
    struct ov_kept_list list = {0};

    (void)state;
    ov_panic_set(on_panic);
    expect_assert_failure(ov_kept_pop(&list, &pool));
    for (uint32_t i = 0; i < CELLS; i++)
        push(&list, i);
    expect_assert_failure(push(&list, CELLS));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(records_come_out_in_the_order_of_their_list,
                               lend),
        cmocka_unit_test_setup(running_out_is_a_fault, lend),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
