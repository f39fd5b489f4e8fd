/* Lists of hosts, from a command line and from a file: a list that is taken
 * is what its short form says, and one that is not leaves a sentence.
 * The first byte says which of the two the rest is.
 */
#include "config.h"

#include "tests/fuzz/fuzz.h"

#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "overlay/base/err.h"
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

/* A file in memory, where there are such: a disk is too slow for this. */
static int file_new(void)
{
#ifdef HAVE_MEMFD_CREATE
    return memfd_create("hosts", MFD_CLOEXEC);
#else
    FILE *file = tmpfile();

    return file == NULL ? -1 : fileno(file);
#endif
}

static int read_file(struct topo_hosts *hosts, const char *text,
                     size_t len_bytes, char *why)
{
    static int fd = -1;
    char path[64];

    if (fd < 0)
        fd = file_new();
    FUZZ_CHECK(fd >= 0 && ftruncate(fd, 0) == 0);
    FUZZ_CHECK(pwrite(fd, text, len_bytes, 0) == (ssize_t)len_bytes);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    return topo_hosts_read(hosts, path, why);
}

/* Could it name so many hosts that other texts would not get their turn? As
 * many digits as the longest number of a bracket has, all brackets together.
 */
static bool is_costly(const char *text, size_t len_bytes)
{
    unsigned digits = 0, longest = 0, run = 0;
    bool is_inside = false;

    for (size_t i = 0; i < len_bytes; i++) {
        bool is_digit = text[i] >= '0' && text[i] <= '9';

        run = is_inside && is_digit ? run + 1 : 0;
        if (run > longest)
            longest = run;
        if (text[i] == '[') {
            is_inside = true;
        } else if (text[i] == ']') {
            is_inside = false;
            digits += longest;
            longest = 0;
        }
    }
    return digits >= 5 && digits <= 9;
}

int LLVMFuzzerTestOneInput(const uint8_t *mem, size_t len_bytes)
{
    char why[TOPO_WHY_MAX] = "";
    struct topo_hosts hosts;
    char *text;
    int rc;

    if (len_bytes < 1 || is_costly((const char *)mem + 1, len_bytes - 1))
        return 0;
    text = calloc(1, len_bytes);
    FUZZ_CHECK(text != NULL);
    memcpy(text, mem + 1, len_bytes - 1);
    if (mem[0] % 2 == 0)
        rc = topo_hosts_parse(&hosts, text, why);
    else
        rc = read_file(&hosts, text, len_bytes - 1, why);
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
