/* The words of a node: reading always ends, and an accepted word encodes to the
 * same bytes. */
#include "tests/fuzz/fuzz.h"

#include <string.h>

#include "job/word.h"
#include "overlay/base/err.h"

static void check_again(const struct job_word *state, const uint8_t *mem,
                        size_t len_bytes)
{
    uint8_t again[JOB_WORD_BYTES_MAX + 64];
    struct ov_wr wr = ov_wr_init(again, sizeof(again));

    job_word_encode(&wr, state);
    FUZZ_CHECK(!wr.bad && (size_t)(wr.at - again) == len_bytes);
    FUZZ_CHECK(memcmp(again, mem, len_bytes) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *mem, size_t len_bytes)
{
    struct ov_rd rd = ov_rd_init(mem, len_bytes);
    struct job_word state;

    while (ov_rd_left(&rd) > 0) {
        const uint8_t *at = rd.at;
        int rc = job_word_decode(&rd, &state);

        FUZZ_CHECK(rc == 0 || rc == OV_EPROTO);
        if (rc != 0)
            return 0;
        FUZZ_CHECK(rd.at > at);
        FUZZ_CHECK(state.kind > 0 && state.kind < JOB_WORD_KINDS);
        FUZZ_CHECK(memchr(state.text, '\0', sizeof(state.text)) != NULL);
        check_again(&state, at, (size_t)(rd.at - at));
    }
    return 0;
}
