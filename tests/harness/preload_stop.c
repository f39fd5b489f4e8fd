/* For LD_PRELOAD into the launcher: another SIGTSTP arrives in the last moment
 * before the launcher blocks the signal, and then the launcher does not run for
 * a while. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stddef.h>
#include <unistd.h>

enum { PAUSE_US = 50000 }; /* longer than STOP_LOOK_MS */

int sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
    int (*real)(int, const sigset_t *, sigset_t *) =
        (int (*)(int, const sigset_t *, sigset_t *))dlsym(RTLD_NEXT,
                                                          "sigprocmask");
    int failed;

    if (how != SIG_BLOCK || set == NULL || sigismember(set, SIGTSTP) != 1 ||
        sigismember(set, SIGCONT) == 1)
        return real(how, set, old);
    raise(SIGTSTP);
    failed = real(how, set, old);
    usleep(PAUSE_US); /* sleep-ok: the test is about a delay */
    return failed;
}
