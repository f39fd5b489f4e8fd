/* Answers about earlier output: every answer that decodes encodes to the same
 * bytes. */
#include "tests/fuzz/fuzz.h"

#include <string.h>

#include "job/replay.h"
#include "overlay/base/err.h"

int LLVMFuzzerTestOneInput(const uint8_t *mem, size_t len_bytes)
{
    uint8_t again[JOB_REPLAY_HEAD_BYTES];
    struct ov_wr wr = ov_wr_init(again, sizeof(again));
    struct job_replay_answer answer;
    int rc = job_replay_answer_decode(ov_rd_init(mem, len_bytes), &answer);

    FUZZ_CHECK(rc == 0 || rc == OV_EPROTO);
    if (rc != 0)
        return 0;
    FUZZ_CHECK(ov_rd_left(&answer.bytes) ==
               (answer.is_heard ? 0 : len_bytes - sizeof(again)));
    answer.bytes = (struct ov_rd){0}; /* Only the head is encoded again. */
    job_replay_answer_encode(&wr, &answer);
    FUZZ_CHECK(!wr.bad && memcmp(again, mem, sizeof(again)) == 0);
    return 0;
}
