/* The queue of events, compared with the simplest possible queue. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "sim/queue.h"
#include "tests/unit/chance.h"

enum { ROUNDS = 30, ITEMS = 3000 };

struct plain {
    uint64_t at_ns;
    uint32_t order;
};

static int by_time(const void *a, const void *b)
{
    const struct plain *x = a, *y = b;

    if (x->at_ns != y->at_ns)
        return x->at_ns < y->at_ns ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

static void push(struct sim_queue *queue, uint64_t at_ns, uint32_t order)
{
    sim_queue_push(queue, &(struct sim_item){.at_ns = at_ns, .node = order});
}

/* Times with many equal ones among them, near and very far, come out sorted;
 * events of equal times keep their order. */
static void items_come_in_order_of_time_then_of_pushing(void **state)
{
    struct chance chance = chance_start(7);
    static struct plain plain[ITEMS];
    static struct sim_queue queue;

    (void)state;
    sim_queue_init(&queue);
    for (unsigned round = 0; round < ROUNDS; round++) {
        uint64_t start_ns = queue.now_ns;
        unsigned bits = chance_in(&chance, 0, 60);
        struct sim_item item;

        for (uint32_t i = 0; i < ITEMS; i++) {
            uint64_t mask = (UINT64_C(1) << chance_in(&chance, 0, bits)) - 1;

            plain[i].at_ns = start_ns + (chance_next(&chance) & mask);
            plain[i].order = i;
            push(&queue, plain[i].at_ns, i);
        }
        qsort(plain, ITEMS, sizeof(plain[0]), by_time);
        for (uint32_t i = 0; i < ITEMS; i++) {
            assert_true(sim_queue_pop(&queue, &item));
            assert_true(item.at_ns == plain[i].at_ns);
            assert_int_equal(item.node, plain[i].order);
        }
        assert_false(sim_queue_pop(&queue, &item));
        if (queue.now_ns > UINT64_MAX / 4) {
            sim_queue_fini(&queue);
            sim_queue_init(&queue);
        }
    }
    sim_queue_fini(&queue);
}

/* Events that are pushed while others are taken find their place; even the last
 * moment of time can be used. */
static void pushing_goes_on_while_time_does(void **state)
{
    struct chance chance = chance_start(8);
    static struct sim_queue queue;
    struct sim_item item;
    uint64_t last_ns = 0;
    uint32_t last = 0;

    (void)state;
    sim_queue_init(&queue);
    push(&queue, UINT64_MAX, 0);
    for (uint32_t i = 1; i < 50; i++)
        push(&queue, chance_in(&chance, 0, 1000), i);
    for (uint32_t i = 50; i < 200000; i++) {
        assert_true(sim_queue_pop(&queue, &item));
        assert_true(item.at_ns > last_ns ||
                    (item.at_ns == last_ns && item.node > last));
        last_ns = item.at_ns;
        last = item.node;
        push(&queue, last_ns + chance_in(&chance, 0, 70000), i);
    }
    assert_int_equal(queue.count, 50);
    while (queue.count > 0)
        assert_true(sim_queue_pop(&queue, &item));
    assert_true(item.at_ns == UINT64_MAX);
    sim_queue_fini(&queue);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(items_come_in_order_of_time_then_of_pushing),
        cmocka_unit_test(pushing_goes_on_while_time_does),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
