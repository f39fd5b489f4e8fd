/* Files with the model of costs: accepted numbers are finite and within bounds,
 * and give an arity; a file that is refused gives an error message, and leaves
 * the model as it was. */
#include "tests/fuzz/fuzz.h"

#include <math.h>
#include <string.h>

#include "overlay/base/err.h"
#include "tests/fuzz/file.h"
#include "topo/cost.h"

enum { NODES = 100, ARITY_MAX = 8 };

static void check_good(const struct topo_cost *cost)
{
    uint32_t arity = topo_cost_arity(cost, NODES, 2, ARITY_MAX);

    FUZZ_CHECK(isfinite(cost->latency_ns) && cost->latency_ns >= 0);
    FUZZ_CHECK(isfinite(cost->overhead_ns) && cost->overhead_ns >= 0);
    FUZZ_CHECK(isfinite(cost->bandwidth) && cost->bandwidth >= 1);
    FUZZ_CHECK(arity >= 2 && arity <= ARITY_MAX);
}

int LLVMFuzzerTestOneInput(const uint8_t *mem, size_t len_bytes)
{
    struct topo_cost cost = topo_cost_default;
    char why[TOPO_WHY_MAX] = "";
    int rc =
        topo_cost_read(&cost, fuzz_file((const char *)mem, len_bytes), why);

    FUZZ_CHECK(rc == 0 || rc == OV_EINVAL);
    FUZZ_CHECK((rc == 0) == (why[0] == '\0'));
    FUZZ_CHECK(strlen(why) < sizeof(why));
    if (rc == 0)
        check_good(&cost);
    else
        FUZZ_CHECK(memcmp(&cost, &topo_cost_default, sizeof(cost)) == 0);
    return 0;
}
