/* The hash equals xxhash: launcher and daemons may be of different builds, on
 * different processors, and compare their hashes. */
#include "job/hash.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* The expected numbers were computed by another program with
 * XXH3_64bits_withSeed. */
static void hashes_are_those_of_xxh3(void **state)
{
    uint8_t large[1000];

    (void)state;
    for (size_t i = 0; i < sizeof(large); i++)
        large[i] = (uint8_t)(i * 7);
    assert_true(job_hash("", 0, 0) == 0x2d06800538d394c2);
    assert_true(job_hash("xylem", 5, 0) == 0xd714b7748f54af5a);
    assert_true(job_hash(large, sizeof(large), 0) == 0x10ad30264426c830);
}

/* A hash is the seed of the next one: both parts and their order count. */
static void parts_are_added_one_after_another(void **state)
{
    uint8_t large[1000];
    uint64_t hash = job_hash("xylem", 5, 0);

    (void)state;
    for (size_t i = 0; i < sizeof(large); i++)
        large[i] = (uint8_t)(i * 7);
    assert_true(job_hash("xylem", 5, 1) == 0x4512d8948158ae85);
    assert_true(job_hash(large, sizeof(large), hash) == 0xc249ac4c1fbb48e2);
    assert_true(job_hash("xylem", 5, job_hash(large, sizeof(large), 0)) !=
                0xc249ac4c1fbb48e2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hashes_are_those_of_xxh3),
        cmocka_unit_test(parts_are_added_one_after_another),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
