/* Equal bytes are kept once, and nothing is left when nobody holds them. */
#include "job/texts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "job/hash.h"

static struct job_text *hold(struct job_texts *all, const char *text)
{
    const uint8_t *mem = (const uint8_t *)text;
    const uint32_t len = (uint32_t)strlen(text);

    return job_texts_hold(all, mem, len, job_hash(mem, len, 0));
}

static void equal_texts_are_one(void **state)
{
    struct job_texts all = {.buckets = NULL};
    struct job_text *one = hold(&all, "a"), *other = hold(&all, "b");
    const uint64_t bytes = all.bytes;

    (void)state;
    assert_ptr_not_equal(one, other);
    assert_ptr_equal(hold(&all, "a"), one);
    assert_int_equal(all.count, 2);
    assert_int_equal(all.bytes, bytes);
    job_texts_let_go(&all, one);
    assert_int_equal(all.count, 2);
    job_texts_let_go(&all, one);
    assert_int_equal(all.count, 1);
    job_texts_let_go(&all, other);
    assert_int_equal(all.bytes, 0);
    job_texts_fini(&all);
}

/* The hash alone makes no two texts equal. */
static void texts_with_one_hash_are_two(void **state)
{
    struct job_texts all = {.buckets = NULL};
    struct job_text *one = job_texts_hold(&all, (const uint8_t *)"a", 1, 7);
    struct job_text *other = job_texts_hold(&all, (const uint8_t *)"b", 1, 7);

    (void)state;
    assert_ptr_not_equal(one, other);
    assert_ptr_equal(job_texts_find(&all, (const uint8_t *)"b", 1, 7), other);
    assert_null(job_texts_find(&all, (const uint8_t *)"c", 1, 7));
    job_texts_let_go(&all, one);
    assert_ptr_equal(job_texts_find(&all, (const uint8_t *)"b", 1, 7), other);
    job_texts_let_go(&all, other);
    job_texts_fini(&all);
}

static void many_are_found(void **state)
{
    enum { COUNT = 3000 };
    static struct job_text *texts[COUNT];
    struct job_texts all = {.buckets = NULL};
    char text[16];

    (void)state;
    for (int i = 0; i < COUNT; i++) {
        sprintf(text, "%d", i);
        texts[i] = hold(&all, text);
        assert_non_null(texts[i]);
    }
    for (int i = 0; i < COUNT; i++) {
        sprintf(text, "%d", i);
        assert_ptr_equal(hold(&all, text), texts[i]);
        job_texts_let_go(&all, texts[i]);
        job_texts_let_go(&all, texts[i]);
    }
    assert_int_equal(all.count, 0);
    job_texts_fini(&all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_texts_are_one),
        cmocka_unit_test(texts_with_one_hash_are_two),
        cmocka_unit_test(many_are_found),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
