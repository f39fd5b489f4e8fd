/* The output of a step: the driver finds what the core has put in. */
#include "overlay/out.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "overlay/base/panic.h"
#include "tests/unit/chance.h"

static struct ov_out *out;

static int open_out(void **state)
{
    (void)state;
    out = malloc(sizeof(*out));
    assert_non_null(out);
    memset(out, 0xA5, sizeof(*out)); /* fills the memory, as nothing may rely on
                                      * zeroes */
    ov_out_reset(out);
    return 0;
}

static int close_out(void **state)
{
    (void)state;
    free(out);
    return 0;
}

/* --- room in an output */

static void send_one(struct ov_out *to, struct ov_buf *buf, uint32_t head_bytes,
                     uint32_t slices)
{
    struct ov_act *act = ov_out_act(to, OV_ACT_SEND);
    struct ov_wr wr = ov_out_head(to);

    assert_non_null(ov_wr_room(&wr, head_bytes));
    ov_out_head_done(to, act, &wr);
    for (uint32_t i = 0; i < slices; i++)
        ov_out_slice(to, act, ov_buf_ref(buf), 2 * i, 1);
    assert_int_equal(act->head_bytes, head_bytes);
    assert_int_equal(act->slices, slices);
}

static void on_panic(const char *file, int line, const char *what)
{
    fail_msg("%s:%d: %s", file, line, what);
    abort();
}

/* Uses the room that is promised for an output: a SEND of the largest kind and
 * a few actions without bytes. A panic fails the test. */
static void use_the_room(struct ov_buf *buf)
{
    static struct ov_out twin;

    memcpy(&twin, out, sizeof(twin));
    send_one(&twin, buf, OV_BATCH_HEAD_BYTES, OV_BATCH_SLICES);
    for (unsigned i = 0; i < 4; i++)
        ov_out_act(&twin, OV_ACT_CONSUME);
}

/* Outputs are filled at random with actions of all sizes: as long as room is
 * reported there is enough, and the end of the room is not reported before half
 * is used. */
static void room_is_enough_for_the_largest_frame(void **state)
{
    struct chance chance = chance_start(11);

    (void)state;
    ov_panic_set(on_panic);
    for (unsigned round = 0; round < 200; round++) {
        uint32_t head_max = chance_in(&chance, 0, OV_BATCH_HEAD_BYTES);
        uint32_t slices_max = chance_in(&chance, 0, OV_BATCH_SLICES);
        uint32_t plain = chance_in(&chance, 0, 100);
        struct ov_buf buf = {.refs = 1};

        for (ov_out_reset(out); ov_out_has_room(out);) {
            use_the_room(&buf);
            if (chance_is(&chance, plain))
                ov_out_act(out, OV_ACT_LOST);
            else
                send_one(out, &buf, chance_in(&chance, 0, head_max),
                         chance_in(&chance, 0, slices_max));
        }
        assert_true(2 * out->acts_count > OV_OUT_ACTS ||
                    2 * out->slices_count > OV_OUT_SLICES ||
                    2 * out->head_bytes > OV_OUT_HEAD_BYTES);
    }
}

/* --- actions and their bytes */

/* Each action finds its own head bytes and slices, one after another. */
static void actions_know_their_bytes(void **state)
{
    struct ov_buf bufs[2] = {{.refs = 1}, {.refs = 1}};
    struct ov_act *first, *second;
    struct ov_wr wr;

    (void)state;
    first = ov_out_act(out, OV_ACT_SEND);
    wr = ov_out_head(out);
    ov_wr_bytes(&wr, "abc", 3);
    ov_out_head_done(out, first, &wr);
    ov_out_slice(out, first, &bufs[0], 10, 5);
    ov_out_act(out, OV_ACT_JOINED);
    second = ov_out_act(out, OV_ACT_SEND);
    wr = ov_out_head(out);
    ov_wr_bytes(&wr, "defg", 4);
    ov_out_head_done(out, second, &wr);
    ov_out_slice(out, second, &bufs[1], 0, 7);
    assert_int_equal(out->acts_count, 3);
    assert_ptr_equal(&out->acts[0], first);
    assert_ptr_equal(&out->acts[2], second);
    assert_int_equal(out->acts[1].slices + out->acts[1].head_bytes, 0);
    assert_int_equal(first->head_bytes, 3);
    assert_memory_equal(out->head + first->head_first, "abc", 3);
    assert_int_equal(second->head_bytes, 4);
    assert_memory_equal(out->head + second->head_first, "defg", 4);
    assert_int_equal(first->slices, 1);
    assert_ptr_equal(out->slice[first->slice_first].buf, &bufs[0]);
    assert_int_equal(out->slice[first->slice_first].off_bytes, 10);
    assert_int_equal(out->slice[first->slice_first].len_bytes, 5);
    assert_int_equal(second->slices, 1);
    assert_ptr_equal(out->slice[second->slice_first].buf, &bufs[1]);
}

/* No field of an action is left over from the step before. */
static void actions_begin_empty(void **state)
{
    struct ov_act empty = {.kind = OV_ACT_LOST};
    struct ov_act *act;

    (void)state;
    act = ov_out_act(out, OV_ACT_LOST);
    memset(act, 0xff, sizeof(*act));
    ov_out_reset(out);
    assert_int_equal(out->acts_count, 0);
    act = ov_out_act(out, OV_ACT_LOST);
    assert_int_equal(act->kind, empty.kind);
    assert_int_equal(act->link | act->input | act->slices | act->head_bytes, 0);
    assert_int_equal(act->node | act->stream | act->rank | act->flags, 0);
    assert_int_equal(act->max_bytes | act->cookie | act->seq | act->attach, 0);
    assert_int_equal(act->slice_first | act->head_first, 0);
}

/* --- slices */

/* Pieces of one buffer that follow one another become one slice with one
 * reference; other pieces do not. */
static void slices_that_continue_are_one(void **state)
{
    static const struct {
        unsigned buf;
        uint32_t off_bytes, len_bytes;
        unsigned slices; /* how many slices there are then */
    } steps[] = {
        {0, 100, 10, 1}, {0, 110, 5, 1}, /* continues the slice */
        {0, 116, 4, 2},                  /* leaves a gap */
        {1, 120, 4, 3},                  /* from another buffer */
        {0, 120, 4, 4},                  /* continues a slice that is not the
                                          * last */
        {0, 100, 10, 5},                 /* begins at the start again */
        {0, 110, 90, 5}, {0, 200, 0, 5}, /* continues the slice */
    };
    struct ov_buf bufs[2] = {{.refs = 1}, {.refs = 1}};
    struct ov_act *act = ov_out_act(out, OV_ACT_SEND);

    (void)state;
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        ov_out_slice(out, act, ov_buf_ref(&bufs[steps[i].buf]),
                     steps[i].off_bytes, steps[i].len_bytes);
        assert_int_equal(act->slices, steps[i].slices);
    }
    assert_int_equal(out->slice[0].len_bytes, 15);
    assert_int_equal(out->slice[4].off_bytes, 100);
    assert_int_equal(out->slice[4].len_bytes, 100);
    assert_int_equal(bufs[0].refs, 1 + 4);
    assert_int_equal(bufs[1].refs, 1 + 1);
    assert_null(out->freed);
}

/* A slice never continues a slice of the action before. */
static void slices_of_two_actions_stay_apart(void **state)
{
    struct ov_buf buf = {.refs = 1};
    struct ov_act *act;

    (void)state;
    ov_out_slice(out, ov_out_act(out, OV_ACT_SEND), ov_buf_ref(&buf), 0, 10);
    act = ov_out_act(out, OV_ACT_SEND);
    ov_out_slice(out, act, ov_buf_ref(&buf), 10, 10);
    assert_int_equal(act->slices, 1);
    assert_int_equal(act->slice_first, 1);
    assert_int_equal(out->slice[0].len_bytes, 10);
    assert_int_equal(buf.refs, 3);
}

/* --- buffers and the timer */

/* Only a buffer without references is given back, each buffer once. */
static void freed_buffers_hang_in_one_chain(void **state)
{
    struct ov_buf a = {.refs = 1}, b = {.refs = 2}, c = {.refs = 1};

    (void)state;
    ov_out_put(out, &b);
    assert_null(out->freed);
    ov_out_put(out, &a);
    ov_out_put(out, &c);
    ov_out_put(out, &b);
    assert_ptr_equal(out->freed, &b);
    assert_ptr_equal(b.next, &c);
    assert_ptr_equal(c.next, &a);
    assert_null(a.next);
    ov_out_reset(out);
    assert_null(out->freed);
}

/* The earliest requested time counts; after a reset there is none. */
static void the_earliest_wake_up_counts(void **state)
{
    (void)state;
    assert_true(out->wake_ns == OV_NEVER);
    ov_out_wake(out, OV_NEVER);
    ov_out_wake(out, 70);
    ov_out_wake(out, 50);
    ov_out_wake(out, 60);
    assert_int_equal(out->wake_ns, 50);
    out->more = true;
    ov_out_reset(out);
    assert_true(out->wake_ns == OV_NEVER);
    assert_false(out->more);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(room_is_enough_for_the_largest_frame,
                                        open_out, close_out),
        cmocka_unit_test_setup_teardown(actions_know_their_bytes, open_out,
                                        close_out),
        cmocka_unit_test_setup_teardown(actions_begin_empty, open_out,
                                        close_out),
        cmocka_unit_test_setup_teardown(slices_that_continue_are_one, open_out,
                                        close_out),
        cmocka_unit_test_setup_teardown(slices_of_two_actions_stay_apart,
                                        open_out, close_out),
        cmocka_unit_test_setup_teardown(freed_buffers_hang_in_one_chain,
                                        open_out, close_out),
        cmocka_unit_test_setup_teardown(the_earliest_wake_up_counts, open_out,
                                        close_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
