/* Choosing a dvm. */
#include "commands/dvm_choose.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

/* Leaves those in `servers` that are a dvm, of this user where none is named.
 */
static unsigned list(bool is_named)
{
    unsigned count = servers_list(servers), dvms = 0;

    for (unsigned i = 0; i < count; i++) {
        if (name_of(&servers[i]) != NULL &&
            (is_named || servers[i].uid == geteuid()))
            servers[dvms++] = servers[i];
    }
    return dvms;
}

static void refuse_word(const char *word, const struct dvm_use *use)
{
    char path[64], *end;
    long pid = strtol(word, &end, 10);
    char deed[32];
    struct stat stat_of;

    snprintf(deed, sizeof(deed), "%s it", use->verb);
    snprintf(path, sizeof(path), "/proc/%ld", pid);
    if (*word < '0' || *word > '9' || *end != '\0')
        refuse("no dvm %s runs on this machine that you may %s: it has ended, "
               "is somebody else's, or has another TMPDIR than this",
               word, use->verb);
    else if (stat(path, &stat_of) != 0)
        refuse("there is no process %ld: it has ended, or never was (`xylem "
               "%s' by itself looks for the dvm that runs)",
               pid, use->option);
    else if (stat_of.st_uid != geteuid() && geteuid() != 0)
        refuse_owner((pid_t)pid, stat_of.st_uid, deed);
    else
        refuse("process %ld is no dvm that is up, or has another TMPDIR than "
               "this",
               pid);
}

static const struct server *find_word(const char *word,
                                      const struct dvm_use *use)
{
    unsigned count = list(true);
    char number[32];

    for (unsigned i = 0; i < count; i++) {
        snprintf(number, sizeof(number), "%d", (int)servers[i].pid);
        if (strcmp(number, word) == 0 ||
            strcmp(name_of(&servers[i]), word) == 0)
            return &servers[i];
    }
    refuse_word(word, use);
    return NULL;
}

static const struct server *find_only(const struct dvm_use *use)
{
    unsigned count = list(false);

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
    return word != NULL ? find_word(word, use) : find_only(use);
}
