/* Ending a running dvm: by the rendezvous files it leaves for tools. */
#include "commands/dvm_stop.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "commands/attach/servers.h"
#include "commands/dvm_wait.h"
#include "commands/refuse.h"
#include "commands/run_values.h"
#include "endpoints/run/run.h"

enum { LOOK_MS = 50 };

static struct server servers[SERVERS_MAX];

/* --- which one */

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

static int refuse_word(const char *word)
{
    char path[64], *end;
    long pid = strtol(word, &end, 10);
    struct stat stat_of;

    if (*word < '0' || *word > '9' || *end != '\0')
        return refuse("no dvm %s runs on this machine that you may stop: it "
                      "has ended, is somebody else's, or has another TMPDIR "
                      "than this",
                      word);
    snprintf(path, sizeof(path), "/proc/%ld", pid);
    if (stat(path, &stat_of) != 0)
        return refuse("there is no process %ld: it has ended, or never was "
                      "(`xylem dvm --stop' by itself looks for the dvm that "
                      "runs)",
                      pid);
    if (stat_of.st_uid != geteuid() && geteuid() != 0)
        return refuse_owner((pid_t)pid, stat_of.st_uid, "stop it");
    return refuse("process %ld is no dvm that is up, or has another TMPDIR "
                  "than this",
                  pid);
}

static const struct server *find_word(const char *word)
{
    unsigned count = list(true);
    char number[32];

    for (unsigned i = 0; i < count; i++) {
        snprintf(number, sizeof(number), "%d", (int)servers[i].pid);
        if (strcmp(number, word) == 0 ||
            strcmp(name_of(&servers[i]), word) == 0)
            return &servers[i];
    }
    refuse_word(word);
    return NULL;
}

static const struct server *find_only(void)
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
        fprintf(stderr, "  xylem dvm --stop=%d   (%s)\n", (int)servers[i].pid,
                name_of(&servers[i]));
    return NULL;
}

/* --- its end */

/* The number may have gone to another process since its file was read: whoever
 * has it, has it as long as this descriptor is open, and the file goes with the
 * dvm. */
static bool is_still(const struct server *server)
{
    char word[32];

    snprintf(word, sizeof(word), "%d", (int)server->pid);
    return find_word(word) != NULL;
}

/* Readable when the process has ended; -1 where the system does not know. */
static int watch_process(pid_t pid)
{
#ifdef SYS_pidfd_open
    return (int)syscall(SYS_pidfd_open, pid, 0);
#else
    (void)pid;
    return -1;
#endif
}

static void wait_gone(pid_t pid, int fd)
{
    struct pollfd gone = {.fd = fd, .events = POLLIN};

    while (poll(&gone, 1, fd < 0 ? LOOK_MS : -1) <= 0) {
        if (fd < 0 && kill(pid, 0) != 0)
            return;
    }
}

static int end(pid_t pid)
{
    struct server same = {.pid = pid};
    int fd = watch_process(pid);

    if (!is_still(&same))
        return 1;
    if (kill(pid, SIGTERM) != 0)
        return errno == ESRCH
                   ? 0
                   : refuse("process %d: %s", (int)pid, strerror(errno));
    wait_gone(pid, fd);
    return 0;
}

/* --- the words */

static bool is_stop(const char *word)
{
    return strcmp(word, "--stop") == 0 || strncmp(word, "--stop=", 7) == 0;
}

bool dvm_stop_is_meant(int argc, char **argv)
{
    bool is_meant = false;

    for (int i = 2; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0)
            return false;
        is_meant |= is_stop(argv[i]);
    }
    return is_meant;
}

int dvm_stop(int argc, char **argv)
{
    const struct server *found;
    const char *word = NULL;

    if (!is_stop(argv[2]) || argc > 4 || (argc == 4 && argv[3][0] == '-'))
        run_usage("--stop takes no other option, and at most one dvm");
    if (argv[2][strlen("--stop")] == '=')
        word = argv[2] + strlen("--stop=");
    if (argc == 4) {
        if (word != NULL)
            run_usage("--stop takes one dvm, not '%s' and '%s'", word, argv[3]);
        word = argv[3];
    }
    dvm_wait();
    found = word != NULL ? find_word(word) : find_only();
    return found != NULL ? end(found->pid) : 1;
}
