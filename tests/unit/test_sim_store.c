/* Loads (contents of frames) and views of them: extents, parts of extents,
 * memory that is given back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "sim/store.h"

static struct sim_store store;

static int open_store(void **state)
{
    (void)state;
    sim_store_init(&store);
    return 0;
}

static int close_store(void **state)
{
    (void)state;
    assert_int_equal(store.loads_live, 0);
    assert_int_equal(store.views_live, 0);
    sim_store_fini(&store);
    return 0;
}

static void assert_extent(const struct sim_load *load, unsigned i, uint32_t key,
                          uint64_t offset, uint32_t len_bytes)
{
    assert_true(i < load->extents);
    assert_int_equal(load->extent[i].key, key);
    assert_true(load->extent[i].offset == offset);
    assert_int_equal(load->extent[i].len_bytes, len_bytes);
}

/* Bytes that continue an extent join it; bytes with another key, bytes after a
 * gap, and words do not. */
static void payload_that_continues_is_one_extent(void **state)
{
    struct sim_load *load = sim_load_new(&store, 8, 5);

    (void)state;
    sim_load_add(load, (struct sim_extent){0, 3, 100});
    sim_load_add(load, (struct sim_extent){100, 3, 20});
    sim_load_add(load, (struct sim_extent){130, 3, 5});
    sim_load_add(load, (struct sim_extent){135, 4, 5});
    sim_load_add(load, (struct sim_extent){8, SIM_KEY_WORD, 8});
    sim_load_add(load, (struct sim_extent){16, SIM_KEY_WORD, 8});
    assert_int_equal(load->extents, 5);
    assert_int_equal(load->len_bytes, 146);
    assert_extent(load, 0, 3, 0, 120);
    assert_extent(load, 4, SIM_KEY_WORD, 16, 8);
    sim_load_put(&store, load);
}

/* A part that begins and ends within extents keeps their offsets. */
static void a_part_is_the_same_bytes(void **state)
{
    struct sim_load *from = sim_load_new(&store, 8, 3);
    struct sim_load *to = sim_load_new(&store, 0, 3);

    (void)state;
    from->head_bytes = from->len_bytes = 8;
    sim_load_add(from, (struct sim_extent){1000, 1, 10});
    sim_load_add(from, (struct sim_extent){2000, 2, 10});
    sim_load_add(from, (struct sim_extent){3000, 3, 10});
    assert_int_equal(sim_load_touched(from, 8 + 4, 17), 3);
    assert_int_equal(sim_load_touched(from, 8 + 10, 10), 1);
    sim_load_copy(to, from, 8 + 4, 17);
    assert_int_equal(to->len_bytes, 17);
    assert_extent(to, 0, 1, 1004, 6);
    assert_extent(to, 1, 2, 2000, 10);
    assert_extent(to, 2, 3, 3000, 1);
    sim_load_put(&store, from);
    sim_load_put(&store, to);
}

/* Views share a load, which is freed with the last of them. */
static void a_load_lives_as_long_as_its_views(void **state)
{
    struct sim_load *load = sim_load_new(&store, 40, 0);
    struct sim_view *a, *b;

    (void)state;
    load->refs++;
    a = sim_view_new(&store, load, 1, SIM_HELD_LINK);
    b = sim_view_new(&store, load, 2, SIM_HELD_LINK);
    assert_ptr_equal(a->buf.mem, b->buf.mem);
    a->buf.refs = 0;
    sim_view_free(&store, a);
    assert_int_equal(store.loads_live, 1);
    b->buf.refs = 0;
    sim_view_free(&store, b);
    assert_int_equal(store.loads_live, 0);
}

/* Once the largest number was reached, no further memory is taken. */
static void memory_is_used_again(void **state)
{
    static struct sim_load *loads[1000];
    uint64_t memory_bytes = 0;

    (void)state;
    for (unsigned round = 0; round < 5; round++) {
        for (unsigned i = 0; i < 1000; i++)
            loads[i] = sim_load_new(&store, i % 3 * 500, 2);
        for (unsigned i = 0; i < 1000; i++)
            sim_load_put(&store, loads[i]);
        if (round == 0)
            memory_bytes = store.memory_bytes;
        assert_true(store.memory_bytes == memory_bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(payload_that_continues_is_one_extent,
                                        open_store, close_store),
        cmocka_unit_test_setup_teardown(a_part_is_the_same_bytes, open_store,
                                        close_store),
        cmocka_unit_test_setup_teardown(a_load_lives_as_long_as_its_views,
                                        open_store, close_store),
        cmocka_unit_test_setup_teardown(memory_is_used_again, open_store,
                                        close_store),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
