/* A client's request to start a job, and a single program: every request that
 * decodes encodes to the same bytes. */
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "job/request.h"
#include "job/wish.h"
#include "overlay/base/err.h"

static void try_wish(const uint8_t *mem, size_t len_bytes)
{
    struct ov_rd rd = ov_rd_init(mem, len_bytes);
    struct job_wish wish;
    int rc = job_wish_decode(&rd, &wish);

    FUZZ_CHECK(rc == 0 || rc == OV_EPROTO);
    if (rc == 0) {
        size_t used = len_bytes - ov_rd_left(&rd);
        uint8_t *again = malloc(used);
        struct ov_wr wr = ov_wr_init(again, used);

        FUZZ_CHECK(wish.program.argv[0] != NULL &&
                   wish.program.argv[0][0] != '\0');
        FUZZ_CHECK(again != NULL && job_wish_bytes(&wish) == used);
        job_wish_encode(&wr, &wish);
        FUZZ_CHECK(!wr.bad && memcmp(again, mem, used) == 0);
        free(again);
    }
    job_wish_fini(&wish);
}

static void try_request(const uint8_t *mem, size_t len_bytes)
{
    struct job_request request;
    int rc = job_request_decode(ov_rd_init(mem, len_bytes), &request);

    FUZZ_CHECK(rc == 0 || rc == OV_EPROTO);
    if (rc == 0) {
        uint8_t *again = malloc(len_bytes);
        struct ov_wr wr = ov_wr_init(again, len_bytes);

        FUZZ_CHECK(again != NULL && job_request_bytes(&request) == len_bytes);
        job_request_encode(&wr, &request);
        FUZZ_CHECK(!wr.bad && memcmp(again, mem, len_bytes) == 0);
        free(again);
    }
    job_request_fini(&request);
}

int LLVMFuzzerTestOneInput(const uint8_t *mem, size_t len_bytes)
{
    try_wish(mem, len_bytes);
    try_request(mem, len_bytes);
    return 0;
}
