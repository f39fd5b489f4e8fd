/* Rendezvous files of launchers: server/pmix.HOST.tool.NAME in a folder
 * xylem-pmix-*, where NAME is the launcher's process number, the name of a job,
 * or one of the server's own. */
#include "commands/attach/servers.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { PATH_BYTES = 4096 };

/* What the library says of its server: address, version, process number. */
struct own {
    char nspace[SERVER_NAME_MAX];
    pid_t pid;
};

static bool read_file(const char *path, struct server *server, struct own *own)
{
    FILE *file = fopen(path, "r");
    char version[SERVER_NAME_MAX], pid[32];
    bool is_whole;

    if (file == NULL)
        return false;
    is_whole = fgets(server->uri, sizeof(server->uri), file) != NULL &&
               fgets(version, sizeof(version), file) != NULL &&
               fgets(pid, sizeof(pid), file) != NULL;
    fclose(file);
    if (!is_whole)
        return false;
    server->uri[strcspn(server->uri, "\n")] = '\0';
    own->pid = (pid_t)atoi(pid);
    snprintf(own->nspace, sizeof(own->nspace), "%.*s",
             (int)strcspn(server->uri, "."), server->uri);
    return strchr(server->uri, ';') != NULL;
}

/* The process number that a name is, or 0. */
static pid_t number_of(const char *name)
{
    char *end;
    long number = strtol(name, &end, 10);

    return *name >= '0' && *name <= '9' && *end == '\0' ? (pid_t)number : 0;
}

static void take_name(const char *name, const struct own *own,
                      struct server *server)
{
    pid_t pid = number_of(name);

    if (pid != 0 && pid != own->pid)
        server->pid = pid;
    if (pid == 0 && strcmp(name, own->nspace) != 0 &&
        strlen(name) < SERVER_NAME_MAX && server->jobs < SERVER_JOBS_MAX)
        strcpy(server->nspace[server->jobs++], name);
}

static bool is_alive(pid_t pid)
{
    return pid > 0 && (kill(pid, 0) == 0 || errno == EPERM);
}

/* One folder; false when no launcher is behind it. */
static bool read_folder(const char *folder, struct server *server)
{
    struct dirent *entry;
    struct own own = {.pid = 0};
    struct stat stat_of;
    char path[PATH_BYTES];
    DIR *dir = opendir(folder);

    *server = (struct server){.pid = 0};
    if (dir == NULL)
        return false;
    if (fstat(dirfd(dir), &stat_of) == 0)
        server->uid = stat_of.st_uid;
    while ((entry = readdir(dir)) != NULL) {
        const char *tool = strstr(entry->d_name, ".tool.");
        int len = snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);

        if (tool == NULL || len >= (int)sizeof(path))
            continue;
        if (own.pid == 0 && !read_file(path, server, &own))
            break;
        take_name(tool + strlen(".tool."), &own, server);
    }
    closedir(dir);
    return server->jobs > 0 && is_alive(server->pid);
}

static unsigned list_below(const char *top, struct server *out)
{
    unsigned count = 0;
    DIR *dir = opendir(top);
    struct dirent *entry;
    char path[PATH_BYTES];

    if (dir == NULL)
        return count;
    while (count < SERVERS_MAX && (entry = readdir(dir)) != NULL) {
        if (strncmp(entry->d_name, "xylem-pmix-", 11) != 0 ||
            snprintf(path, sizeof(path), "%s/%s/server", top, entry->d_name) >=
                (int)sizeof(path))
            continue;
        if (read_folder(path, &out[count]))
            count++;
    }
    closedir(dir);
    return count;
}

unsigned servers_list(struct server *out)
{
    const char *tmp = getenv("TMPDIR");

    return list_below(tmp != NULL && tmp[0] != '\0' ? tmp : "/tmp", out);
}

bool server_has(const struct server *server, const char *nspace)
{
    for (unsigned i = 0; i < server->jobs; i++) {
        size_t len = strlen(server->nspace[i]);

        if (strncmp(server->nspace[i], nspace, len) == 0 &&
            (nspace[len] == '\0' || nspace[len] == '.'))
            return true;
    }
    return false;
}
