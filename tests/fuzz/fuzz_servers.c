/* Files of PMIx servers, which anybody can put where they are looked for:
 * whoever is taken for a launcher has a process of the file's owner, names and
 * an address that end. The text is lines: the end of the file's name, and what
 * is in the file.
 */
#include "tests/fuzz/fuzz.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "commands/attach/servers.h"
#include "tests/fuzz/file.h"

static void check_server(const struct server *server)
{
    uid_t uid;

    FUZZ_CHECK(server->uid == geteuid());
    FUZZ_CHECK(server_owner(server->pid, &uid) && uid == server->uid);
    FUZZ_CHECK(server->jobs > 0 && server->jobs <= SERVER_JOBS_MAX);
    FUZZ_CHECK(memchr(server->uri, '\0', sizeof(server->uri)) != NULL);
    FUZZ_CHECK(strchr(server->uri, ';') != NULL);
    for (unsigned i = 0; i < server->jobs; i++) {
        FUZZ_CHECK(memchr(server->nspace[i], '\0', SERVER_NAME_MAX) != NULL);
        FUZZ_CHECK(server_has(server, server->nspace[i]));
    }
}

/* Two files, of the launcher's number and of the name that is given; `path` is
 * then that of the second. */
static void put(const char *name, const char *text, size_t len_bytes,
                char path[PATH_MAX])
{
    snprintf(path, PATH_MAX, "xylem-pmix-a/server/pmix.h.tool.%ld",
             (long)getpid());
    fuzz_folder_put(path, text, len_bytes);
    snprintf(path, PATH_MAX, "xylem-pmix-a/server/pmix.h.tool.%s", name);
    fuzz_folder_put(path, text, len_bytes);
    snprintf(path, PATH_MAX, "%s/xylem-pmix-a/server/pmix.h.tool.%s",
             fuzz_folder(), name);
}

int LLVMFuzzerTestOneInput(const uint8_t *mem, size_t len_bytes)
{
    static struct server servers[SERVERS_MAX];
    const uint8_t *end = len_bytes > 0 ? memchr(mem, '\n', len_bytes) : NULL;
    size_t name_bytes = end == NULL ? 0 : (size_t)(end - mem);
    char name[200], path[PATH_MAX];
    unsigned count;

    if (end == NULL || name_bytes >= sizeof(name) ||
        memchr(mem, '/', name_bytes) != NULL ||
        memchr(mem, '\0', name_bytes) != NULL)
        return 0;
    memcpy(name, mem, name_bytes);
    name[name_bytes] = '\0';
    put(name, (const char *)end + 1, len_bytes - name_bytes - 1, path);
    setenv("TMPDIR", fuzz_folder(), 1);
    count = servers_list(NULL, servers);
    FUZZ_CHECK(count <= 1);
    if (count == 1)
        check_server(&servers[0]);
    unlink(path);
    return 0;
}
