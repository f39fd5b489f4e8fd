/* What a tool asks to be started: whatever decodes encodes to the same bytes.
 */
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "overlay/base/err.h"
#include "pmix_api/spawn.h"

int LLVMFuzzerTestOneInput(const uint8_t *mem, size_t len_bytes)
{
    struct px_spawn spawn;
    uint8_t *again = NULL;
    int rc = px_spawn_decode(mem, len_bytes, &spawn);

    FUZZ_CHECK(rc == 0 || rc == OV_EPROTO);
    if (rc == 0) {
        FUZZ_CHECK(px_spawn_encode(&spawn, &again) == len_bytes);
        FUZZ_CHECK(memcmp(again, mem, len_bytes) == 0);
    }
    free(again);
    px_spawn_fini(&spawn);
    return 0;
}
