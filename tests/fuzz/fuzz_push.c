/* Pushes, that is, bytes for some processes: every push that decodes encodes to
 * the same bytes. */
#include "tests/fuzz/fuzz.h"

#include <string.h>

#include "overlay/base/err.h"
#include "overlay/wire/push.h"

int LLVMFuzzerTestOneInput(const uint8_t *mem, size_t len_bytes)
{
    static struct topo_range range[UINT16_MAX];
    static uint8_t again[OV_PUSH_HEAD_BYTES + 8 * UINT16_MAX];
    struct ov_wr wr = ov_wr_init(again, sizeof(again));
    struct ov_push push;
    int rc = ov_push_decode(mem, (uint32_t)len_bytes, &push);

    FUZZ_CHECK(rc == 0 || rc == OV_EPROTO);
    if (rc != 0)
        return 0;
    for (unsigned i = 0; i < push.ranges; i++) {
        range[i] = ov_push_range(&push);
        FUZZ_CHECK(range[i].first <= range[i].last);
        FUZZ_CHECK(i == 0 || range[i - 1].last < range[i].first);
    }
    FUZZ_CHECK(!push.set.bad && ov_rd_left(&push.set) == 0);
    FUZZ_CHECK(push.off_bytes + push.len_bytes == len_bytes);
    FUZZ_CHECK((push.flags & OV_PUSH_MORE) == 0 || push.len_bytes == 0);
    ov_push_encode(&wr, push.flags, range, push.ranges);
    FUZZ_CHECK(!wr.bad && (size_t)(wr.at - again) == push.off_bytes);
    FUZZ_CHECK(memcmp(again, mem, push.off_bytes) == 0);
    return 0;
}
