/* Lists like "0,4-7,10": an accepted list is sorted and is the same after it
 * was written and read again; the position of an error lies inside the text. */
#include "tests/fuzz/fuzz.h"

#include <stdbool.h>
#include <string.h>

#include "overlay/base/err.h"
#include "topo/ranges.h"

enum { RANGES_MAX = 32, TEXT_MAX = RANGES_MAX * 24 };

static bool has_number(const struct topo_ranges *set, uint32_t number)
{
    return topo_ranges_touches(set, (struct topo_range){number, number});
}

static void check_order(const struct topo_ranges *set)
{
    for (uint32_t i = 0; i < set->count; i++) {
        FUZZ_CHECK(set->items[i].first <= set->items[i].last);
        FUZZ_CHECK(set->items[i].last <= TOPO_NUMBER_MAX);
        FUZZ_CHECK(i == 0 ||
                   (uint64_t)set->items[i - 1].last + 1 < set->items[i].first);
        FUZZ_CHECK(has_number(set, set->items[i].first));
        FUZZ_CHECK(has_number(set, set->items[i].last));
    }
}

static void check_again(const struct topo_ranges *set)
{
    struct topo_range items[RANGES_MAX];
    struct topo_ranges again;
    struct topo_fault fault;
    char text[TEXT_MAX];
    size_t len_bytes = topo_ranges_format(set, text, sizeof(text));

    FUZZ_CHECK(len_bytes < sizeof(text) && strlen(text) == len_bytes);
    topo_ranges_init(&again, items, RANGES_MAX);
    FUZZ_CHECK(topo_ranges_parse(&again, text, len_bytes, &fault) == 0);
    FUZZ_CHECK(again.count == set->count);
    for (uint32_t i = 0; i < set->count; i++)
        FUZZ_CHECK(again.items[i].first == set->items[i].first &&
                   again.items[i].last == set->items[i].last);
}

int LLVMFuzzerTestOneInput(const uint8_t *mem, size_t len_bytes)
{
    struct topo_range items[RANGES_MAX];
    struct topo_fault fault = {0};
    struct topo_ranges set;
    int rc;

    topo_ranges_init(&set, items, RANGES_MAX);
    rc = topo_ranges_parse(&set, (const char *)mem, len_bytes, &fault);
    if (rc == 0) {
        FUZZ_CHECK(set.count > 0);
        check_order(&set);
        check_again(&set);
        return 0;
    }
    FUZZ_CHECK(set.count == 0);
    FUZZ_CHECK(rc == OV_EINVAL || rc == OV_EFULL);
    if (rc == OV_EINVAL) {
        FUZZ_CHECK(fault.what != NULL && fault.at_bytes <= len_bytes);
        return 0;
    }
    FUZZ_CHECK(topo_ranges_terms((const char *)mem, len_bytes) > RANGES_MAX);
    return 0;
}
