/* Private data of a connection, which may come from any stranger who has found
 * the port: data that decodes lies within the received bytes, and encodes to
 * the same bytes except for the padding. */
#include "tests/fuzz/fuzz.h"

#include <string.h>

#include "endpoints/ofi/cm.h"

int LLVMFuzzerTestOneInput(const uint8_t *mem, size_t len_bytes)
{
    uint8_t again[EP_CM_WIRE_MAX];
    const uint8_t *cm = NULL;
    size_t cm_bytes = 0;

    if (!ep_cm_decode(mem, len_bytes, &cm, &cm_bytes)) {
        FUZZ_CHECK(cm == NULL && cm_bytes == 0);
        FUZZ_CHECK(len_bytes == 0 || mem[0] > EP_CM_MAX || mem[0] >= len_bytes);
        return 0;
    }
    FUZZ_CHECK(cm == mem + 1 && cm_bytes <= EP_CM_MAX);
    FUZZ_CHECK(cm_bytes < len_bytes);
    FUZZ_CHECK(ep_cm_encode(again, cm, cm_bytes) == sizeof(again));
    FUZZ_CHECK(memcmp(again, mem, cm_bytes + 1) == 0);
    return 0;
}
