/* Orders on stream 0: every order that decodes encodes to the same bytes, and a
 * number is found in the ranges exactly when a simple search finds it there.
 * The first byte is the kind, the next four bytes are that number. */
#include "tests/fuzz/fuzz.h"

#include <string.h>

#include "job/order.h"
#include "overlay/base/err.h"

static uint32_t number_at(const uint8_t *mem)
{
    return (uint32_t)mem[0] | (uint32_t)mem[1] << 8 | (uint32_t)mem[2] << 16 |
           (uint32_t)mem[3] << 24;
}

static bool has(const uint8_t *mem, size_t len_bytes, uint32_t number)
{
    for (size_t at = 0; at + 8 <= len_bytes; at += 8) {
        if (number >= number_at(mem + at) && number <= number_at(mem + at + 4))
            return true;
    }
    return false;
}

static void check_again(const struct job_order *order, const uint8_t *mem,
                        size_t len_bytes)
{
    uint8_t again[JOB_ORDER_BYTES_MAX];
    struct ov_wr wr = ov_wr_init(again, sizeof(again));

    job_order_encode(&wr, order);
    FUZZ_CHECK(!wr.bad && (size_t)(wr.at - again) == len_bytes);
    FUZZ_CHECK(len_bytes == 0 || memcmp(again, mem, len_bytes) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *mem, size_t len_bytes)
{
    struct job_order order;
    uint32_t number;
    size_t ranges;
    int rc;

    if (len_bytes < 5)
        return 0;
    number = number_at(mem + 1);
    rc = job_order_decode(mem[0], ov_rd_init(mem + 5, len_bytes - 5), &order);
    FUZZ_CHECK(rc == 0 || rc == OV_EPROTO);
    if (rc != 0)
        return 0;
    FUZZ_CHECK(order.kind == mem[0] && order.kind > JOB_CONTROL_JOB);
    FUZZ_CHECK(!order.is_held_back || order.is_wanted);
    FUZZ_CHECK((order.kind == JOB_CONTROL_REPLAY ||
                order.kind == JOB_CONTROL_LOOK) == (order.ticket != 0));
    check_again(&order, mem + 5, len_bytes - 5);
    ranges = (size_t)order.ranges_count * 8; /* the ranges stand at the end */
    FUZZ_CHECK(ranges <= len_bytes - 5);
    FUZZ_CHECK(job_order_has(&order, number) ==
               has(mem + len_bytes - ranges, ranges, number));
    return 0;
}
