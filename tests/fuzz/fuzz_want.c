/* Orders about output that is wanted, and the ranges in them: whatever decodes
 * encodes to the same bytes, and a number is in the ranges when one of them,
 * read by hand, has it. The first four bytes are that number.
 */
#include "tests/fuzz/fuzz.h"

#include <string.h>

#include "endpoints/daemon/local_impl.h"
#include "job/want.h"
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

int LLVMFuzzerTestOneInput(const uint8_t *mem, size_t len_bytes)
{
    uint8_t again[JOB_WANT_ORDER_BYTES];
    struct ov_wr wr = ov_wr_init(again, sizeof(again));
    struct job_want_order order;
    uint32_t number;
    int rc;

    if (len_bytes < 4)
        return 0;
    number = number_at(mem);
    mem += 4;
    len_bytes -= 4;
    FUZZ_CHECK(ep_share_is_in(number, ov_rd_init(mem, len_bytes)) ==
               has(mem, len_bytes, number));
    rc = job_want_order_decode(ov_rd_init(mem, len_bytes), &order);
    FUZZ_CHECK(rc == 0 || rc == OV_EPROTO);
    if (rc != 0)
        return 0;
    FUZZ_CHECK(!order.is_held_back || order.is_wanted);
    FUZZ_CHECK(order.ranges.at == mem + 2);
    FUZZ_CHECK(ov_rd_left(&order.ranges) == len_bytes - 2);
    FUZZ_CHECK(len_bytes > 2 && (len_bytes - 2) % 8 == 0);
    job_want_order_encode(&wr, &order);
    FUZZ_CHECK(!wr.bad && (size_t)(wr.at - again) == len_bytes);
    FUZZ_CHECK(memcmp(again, mem, len_bytes) == 0);
    return 0;
}
