/* Rendezvous files of launchers: server/pmix.HOST.tool.NAME in a folder
 * xylem-pmix-*, where NAME is the launcher's process number, the name of a job,
 * or one of the server's own.
 *
 * Anybody can make such a folder in /tmp, so that nothing in it is believed but
 * where its owner alone can enter it, and then of processes of his alone. */
#include "commands/attach/servers.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* What the library says of its server: address, version, process number. */
struct own {
    char nspace[SERVER_NAME_MAX];
    pid_t pid;
};

/* --- one folder */

/* Not by a link, and not one that could be waited at. */
static FILE *open_file(int at, const char *name, uid_t owner)
{
    int fd = openat(at, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct stat of;
    FILE *file = NULL;

    if (fd >= 0 && fstat(fd, &of) == 0 && S_ISREG(of.st_mode) &&
        of.st_uid == owner)
        file = fdopen(fd, "r");
    if (file == NULL && fd >= 0)
        close(fd);
    return file;
}

static bool read_file(int at, const char *name, struct server *server,
                      struct own *own)
{
    FILE *file = open_file(at, name, server->uid);
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

bool server_owner(pid_t pid, uid_t *uid)
{
    struct stat of;
    char path[64];

    snprintf(path, sizeof(path), "/proc/%d", (int)pid);
    if (pid <= 0 || stat(path, &of) != 0)
        return false;
    *uid = of.st_uid;
    return true;
}

int server_watch(pid_t pid)
{
#ifdef SYS_pidfd_open
    if (pid > 0)
        return (int)syscall(SYS_pidfd_open, pid, 0);
#endif
    (void)pid;
    return -1;
}

/* Takes over the descriptor; false when no launcher of server->uid is behind
 * it. */
static bool read_folder(int at, struct server *server)
{
    struct dirent *entry;
    struct own own = {.pid = 0};
    uid_t uid;
    DIR *dir = fdopendir(at);

    if (dir == NULL) {
        close(at);
        return false;
    }
    while ((entry = readdir(dir)) != NULL) {
        const char *tool = strstr(entry->d_name, ".tool.");

        if (tool == NULL)
            continue;
        if (own.pid == 0 && !read_file(at, entry->d_name, server, &own))
            break;
        take_name(tool + strlen(".tool."), &own, server);
    }
    closedir(dir);
    return server->jobs > 0 && server_owner(server->pid, &uid) &&
           uid == server->uid;
}

/* --- the folders */

static int open_folder(int at, const char *name)
{
    return openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* Only its owner can have put into it what is there. */
static bool is_private(int at, uid_t *owner)
{
    struct stat of;

    if (fstat(at, &of) != 0 || (of.st_mode & 0777) != 0700)
        return false;
    *owner = of.st_uid;
    return true;
}

static bool read_entry(int top, const char *name, bool of_others,
                       struct server *out)
{
    int outer = open_folder(top, name), inner = -1;

    *out = (struct server){.pid = 0};
    if (outer < 0)
        return false;
    if (is_private(outer, &out->uid) && (out->uid != geteuid()) == of_others)
        inner = open_folder(outer, "server");
    close(outer);
    return inner >= 0 && read_folder(inner, out);
}

static bool is_meant(const struct server *server, const struct server_name *by)
{
    return (by->pid == 0 || server->pid == by->pid) &&
           (by->nspace == NULL || server_has(server, by->nspace)) &&
           (by->uri == NULL || strcmp(server->uri, by->uri) == 0);
}

static unsigned list(const struct server_name *by, bool of_others,
                     struct server *out)
{
    unsigned count = 0;
    DIR *dir = opendir(servers_top(getenv("TMPDIR")));
    struct dirent *entry;

    if (dir == NULL)
        return count;
    while (count < SERVERS_MAX && (entry = readdir(dir)) != NULL) {
        if (strncmp(entry->d_name, "xylem-pmix-", 11) == 0 &&
            read_entry(dirfd(dir), entry->d_name, of_others, &out[count]) &&
            is_meant(&out[count], by))
            count++;
    }
    closedir(dir);
    return count;
}

const char *servers_top(const char *tmpdir)
{
    return tmpdir != NULL && tmpdir[0] == '/' ? tmpdir : "/tmp";
}

unsigned servers_list(const struct server_name *by, struct server *out)
{
    static const struct server_name any = {.pid = 0};
    unsigned count = list(by != NULL ? by : &any, false, out);

    if (count == 0 && by != NULL && geteuid() == 0)
        count = list(by, true, out);
    return count;
}

bool servers_differ(const struct server *servers, unsigned count)
{
    for (unsigned i = 1; i < count; i++) {
        if (servers[i].uid != servers[0].uid)
            return true;
    }
    return false;
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
