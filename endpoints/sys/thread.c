/* Starts helper threads and ends them. */
#include "config.h"

#include "endpoints/sys/thread.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <time.h>

#include "overlay/base/panic.h"

enum {
    STACK_BYTES = 256 * 1024, /* a few KiB are enough; sanitizers need more */
    NUDGES_MAX = 200,
    NUDGE_NS = 5 * 1000 * 1000,
};

int ep_thread_start(pthread_t *thread, void *(*fn)(void *arg), void *arg)
{
    pthread_attr_t attr;
    sigset_t blocked;
    sigset_t old;
    int rc = pthread_attr_init(&attr);

    if (rc != 0)
        return rc;
    /* Fails when the system's minimum is higher: the default is good enough
     * then. */
    (void)pthread_attr_setstacksize(&attr, STACK_BYTES);
    sigfillset(&blocked);
    sigdelset(&blocked, SIGURG);
    pthread_sigmask(SIG_SETMASK, &blocked, &old);
    rc = pthread_create(thread, &attr, fn, arg);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    pthread_attr_destroy(&attr);
    return rc;
}

static void on_nudge(int signo)
{
    (void)signo; /* only the interrupted call matters */
}

static bool join_for(pthread_t thread, long wait_ns)
{
    struct timespec until;
    int rc;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += wait_ns;
    if (until.tv_nsec >= 1000000000) {
        until.tv_nsec -= 1000000000;
        until.tv_sec++;
    }
    rc = pthread_timedjoin_np(thread, NULL, &until);
    OV_ASSERT(rc == 0 || rc == ETIMEDOUT);
    return rc == 0;
}

bool ep_thread_join(pthread_t thread, bool interrupt)
{
    /* without SA_RESTART, so that calls return EINTR */
    struct sigaction nudge = {.sa_handler = on_nudge};
    struct sigaction old;
    bool is_joined = false;

    if (!interrupt) {
        int rc = pthread_join(thread, NULL);

        OV_ASSERT(rc == 0);
        return true;
    }
    sigaction(SIGURG, &nudge, &old);
    /* The signal may come after the thread has checked its flag and before the
     * call, so it is sent several times. */
    for (int i = 0; i < NUDGES_MAX && !is_joined; i++) {
        pthread_kill(thread, SIGURG);
        is_joined = join_for(thread, NUDGE_NS);
    }
    if (!is_joined)
        /* our handler stays, for signals that are still to come */
        pthread_detach(thread);
    else
        sigaction(SIGURG, &old, NULL);
    return is_joined;
}
