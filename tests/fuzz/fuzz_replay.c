/* Orders and answers about output from before: whatever decodes encodes to the
 * same bytes. The first byte says which of the two the rest is.
 */
#include "tests/fuzz/fuzz.h"

#include <string.h>

#include "job/replay.h"
#include "overlay/base/err.h"

static void check_order(const uint8_t *mem, size_t len_bytes)
{
    uint8_t again[JOB_REPLAY_ORDER_BYTES];
    struct ov_wr wr = ov_wr_init(again, sizeof(again));
    struct job_replay_order order;
    int rc = job_replay_order_decode(ov_rd_init(mem, len_bytes), &order);

    FUZZ_CHECK(rc == 0 || rc == OV_EPROTO);
    if (rc != 0)
        return;
    FUZZ_CHECK(order.ticket != 0);
    FUZZ_CHECK(ov_rd_left(&order.ranges) > 0);
    FUZZ_CHECK(ov_rd_left(&order.ranges) % 8 == 0);
    FUZZ_CHECK(order.ranges.at == mem + 8);
    FUZZ_CHECK(ov_rd_left(&order.ranges) == len_bytes - 8);
    job_replay_order_encode(&wr, &order);
    FUZZ_CHECK(!wr.bad && (size_t)(wr.at - again) == len_bytes);
    FUZZ_CHECK(memcmp(again, mem, len_bytes) == 0);
}

static void check_answer(const uint8_t *mem, size_t len_bytes)
{
    uint8_t again[JOB_REPLAY_HEAD_BYTES];
    struct ov_wr wr = ov_wr_init(again, sizeof(again));
    struct job_replay_answer answer;
    int rc = job_replay_answer_decode(ov_rd_init(mem, len_bytes), &answer);

    FUZZ_CHECK(rc == 0 || rc == OV_EPROTO);
    if (rc != 0)
        return;
    FUZZ_CHECK(ov_rd_left(&answer.bytes) ==
               (answer.is_heard ? 0 : len_bytes - sizeof(again)));
    answer.bytes = (struct ov_rd){0}; /* only the head is written again */
    job_replay_answer_encode(&wr, &answer);
    FUZZ_CHECK(!wr.bad && memcmp(again, mem, sizeof(again)) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *mem, size_t len_bytes)
{
    if (len_bytes < 1)
        return 0;
    if (mem[0] % 2 == 0)
        check_order(mem + 1, len_bytes - 1);
    else
        check_answer(mem + 1, len_bytes - 1);
    return 0;
}
