/* Lists of hosts, from a command line and from a file: an accepted list equals
 * the list that its short form gives; a list that is refused gives an error
 * message. The first byte says whether the rest is a command line or a file. */
#include "tests/fuzz/fuzz.h"

#include <string.h>

#include "overlay/base/err.h"
#include "tests/fuzz/file.h"
#include "tests/fuzz/lists.h"
#include "topo/hosts.h"
#include "topo/why.h"

enum { HOSTS_MAX = 20000 };

static void check_names(const struct topo_hosts *hosts)
{
    for (uint32_t i = 0; i < hosts->count; i++) {
        const char *name = topo_hosts_name(hosts, i);
        size_t len_bytes = strlen(name);

        FUZZ_CHECK(len_bytes > 0 && len_bytes < TOPO_HOST_NAME_MAX);
        FUZZ_CHECK(name[0] != '-');
        for (size_t at = 0; at < len_bytes; at++)
            FUZZ_CHECK(topo_host_has(name[at]));
        FUZZ_CHECK(hosts->items[i].slots <= TOPO_SLOTS_MAX);
        FUZZ_CHECK(topo_hosts_find(hosts, name, len_bytes) == i);
    }
}

static void check_again(const struct topo_hosts *hosts)
{
    char *text = topo_hosts_fold(hosts, hosts->count);
    struct topo_hosts again;
    char why[TOPO_WHY_MAX];

    FUZZ_CHECK(text != NULL);
    FUZZ_CHECK(topo_hosts_parse(&again, text, why) == 0);
    FUZZ_CHECK(again.count == hosts->count);
    for (uint32_t i = 0; i < hosts->count; i++) {
        FUZZ_CHECK(
            strcmp(topo_hosts_name(&again, i), topo_hosts_name(hosts, i)) == 0);
        FUZZ_CHECK(again.items[i].slots == hosts->items[i].slots);
    }
    topo_hosts_fini(&again);
    free(text);
}

static void check_failed(const struct topo_hosts *hosts, int rc,
                         const char *why)
{
    FUZZ_CHECK(rc == OV_EINVAL || rc == OV_EFULL);
    FUZZ_CHECK(why[0] != '\0' && strlen(why) < TOPO_WHY_MAX);
    FUZZ_CHECK(hosts->count == 0);
    FUZZ_CHECK(hosts->items == NULL && hosts->text == NULL &&
               hosts->index == NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *mem, size_t len_bytes)
{
    char why[TOPO_WHY_MAX] = "";
    struct topo_hosts hosts;
    char *text;
    int rc;

    if (len_bytes < 1 || lists_are_costly((const char *)mem + 1, len_bytes - 1))
        return 0;
    text = calloc(1, len_bytes);
    FUZZ_CHECK(text != NULL);
    memcpy(text, mem + 1, len_bytes - 1);
    if (mem[0] % 2 == 0)
        rc = topo_hosts_parse(&hosts, text, why);
    else
        rc = topo_hosts_read(&hosts, fuzz_file(text, len_bytes - 1), why);
    if (rc != 0)
        check_failed(&hosts, rc, why);
    else
        FUZZ_CHECK(hosts.count > 0);
    if (rc == 0 && hosts.count <= HOSTS_MAX) {
        check_names(&hosts);
        check_again(&hosts);
    }
    topo_hosts_fini(&hosts);
    free(text);
    return 0;
}
