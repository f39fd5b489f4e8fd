/* The environment of a resource manager: an accepted list has hosts with names,
 * and numbers of slots within bounds; otherwise there is an error message and
 * no list. The input is the values of variables, separated by NULs. A variable
 * with an empty value is not set; when a variable names a file, its value is
 * the content of the file. */
#include "tests/fuzz/fuzz.h"

#include <string.h>

#include "overlay/base/err.h"
#include "tests/fuzz/file.h"
#include "tests/fuzz/lists.h"
#include "topo/allocation.h"

static const char *const names[] = {
    "SLURM_JOB_NODELIST",  "SLURM_TASKS_PER_NODE", "SLURM_JOB_CPUS_PER_NODE",
    "SLURM_CPUS_PER_TASK", "LSB_MCPU_HOSTS",       "LSB_HOSTS",
    "SLURM_NODELIST",      "PBS_NUM_PPN",          "LSB_DJOB_HOSTFILE",
    "PBS_NODEFILE",        "PE_HOSTFILE"};
enum { NAMES = sizeof(names) / sizeof(names[0]), FILES_FROM = 8 };

static const char *get(void *arg, const char *name)
{
    char *const *values = arg;

    for (int i = 0; i < NAMES; i++) {
        if (strcmp(names[i], name) != 0)
            continue;
        return i < FILES_FROM || values[i] == NULL
                   ? values[i]
                   : fuzz_file(values[i], strlen(values[i]));
    }
    return NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *mem, size_t len_bytes)
{
    static char text[65536 + 1], *values[NAMES];
    enum topo_manager manager;
    struct topo_hosts hosts;
    char why[TOPO_WHY_MAX] = "", *at = text;
    int rc;

    if (len_bytes >= sizeof(text) ||
        lists_are_costly((const char *)mem, len_bytes))
        return 0;
    if (len_bytes > 0)
        memcpy(text, mem, len_bytes);
    text[len_bytes] = '\0';
    for (int i = 0; i < NAMES; i++) {
        values[i] = at < text + len_bytes && *at != '\0' ? at : NULL;
        at += at < text + len_bytes ? strlen(at) + 1 : 0;
    }
    rc = topo_allocation_read(get, values, &hosts, &manager, why);
    FUZZ_CHECK(rc == 0 || rc == OV_EINVAL || rc == OV_EFULL);
    if (rc != 0) {
        FUZZ_CHECK(why[0] != '\0' && hosts.count == 0);
        return 0;
    }
    FUZZ_CHECK((hosts.count > 0) == (manager != TOPO_MANAGER_NONE));
    FUZZ_CHECK(manager < TOPO_MANAGERS && hosts.count <= TOPO_HOSTS_MAX);
    for (uint32_t i = 0; i < hosts.count; i++) {
        FUZZ_CHECK(topo_hosts_name(&hosts, i)[0] != '\0');
        FUZZ_CHECK(hosts.items[i].slots <= TOPO_SLOTS_MAX);
    }
    topo_hosts_fini(&hosts);
    return 0;
}
