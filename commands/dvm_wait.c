/* Dvms by the table of processes: `xylem dvm` with the user and TMPDIR of this
 * one. */
#include "config.h"

#include "commands/dvm_wait.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "commands/attach/servers.h"

enum { LOOK_MS = 50, TELL_MS = 1000, WAIT_MS = 20000 };

static FILE *open_file(pid_t pid, const char *name)
{
    char path[64];

    snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
    return fopen(path, "r");
}

static bool ends_with(const char *word, const char *end)
{
    size_t len = strlen(word), end_len = strlen(end);

    return len >= end_len && strcmp(word + len - end_len, end) == 0;
}

/* Behind the program's name, or that of xylem where another one runs it. */
bool dvm_is_one(pid_t pid)
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

static bool has_name(pid_t pid)
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

static bool is_listed(const struct server *servers, unsigned count, pid_t pid)
{
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
    static struct server servers[SERVERS_MAX];
    pid_t found = 0;
    struct dirent *entry;
    DIR *dir = opendir("/proc");

    if (dir == NULL)
        return 0;
    while (found == 0 && (entry = readdir(dir)) != NULL) {
        pid_t pid = (pid_t)atoi(entry->d_name);

        if (pid > 0 && is_own(pid) && has_name(pid) && dvm_is_one(pid) &&
            has_our_folder(pid) &&
            !is_listed(servers, servers_list(NULL, servers), pid))
            found = pid;
    }
    closedir(dir);
    return found;
}

void dvm_wait(void)
{
    static const struct timespec look = {.tv_nsec = LOOK_MS * 1000000};
    pid_t pid = find_silent();

    for (int ms = 0; pid != 0 && ms < WAIT_MS; ms += LOOK_MS) {
        if (ms == TELL_MS)
            fprintf(stderr, "xylem: waiting for process %d to let tools in\n",
                    (int)pid);
        nanosleep(&look, NULL);
        pid = find_silent();
    }
}
