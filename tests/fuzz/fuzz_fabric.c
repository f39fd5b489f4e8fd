/* Fabrics: an accepted text puts each host under one switch, and no switch
 * above itself; a text that is refused gives an error message and nothing
 * else. */
#include "tests/fuzz/fuzz.h"

#include <string.h>

#include "overlay/base/err.h"
#include "tests/fuzz/lists.h"
#include "topo/fabric.h"

static void check_good(const struct topo_fabric *f)
{
    FUZZ_CHECK(f->hosts.count > 0 && f->switches.count > 0);
    for (uint32_t i = 0; i < f->hosts.count; i++) {
        const char *name = topo_hosts_name(&f->hosts, i);

        FUZZ_CHECK(f->leaf[i] < f->switches.count);
        FUZZ_CHECK(topo_fabric_leaf(f, name) == f->leaf[i]);
    }
    for (uint32_t s = 0; s < f->switches.count; s++) {
        uint32_t levels = 0;

        for (uint32_t at = s; at != TOPO_NONE; at = f->above[at]) {
            FUZZ_CHECK(at < f->switches.count);
            FUZZ_CHECK(levels++ < TOPO_FABRIC_LEVELS_MAX);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *mem, size_t len_bytes)
{
    struct topo_fabric f;
    char why[TOPO_WHY_MAX] = "";
    int rc;

    if (lists_are_costly((const char *)mem, len_bytes))
        return 0;
    rc = topo_fabric_parse(&f, (const char *)mem, len_bytes, "corpus", why);
    if (rc == 0) {
        check_good(&f);
    } else {
        FUZZ_CHECK(rc == OV_EINVAL || rc == OV_EFULL);
        FUZZ_CHECK(strncmp(why, "corpus:", 7) == 0);
        FUZZ_CHECK(f.leaf == NULL && f.above == NULL && f.hosts.count == 0);
    }
    topo_fabric_fini(&f);
    return 0;
}
