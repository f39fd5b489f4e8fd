/* Messages at a session's door: every message that decodes encodes to the same
 * bytes. */
#include "tests/fuzz/fuzz.h"

#include <string.h>

#include "job/door.h"
#include "overlay/base/err.h"

int LLVMFuzzerTestOneInput(const uint8_t *mem, size_t len_bytes)
{
    uint8_t again[JOB_DOOR_BYTES_MAX];
    struct ov_wr wr = ov_wr_init(again, sizeof(again));
    struct job_door msg;
    int rc = job_door_decode(ov_rd_init(mem, len_bytes), &msg);

    FUZZ_CHECK(rc == 0 || rc == OV_EPROTO);
    if (rc != 0)
        return 0;
    job_door_encode(&wr, &msg);
    FUZZ_CHECK(!wr.bad && (size_t)(wr.at - again) == len_bytes);
    FUZZ_CHECK(memcmp(again, mem, len_bytes) == 0);
    return 0;
}
