/* Signal handlers that write a text before the process dies. */
#include "endpoints/sys/fatal.h"

#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "endpoints/sys/ready.h"

static const int signos[] = {SIGABRT, SIGALRM,   SIGBUS,  SIGFPE,
                             SIGILL,  SIGPROF,   SIGSEGV, SIGSYS,
                             SIGTRAP, SIGVTALRM, SIGXCPU};

enum { SIGNALS = sizeof(signos) / sizeof(signos[0]) };

static struct {
    _Atomic(const char *) text;
    atomic_int fd;
    bool is_handled[SIGNALS];
} fatal;

/* The signal is blocked while this function runs. Afterwards its default action
 * follows, because SA_RESETHAND is set. */
static void on_signal(int signo)
{
    ep_fatal_write();
    raise(signo);
}

void ep_fatal_open(void)
{
    const struct sigaction handler = {.sa_handler = on_signal,
                                      .sa_flags = (int)SA_RESETHAND};

    for (size_t i = 0; i < SIGNALS; i++) {
        struct sigaction before;

        fatal.is_handled[i] = sigaction(signos[i], NULL, &before) == 0 &&
                              before.sa_handler == SIG_DFL &&
                              sigaction(signos[i], &handler, NULL) == 0;
    }
}

void ep_fatal_close(void)
{
    for (size_t i = 0; i < SIGNALS; i++) {
        if (fatal.is_handled[i])
            signal(signos[i], SIG_DFL);
        fatal.is_handled[i] = false;
    }
}

void ep_fatal_set(int fd, const char *text)
{
    atomic_store(&fatal.fd, fd);
    atomic_store(&fatal.text, text);
}

void ep_fatal_write(void)
{
    const char *text = atomic_exchange(&fatal.text, NULL);
    const int fd = atomic_load(&fatal.fd);
    ssize_t done;

    if (text == NULL || !ep_ready(fd, POLLOUT, 0))
        return;
    done = write(fd, text, strlen(text));
    (void)done;
}
