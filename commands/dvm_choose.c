/* Choosing a dvm. */
#include "commands/dvm_choose.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands/dvm_wait.h"
#include "commands/refuse.h"
#include "endpoints/run/run.h"

static struct server servers[SERVERS_MAX];

/* Its own name; NULL: it has a job of its own. */
static const char *name_of(const struct server *server)
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
static unsigned list(const struct server_name *by)
{
    unsigned count = servers_list(by, servers), dvms = 0;

    for (unsigned i = 0; i < count; i++) {
        if (name_of(&servers[i]) != NULL && dvm_is_one(servers[i].pid))
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

static const struct server *find_pid(pid_t pid, const struct dvm_use *use)
{
    const struct server_name by = {.pid = pid};

    if (list(&by) > 0)
        return &servers[0];
    refuse_pid(pid, use);
    return NULL;
}

static const struct server *find_name(const char *name,
                                      const struct dvm_use *use)
{
    const struct server_name by = {.nspace = name};
    unsigned count = list(&by);

    if (servers_differ(servers, count))
        refuse("several users have a dvm that says it is %s: name its process",
               name);
    else if (count > 0 && strcmp(name_of(&servers[0]), name) == 0)
        return &servers[0];
    else
        refuse("no dvm %s runs on this machine that you may %s: it has ended, "
               "is somebody else's, or has another TMPDIR than this",
               name, use->verb);
    return NULL;
}

static const struct server *find_only(const struct dvm_use *use)
{
    unsigned count = list(NULL);

    if (count == 1)
        return &servers[0];
    if (count == 0) {
        refuse("no dvm of yours is up on this machine (with this TMPDIR)");
        return NULL;
    }
    refuse("%u of your dvms are up here: say which one", count);
    for (unsigned i = 0; i < count; i++)
        fprintf(stderr, "  xylem %s=%d   (%s)\n", use->option,
                (int)servers[i].pid, name_of(&servers[i]));
    return NULL;
}

const struct server *dvm_choose(const char *word, const struct dvm_use *use)
{
    if (word == NULL)
        return find_only(use);
    return number_of(word) > 0 ? find_pid(number_of(word), use)
                               : find_name(word, use);
}
