/* Hosts and a file of addresses: the order contains all hosts, sorted; a
 * guessed fabric has each host under one switch, and no switch above itself.
 * The input is a list of hosts, a NUL, and the file. */
#include "tests/fuzz/fuzz.h"

#include <string.h>

#include "tests/fuzz/file.h"
#include "topo/guess.h"

enum { HOSTS_MAX = 200 };

static void check_order(const struct topo_guess *guess, uint32_t count)
{
    static bool seen[HOSTS_MAX];

    memset(seen, 0, sizeof(seen));
    for (uint32_t i = 0; i < count; i++) {
        FUZZ_CHECK(guess->order[i] < count && !seen[guess->order[i]]);
        seen[guess->order[i]] = true;
    }
}

static void check_fabric(const struct topo_fabric *f)
{
    for (uint32_t i = 0; i < f->hosts.count; i++)
        FUZZ_CHECK(f->leaf[i] < f->switches.count);
    for (uint32_t s = 0; s < f->switches.count; s++) {
        uint32_t levels = 0;

        for (uint32_t at = s; at != TOPO_NONE; at = f->above[at])
            FUZZ_CHECK(at < f->switches.count && levels++ < f->switches.count);
    }
}

static void check(const struct topo_hosts *hosts, const char *addresses)
{
    const char *launcher = topo_hosts_name(hosts, hosts->count - 1);
    struct topo_guess guess;

    FUZZ_CHECK(
        topo_guess_init(&guess, hosts, hosts->count, launcher, addresses) == 0);
    check_order(&guess, hosts->count);
    FUZZ_CHECK((guess.by == TOPO_GUESS_ORDER) == (guess.fabric.leaf == NULL));
    check_fabric(&guess.fabric);
    topo_guess_fini(&guess);
}

/* Checks that the result has the rules of strcmp(): 0 for equal texts only, and
 * the opposite sign when the texts are swapped. */
static void check_compare(const char *a, const char *b)
{
    int there = topo_guess_compare(a, b), back = topo_guess_compare(b, a);

    FUZZ_CHECK((there > 0) - (there < 0) == (back < 0) - (back > 0));
    FUZZ_CHECK((there == 0) == (strcmp(a, b) == 0));
}

int LLVMFuzzerTestOneInput(const uint8_t *mem, size_t len_bytes)
{
    char *list = malloc(len_bytes + 2), *file, why[TOPO_WHY_MAX];
    struct topo_hosts hosts;

    FUZZ_CHECK(list != NULL);
    if (len_bytes > 0)
        memcpy(list, mem, len_bytes);
    list[len_bytes] = list[len_bytes + 1] = '\0';
    file = list + strlen(list) + 1;
    check_compare(list, file);
    /* Only short lists are tried: fuzz_hosts tests long ones. */
    if (strpbrk(list, "[") == NULL &&
        topo_hosts_parse(&hosts, list, why) == 0) {
        const char *path = fuzz_file(
            file,
            file < list + len_bytes ? (size_t)(list + len_bytes - file) : 0);

        if (hosts.count <= HOSTS_MAX)
            check(&hosts, path);
        topo_hosts_fini(&hosts);
    }
    free(list);
    return 0;
}
