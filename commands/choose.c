/* Choosing a launcher or a dvm. Dvms without files are found by the table of
 * processes: `xylem dvm' with the user and TMPDIR of this one. */
#include "config.h"

#include "commands/choose.h"

#include <dirent.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "commands/refuse.h"
#include "endpoints/run/run.h"

enum { LOOK_MS = 50, TELL_MS = 1000, WAIT_MS = 20000 };

static struct server servers[SERVERS_MAX];

/* --- processes */

static FILE *open_file(pid_t pid, const char *name)
{
    char path[64];

    snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
    return fopen(path, "r");
}

static bool is_xylem(pid_t pid)
{
    FILE *file = open_file(pid, "comm");
    char name[64] = "";

    if (file == NULL)
        return false;
    if (fgets(name, sizeof(name), file) == NULL)
        name[0] = '\0';
    fclose(file);
    return strcmp(name, "xylem\n") == 0 || strcmp(name, "lt-xylem\n") == 0;
}

/* A moment before the next look for the files of a process, which is told on
 * stderr after a second. False: it was waited for long enough. */
static bool wait_a_moment(pid_t pid, int *waited_ms)
{
    static const struct timespec look = {.tv_nsec = LOOK_MS * 1000000};

    if (*waited_ms >= WAIT_MS)
        return false;
    if (*waited_ms == TELL_MS)
        fprintf(stderr, "xylem: waiting for process %d to let tools in\n",
                (int)pid);
    nanosleep(&look, NULL);
    *waited_ms += LOOK_MS;
    return true;
}

/* --- a launcher by process number */

static const struct server *find_launcher(pid_t pid)
{
    const struct server_name by = {.pid = pid};

    return servers_list(&by, servers) > 0 ? &servers[0] : NULL;
}

/* The launcher lets tools in some tenths of a second after its start. */
static const struct server *wait_for(pid_t pid)
{
    const struct server *found = find_launcher(pid);
    int waited_ms = 0;

    while (found == NULL && is_xylem(pid) && wait_a_moment(pid, &waited_ms))
        found = find_launcher(pid);
    return found;
}

static int choose_pid(pid_t pid, struct server *out)
{
    const struct server *found;
    uid_t uid;

    if (server_owner(pid, &uid) && uid != geteuid() && geteuid() != 0)
        return refuse_owner(pid, uid, "attach to it");
    found = wait_for(pid);
    if (found != NULL) {
        *out = *found;
        return 0;
    }
    if (!server_owner(pid, &uid))
        return refuse("there is no process %d: its job is over, or it never "
                      "was one (`xylem attach' by itself looks for the one "
                      "that runs)",
                      (int)pid);
    if (!is_xylem(pid))
        return refuse("process %d is no xylem run", (int)pid);
    return refuse("tools cannot connect to process %d: it was started with "
                  "--no-pmix, without libpmix, or with another TMPDIR than "
                  "this (`xylem run -v' says)",
                  (int)pid);
}

/* --- a launcher by name, by address */

/* Its jobs have a number behind that. */
static bool is_dvm_name(const char *nspace)
{
    return strncmp(nspace, EP_RUN_DVM_NAME, strlen(EP_RUN_DVM_NAME)) == 0 &&
           strchr(nspace, '.') == NULL;
}

static int choose_nspace(const char *nspace, struct server *out)
{
    const struct server_name by = {.nspace = nspace};
    unsigned count = servers_list(&by, servers);

    if (servers_differ(servers, count))
        return refuse("several users have a launcher that says %s is its job: "
                      "name its process, with --pid",
                      nspace);
    if (count > 0 && is_dvm_name(nspace))
        return refuse("%s is a dvm and no job: `xylem attach --pid %d' shows "
                      "the job that runs in it, or lists them",
                      nspace, (int)servers[0].pid);
    if (count > 0) {
        *out = servers[0];
        return 0;
    }
    return refuse("no job %s runs on this machine that you may attach to: it "
                  "is over, is somebody else's, or has another TMPDIR than "
                  "this",
                  nspace);
}

/* Also one that lies elsewhere; then its process is not known. */
static int choose_uri(const char *uri, struct server *out)
{
    const struct server_name by = {.uri = uri};

    if (strchr(uri, ';') == NULL || strlen(uri) >= SERVER_URI_MAX)
        return refuse("'%s' is no address of a launcher: `xylem run -v' "
                      "prints it, as NAME.0;tcp4://127.0.0.1:PORT",
                      uri);
    if (servers_list(&by, servers) > 0) {
        *out = servers[0];
        return 0;
    }
    *out = (struct server){.pid = 0};
    strcpy(out->uri, uri);
    return 0;
}

/* --- the launcher that runs */

static int choose_only(struct server *out)
{
    unsigned mine = servers_list(NULL, servers);

    if (mine == 0)
        return refuse("no xylem run of yours is running on this machine that "
                      "tools can connect to (--pid and --nspace name one)");
    *out = servers[0];
    if (mine == 1)
        return 0;
    refuse("%u of your xylem runs are running here: say which one, with "
           "--pid P",
           mine);
    for (unsigned i = 0; i < mine; i++)
        fprintf(stderr, "  --pid %d   (%s)\n", (int)servers[i].pid,
                servers[i].nspace[0]);
    return 1;
}

int choose_launcher(const struct server_name *by, struct server *out)
{
    if (by->pid != 0)
        return choose_pid(by->pid, out);
    if (by->nspace != NULL)
        return choose_nspace(by->nspace, out);
    if (by->uri != NULL)
        return choose_uri(by->uri, out);
    return choose_only(out);
}

/* --- dvms that tools cannot find yet */

static bool ends_with(const char *word, const char *end)
{
    size_t len = strlen(word), end_len = strlen(end);

    return len >= end_len && strcmp(word + len - end_len, end) == 0;
}

/* Is it `xylem dvm ...', and not one that is to end another? By its words:
 * behind the program's name, or that of xylem where another one runs it. */
static bool is_dvm(pid_t pid)
{
    FILE *file = open_file(pid, "cmdline");
    bool is_dvm = false, is_behind = true;
    char *word = NULL;
    size_t size = 0;

    if (file == NULL)
        return false;
    for (int i = 0; getdelim(&word, &size, '\0', file) > 0; i++) {
        is_dvm |= i > 0 && is_behind && strcmp(word, "dvm") == 0;
        if (strncmp(word, "--stop", 6) == 0)
            is_dvm = false;
        is_behind = i == 0 || ends_with(word, "xylem");
    }
    free(word);
    fclose(file);
    return is_dvm;
}

static bool has_our_folder(pid_t pid)
{
    FILE *file = open_file(pid, "environ");
    const char *ours = servers_top(getenv("TMPDIR"));
    bool is_ours = strcmp(servers_top(NULL), ours) == 0;
    char *word = NULL;
    size_t size = 0;

    if (file == NULL)
        return false;
    while (getdelim(&word, &size, '\0', file) > 0) {
        if (strncmp(word, "TMPDIR=", 7) == 0)
            is_ours = strcmp(servers_top(word + 7), ours) == 0;
    }
    free(word);
    fclose(file);
    return is_ours;
}

static bool is_own(pid_t pid)
{
    uid_t uid;

    return server_owner(pid, &uid) && uid == geteuid();
}

static bool is_listed(pid_t pid)
{
    unsigned count = servers_list(NULL, servers);

    for (unsigned i = 0; i < count; i++) {
        if (servers[i].pid == pid)
            return true;
    }
    return false;
}

/* A dvm that has no files; 0: there is none. Its processes are looked at first:
 * files that come meanwhile are seen. */
static pid_t find_silent(void)
{
    pid_t found = 0;
    struct dirent *entry;
    DIR *dir = opendir("/proc");

    if (dir == NULL)
        return 0;
    while (found == 0 && (entry = readdir(dir)) != NULL) {
        pid_t pid = (pid_t)atoi(entry->d_name);

        if (pid > 0 && is_own(pid) && is_xylem(pid) && is_dvm(pid) &&
            has_our_folder(pid) && !is_listed(pid))
            found = pid;
    }
    closedir(dir);
    return found;
}

void choose_wait_dvms(void)
{
    pid_t pid = find_silent();
    int waited_ms = 0;

    while (pid != 0 && wait_a_moment(pid, &waited_ms))
        pid = find_silent();
}

/* --- a dvm */

/* Its own name; NULL: it has a job of its own. */
static const char *dvm_name_of(const struct server *server)
{
    for (unsigned i = 0; i < server->jobs; i++) {
        if (strncmp(server->nspace[i], EP_RUN_DVM_NAME,
                    strlen(EP_RUN_DVM_NAME)) == 0)
            return server->nspace[i];
    }
    return NULL;
}

/* Leaves those in `servers` that are a dvm. Of one that was killed the files
 * may be left, and its number may be another process's by now. */
static unsigned list_dvms(const struct server_name *by)
{
    unsigned count = servers_list(by, servers), dvms = 0;

    for (unsigned i = 0; i < count; i++) {
        if (dvm_name_of(&servers[i]) != NULL && is_dvm(servers[i].pid))
            servers[dvms++] = servers[i];
    }
    return dvms;
}

/* A process number, or 0. */
static pid_t number_of(const char *word)
{
    char *end;
    long pid = strtol(word, &end, 10);

    return *word >= '1' && *word <= '9' && *end == '\0' && pid <= INT_MAX
               ? (pid_t)pid
               : 0;
}

static void refuse_pid(pid_t pid, const struct dvm_use *use)
{
    char deed[32];
    uid_t uid;

    snprintf(deed, sizeof(deed), "%s it", use->verb);
    if (!server_owner(pid, &uid))
        refuse("there is no process %d: it has ended, or never was (`xylem %s' "
               "by itself looks for the dvm that runs)",
               (int)pid, use->option);
    else if (uid != geteuid() && geteuid() != 0)
        refuse_owner(pid, uid, deed);
    else
        refuse("process %d is no dvm that is up, or has another TMPDIR than "
               "this",
               (int)pid);
}

static const struct server *find_dvm(pid_t pid, const struct dvm_use *use)
{
    const struct server_name by = {.pid = pid};

    if (list_dvms(&by) > 0)
        return &servers[0];
    refuse_pid(pid, use);
    return NULL;
}

static const struct server *find_named_dvm(const char *name,
                                           const struct dvm_use *use)
{
    const struct server_name by = {.nspace = name};
    unsigned count = list_dvms(&by);

    if (servers_differ(servers, count))
        refuse("several users have a dvm that says it is %s: name its process",
               name);
    else if (count > 0 && strcmp(dvm_name_of(&servers[0]), name) == 0)
        return &servers[0];
    else
        refuse("no dvm %s runs on this machine that you may %s: it has ended, "
               "is somebody else's, or has another TMPDIR than this",
               name, use->verb);
    return NULL;
}

static const struct server *find_only_dvm(const struct dvm_use *use)
{
    unsigned count = list_dvms(NULL);

    if (count == 1)
        return &servers[0];
    if (count == 0) {
        refuse("no dvm of yours is up on this machine (with this TMPDIR)");
        return NULL;
    }
    refuse("%u of your dvms are up here: say which one", count);
    for (unsigned i = 0; i < count; i++)
        fprintf(stderr, "  xylem %s=%d   (%s)\n", use->option,
                (int)servers[i].pid, dvm_name_of(&servers[i]));
    return NULL;
}

const struct server *choose_dvm(const char *word, const struct dvm_use *use)
{
    if (word == NULL)
        return find_only_dvm(use);
    return number_of(word) > 0 ? find_dvm(number_of(word), use)
                               : find_named_dvm(word, use);
}
