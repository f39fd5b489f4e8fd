/* The words of a node: reading ends, and a word that is taken is written and
 * read again as it was.
 */
#include "tests/fuzz/fuzz.h"

#include <string.h>

#include "endpoints/msg/state.h"
#include "overlay/base/err.h"

static void check_again(const struct ep_state *state)
{
    uint8_t mem[EP_STATE_BYTES_MAX + 64];
    struct ov_wr wr = ov_wr_init(mem, sizeof(mem));
    struct ep_state again;
    struct ov_rd rd;

    ep_state_encode(&wr, state);
    FUZZ_CHECK(!wr.bad);
    rd = ov_rd_init(mem, (size_t)(wr.at - mem));
    FUZZ_CHECK(ep_state_decode(&rd, &again) == 0);
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
    struct ep_state state;

    while (ov_rd_left(&rd) > 0) {
        size_t left = ov_rd_left(&rd);
        int rc = ep_state_decode(&rd, &state);

        FUZZ_CHECK(rc == 0 || rc == OV_EPROTO);
        if (rc != 0)
            return 0;
        FUZZ_CHECK(ov_rd_left(&rd) < left);
        FUZZ_CHECK(state.kind > 0 && state.kind < EP_STATE_KINDS);
        FUZZ_CHECK(memchr(state.text, '\0', sizeof(state.text)) != NULL);
        check_again(&state);
    }
    return 0;
}
