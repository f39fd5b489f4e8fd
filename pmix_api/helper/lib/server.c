/* Starts libpmix as a server, and reads the file that it writes about itself.
 */
#include "pmix_api/helper/lib/server.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <pmix.h>

#include "pmix_api/folder.h"
#include "pmix_api/helper/lib/lib.h"

extern char **environ; /* PMIx 5 does not declare this variable */

/* How many events libpmix keeps for tools that register late. */
#define EVENTS_MAX "4096"
#define FILE_NAME  "server"

enum { RENDEZVOUS_BYTES = 4096 };

static struct {
    char host[256];
    char folder[PX_PATH_MAX];
    char file[PX_PATH_MAX + sizeof(FILE_NAME)];
    char rendezvous[RENDEZVOUS_BYTES];
    char why[256]; /* why libpmix cannot be started */
} server;

const char *px_lib_rendezvous(void)
{
    return server.rendezvous;
}

static const char *explain(const char *what, const char *why)
{
    snprintf(server.why, sizeof(server.why), "%s: %s", what, why);
    return server.why;
}

/* Removes variables from the environment by which another PMIx server has told
 * the launcher names, addresses, pipes and files, as they are not for this
 * server. The user's settings for libpmix stay. */
static void forget_host(void)
{
    static const char prefix[] = "PMIX_", setting[] = "PMIX_MCA_";
    char name[256];

    for (char **at = environ; *at != NULL;) {
        size_t len = strcspn(*at, "=");

        if (strncmp(*at, prefix, strlen(prefix)) != 0 ||
            strncmp(*at, setting, strlen(setting)) == 0 ||
            len >= sizeof(name)) {
            at++;
            continue;
        }
        memcpy(name, *at, len);
        name[len] = '\0';
        unsetenv(name); /* the next variable is at the same index now */
    }
}

/* Sets the environment variables that libpmix needs, see docs/architecture.md,
 * "PMIx tools". Settings of the user are kept, except where libpmix would not
 * work with them, and for the name of its file. */
static void set_up(void)
{
    setenv("PMIX_LAUNCHER_RENDEZVOUS_FILE", server.file, 1);
    setenv("PMIX_MCA_gds", "hash", 1);
    setenv("PMIX_MCA_pmix_max_iof_cache", "1", 1);
    /* The launcher shows log messages for stdout and stderr, so libpmix must
     * not. */
    setenv("PMIX_MCA_plog", "^stdfd", 1);
    /* Events are kept for late tools until the job is removed, without a time
     * limit. */
    setenv("PMIX_MCA_pmix_event_eviction_time", "1000000000", 1);
    setenv("PMIX_MCA_pmix_max_events", EVENTS_MAX, 0);
}

/* Initialises libpmix without its support for tools. It lets tools in all the
 * same, but does not write the files by which tools would find it in place of
 * the launcher. */
static pmix_status_t init(const struct px_lib_cfg *cfg,
                          pmix_server_module_t *module)
{
    enum { INFOS = 7 };
    pmix_info_t info[INFOS];
    bool yes = true, no = false;
    pmix_rank_t rank = cfg->rank;
    pmix_status_t rc;

    for (int i = 0; i < INFOS; i++)
        PMIX_INFO_CONSTRUCT(&info[i]);
    PMIX_INFO_LOAD(&info[0], PMIX_SERVER_NSPACE, cfg->nspace, PMIX_STRING);
    PMIX_INFO_LOAD(&info[1], PMIX_SERVER_RANK, &rank, PMIX_PROC_RANK);
    PMIX_INFO_LOAD(&info[2], PMIX_HOSTNAME, server.host, PMIX_STRING);
    PMIX_INFO_LOAD(&info[3], PMIX_SERVER_TMPDIR, server.folder, PMIX_STRING);
    PMIX_INFO_LOAD(&info[4], PMIX_SYSTEM_TMPDIR, server.folder, PMIX_STRING);
    PMIX_INFO_LOAD(&info[5], PMIX_SERVER_GATEWAY, &yes, PMIX_BOOL);
    PMIX_INFO_LOAD(&info[6], PMIX_IOF_LOCAL_OUTPUT, &no, PMIX_BOOL);
    rc = PMIx_server_init(module, info, INFOS);
    for (int i = 0; i < INFOS; i++)
        PMIX_INFO_DESTRUCT(&info[i]);
    return rc;
}

/* Reads the rendezvous file: "NAME.RANK;tcp4://HOST:PORT", and further lines.
 */
static const char *parse(struct px_server_address *out)
{
    static const char scheme[] = "tcp4://";
    const char *at = strstr(server.rendezvous, scheme);
    unsigned port = 0;

    if (at == NULL ||
        sscanf(at + strlen(scheme), "%63[0-9.]:%u", out->host, &port) != 2 ||
        port == 0 || port > UINT16_MAX)
        return "libpmix's rendezvous file names no IPv4 address";
    out->port = (uint16_t)port;
    return NULL;
}

static const char *read_rendezvous(struct px_server_address *out)
{
    FILE *file = fopen(server.file, "r");
    size_t got;

    if (file == NULL)
        return explain("libpmix's rendezvous file is missing", strerror(errno));
    got = fread(server.rendezvous, 1, sizeof(server.rendezvous) - 1, file);
    fclose(file);
    server.rendezvous[got] = '\0';
    return got > 0 ? parse(out)
                   : "libpmix's rendezvous file is empty (is TMPDIR full?)";
}

const char *px_server_start(const struct px_lib_cfg *cfg,
                            pmix_server_module_t *module,
                            struct px_server_address *out)
{
    pmix_status_t rc;
    const char *why;

    if (gethostname(server.host, sizeof(server.host) - 1) != 0)
        strcpy(server.host, "localhost");
    snprintf(server.folder, sizeof(server.folder), "%s/xylem-pmix-XXXXXX",
             cfg->dir);
    if (mkdtemp(server.folder) == NULL)
        return explain("a directory for libpmix cannot be made",
                       strerror(errno));
    snprintf(server.file, sizeof(server.file), "%s/%s", server.folder,
             FILE_NAME);
    forget_host();
    set_up();
    rc = init(cfg, module);
    why = rc == PMIX_SUCCESS
              ? read_rendezvous(out)
              : explain("libpmix cannot start", PMIx_Error_string(rc));
    px_folder_remove(server.folder);
    return why;
}
