/* The words between launcher and PMIx helper: whatever decodes encodes to the
 * same bytes.
 */
#include "tests/fuzz/fuzz.h"

#include <string.h>

#include "overlay/base/err.h"
#include "pmix_api/wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *mem, size_t len_bytes)
{
    static uint8_t again[PX_PACKET_BYTES_MAX];
    struct ov_rd rd = ov_rd_init(mem, len_bytes);

    while (ov_rd_left(&rd) > 0) {
        const uint8_t *at = rd.at;
        struct ov_wr wr = ov_wr_init(again, sizeof(again));
        struct px_msg msg;
        int rc = px_msg_decode(&rd, &msg);

        FUZZ_CHECK(rc == 0 || rc == OV_EPROTO);
        if (rc != 0)
            return 0;
        FUZZ_CHECK(rd.at > at);
        px_msg_encode(&wr, &msg);
        FUZZ_CHECK(!wr.bad && wr.at - again == rd.at - at);
        FUZZ_CHECK(memcmp(again, at, (size_t)(rd.at - at)) == 0);
    }
    return 0;
}
