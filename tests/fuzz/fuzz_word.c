/* The words of a node: reading ends, and a word that is taken is written and
 * read again as it was.
 */
#include "tests/fuzz/fuzz.h"

#include <string.h>

#include "job/word.h"
#include "overlay/base/err.h"

static void check_again(const struct job_word *state)
{
    uint8_t mem[JOB_WORD_BYTES_MAX + 64];
    struct ov_wr wr = ov_wr_init(mem, sizeof(mem));
    struct job_word again;
    struct ov_rd rd;

    job_word_encode(&wr, state);
    FUZZ_CHECK(!wr.bad);
    rd = ov_rd_init(mem, (size_t)(wr.at - mem));
    FUZZ_CHECK(job_word_decode(&rd, &again) == 0);
    FUZZ_CHECK(ov_rd_left(&rd) == 0);
    FUZZ_CHECK(again.kind == state->kind && again.rank == state->rank);
    FUZZ_CHECK(again.value == state->value);
    FUZZ_CHECK(again.packages == state->packages);
    FUZZ_CHECK(again.cores == state->cores);
    FUZZ_CHECK(strcmp(again.text, state->text) == 0);
    FUZZ_CHECK(memcmp(&again.usage, &state->usage, sizeof(again.usage)) == 0);
    FUZZ_CHECK(memcmp(again.tallies, state->tallies, sizeof(again.tallies)) ==
               0);
}

int LLVMFuzzerTestOneInput(const uint8_t *mem, size_t len_bytes)
{
    struct ov_rd rd = ov_rd_init(mem, len_bytes);
    struct job_word state;

    while (ov_rd_left(&rd) > 0) {
        size_t left = ov_rd_left(&rd);
        int rc = job_word_decode(&rd, &state);

        FUZZ_CHECK(rc == 0 || rc == OV_EPROTO);
        if (rc != 0)
            return 0;
        FUZZ_CHECK(ov_rd_left(&rd) < left);
        FUZZ_CHECK(state.kind > 0 && state.kind < JOB_WORD_KINDS);
        FUZZ_CHECK(memchr(state.text, '\0', sizeof(state.text)) != NULL);
        check_again(&state);
    }
    return 0;
}
