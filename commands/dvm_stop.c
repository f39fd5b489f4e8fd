/* Ending a running dvm. */
#include "commands/dvm_stop.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "commands/dvm_choose.h"
#include "commands/dvm_wait.h"
#include "commands/refuse.h"
#include "commands/run_values.h"

enum { LOOK_MS = 50 };

static const struct dvm_use use = {.option = "dvm --stop", .verb = "stop"};

/* --- its end */

/* The number may have gone to another process since its file was read: whoever
 * has it, has it as long as this descriptor is open, and the file goes with the
 * dvm. */
static bool is_still(const struct server *server)
{
    char word[32];

    snprintf(word, sizeof(word), "%d", (int)server->pid);
    return dvm_choose(word, &use) != NULL;
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
    if (kill(pid, SIGTERM) == 0) {
        wait_gone(pid, fd);
    } else if (errno != ESRCH) {
        return refuse("process %d: %s", (int)pid, strerror(errno));
    }
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
    found = dvm_choose(word, &use);
    return found != NULL ? end(found->pid) : 1;
}
