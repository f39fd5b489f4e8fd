/* The messages of stream 0: every message that decodes encodes to the same
 * bytes. */
#include "tests/fuzz/fuzz.h"

#include <string.h>

#include "overlay/base/err.h"
#include "overlay/control.h"

static void redo_open(const uint8_t *mem, size_t len_bytes,
                      struct ov_control *control)
{
    static struct topo_range range[OV_OPEN_RANGES_MAX];
    static uint8_t again[OV_CONTROL_HEAD_BYTES + OV_OPEN_BYTES + sizeof(range)];
    struct ov_wr wr = ov_wr_init(again, sizeof(again));
    struct ov_open open;
    int rc = ov_open_decode(&control->body, &open);

    FUZZ_CHECK(rc == 0 || rc == OV_EPROTO);
    if (rc != 0)
        return;
    FUZZ_CHECK(open.stream != 0 && open.window != 0);
    FUZZ_CHECK(open.ranges <= OV_OPEN_RANGES_MAX);
    for (unsigned i = 0; i < open.ranges; i++)
        range[i] = ov_open_range(&control->body);
    FUZZ_CHECK(!control->body.bad && ov_rd_left(&control->body) == 0);
    ov_open_encode(&wr, &open, range);
    FUZZ_CHECK(!wr.bad && (size_t)(wr.at - again) == len_bytes);
    FUZZ_CHECK(memcmp(again + OV_CONTROL_HEAD_BYTES,
                      mem + OV_CONTROL_HEAD_BYTES,
                      len_bytes - OV_CONTROL_HEAD_BYTES) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *mem, size_t len_bytes)
{
    uint8_t again[OV_CONTROL_HEAD_BYTES];
    struct ov_wr wr = ov_wr_init(again, sizeof(again));
    struct ov_control control;
    int rc = ov_control_decode(mem, (uint32_t)len_bytes, &control);

    FUZZ_CHECK(rc == 0 || rc == OV_EPROTO);
    if (rc != 0)
        return 0;
    FUZZ_CHECK(ov_rd_left(&control.body) == len_bytes - OV_CONTROL_HEAD_BYTES);
    ov_control_encode(&wr, control.kind, control.more);
    FUZZ_CHECK(!wr.bad && wr.at == again + OV_CONTROL_HEAD_BYTES);
    FUZZ_CHECK(memcmp(again, mem, 2) == 0);
    if (control.kind == OV_CONTROL_OPEN)
        redo_open(mem, len_bytes, &control);
    return 0;
}
