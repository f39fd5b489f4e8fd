/* Runs functions in the caller's thread for threads of libpmix. */
#include "pmix_api/helper/lib/ask.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "overlay/base/err.h"

static struct {
    pthread_mutex_t lock;
    pthread_cond_t answered;
    void (*call)(void *arg); /* the function to run; NULL: nothing waits */
    void *arg;
    bool is_put; /* the function was called, and px_ask() waits for
                    px_ask_answer() */
    int wake;    /* an eventfd, readable when the caller's thread must run a
                    function */
} ask = {.lock = PTHREAD_MUTEX_INITIALIZER,
         .answered = PTHREAD_COND_INITIALIZER,
         .wake = -1};

int px_ask_open(void)
{
    ask.wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return ask.wake < 0 ? OV_ESYS : 0;
}

int px_ask_fd(void)
{
    return ask.wake;
}

void px_ask_wake(void)
{
    static const uint64_t one = 1;

    if (write(ask.wake, &one, sizeof(one)) < 0)
        abort(); /* without an answer libpmix would wait for ever */
}

void px_ask(void (*call)(void *arg), void *arg)
{
    pthread_mutex_lock(&ask.lock);
    ask.call = call;
    ask.arg = arg;
    ask.is_put = false;
    px_ask_wake();
    while (ask.call != NULL)
        pthread_cond_wait(&ask.answered, &ask.lock);
    pthread_mutex_unlock(&ask.lock);
}

struct telling {
    void (*call)(void *arg);
    void *arg;
};

static void tell(void *arg)
{
    const struct telling *telling = arg;

    telling->call(telling->arg);
    px_ask_answer();
}

void px_tell(void (*call)(void *arg), void *arg)
{
    struct telling telling = {call, arg};

    px_ask(tell, &telling);
}

void px_ask_turn(void)
{
    void (*call)(void *arg);
    void *arg;
    uint64_t seen;

    if (read(ask.wake, &seen, sizeof(seen)) < 0)
        seen =
            0; /* nobody waits for this read: it only clears the descriptor */
    pthread_mutex_lock(&ask.lock);
    call = ask.is_put ? NULL : ask.call;
    arg = ask.arg;
    ask.is_put = true;
    pthread_mutex_unlock(&ask.lock);
    if (call != NULL)
        call(arg);
}

void px_ask_answer(void)
{
    pthread_mutex_lock(&ask.lock);
    ask.call = NULL;
    pthread_cond_signal(&ask.answered);
    pthread_mutex_unlock(&ask.lock);
}
