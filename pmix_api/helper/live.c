/* The launcher knows of a pull. */
#include "pmix_api/helper/live.h"

#include <pthread.h>
#include <stddef.h>
#include <string.h>
#include <time.h>

#include "pmix_api/helper/forward.h"
#include "pmix_api/helper/pulls_impl.h"

enum { AWAIT_S = 1, TOLD = 256 };

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    uint32_t ids[TOLD]; /* the last ones, by their lowest bits */
} live = {.lock = PTHREAD_MUTEX_INITIALIZER,
          .changed = PTHREAD_COND_INITIALIZER};

struct pull *px_pulls_find(struct pull *pulls, uint32_t id)
{
    for (unsigned i = 0; i < PULLS_MAX; i++) {
        if (pulls[i].state != PULL_FREE && pulls[i].id == id)
            return &pulls[i];
    }
    return NULL;
}

void px_pulls_live(uint32_t id)
{
    struct pull *pulls = px_pulls_lock(), *pull = px_pulls_find(pulls, id);

    if (pull != NULL && pull->live != NULL) {
        memcpy(pull->live, pull->wanted, pull->procs);
        px_forward_yield(pulls, pull, pull->first, pull->procs);
    }
    px_pulls_unlock();
    pthread_mutex_lock(&live.lock);
    live.ids[id % TOLD] = id;
    pthread_cond_signal(&live.changed);
    pthread_mutex_unlock(&live.lock);
}

void px_live_await(uint32_t id)
{
    struct timespec end;
    int rc = 0;

    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += AWAIT_S;
    pthread_mutex_lock(&live.lock);
    while (live.ids[id % TOLD] != id && rc == 0)
        rc = pthread_cond_timedwait(&live.changed, &live.lock, &end);
    pthread_mutex_unlock(&live.lock);
}
