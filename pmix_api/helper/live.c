/* All who are to know of a pull know of it. */
#include "pmix_api/helper/live.h"

#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>
#include <time.h>

#include "pmix_api/helper/forward.h"
#include "pmix_api/helper/pulls_impl.h"
#include "pmix_api/helper/talk.h"

enum {
    AWAIT_MS = 1000,
    CALM_S = 10, /* after one that was in vain */
    TOLD = 256,
    NS_PER_MS = 1000000,
    NS_PER_S = 1000000000,
};

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    uint32_t ids[TOLD]; /* the last ones, by their lowest bits */
    uint32_t late;      /* it was awaited in vain; 0: none, or its word came */
    time_t late_s;      /* since then */
    bool is_awaited;
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
    px_live_heard(id);
}

void px_live_heard(uint32_t id)
{
    pthread_mutex_lock(&live.lock);
    live.ids[id % TOLD] = id;
    if (live.late == id)
        live.late = 0;
    pthread_cond_signal(&live.changed);
    pthread_mutex_unlock(&live.lock);
}

/* Under the lock. */
static bool is_told(uint32_t id)
{
    return live.ids[id % TOLD] == id;
}

/* The same. */
static void await(uint32_t id)
{
    struct timespec end;
    int rc = 0;

    clock_gettime(CLOCK_REALTIME, &end);
    if (live.late != 0 && end.tv_sec - live.late_s < CALM_S)
        return;
    end.tv_nsec += AWAIT_MS * NS_PER_MS;
    end.tv_sec += end.tv_nsec / NS_PER_S;
    end.tv_nsec %= NS_PER_S;
    live.is_awaited = true;
    while (!is_told(id) && rc == 0)
        rc = pthread_cond_timedwait(&live.changed, &live.lock, &end);
    live.is_awaited = false;
    live.late = is_told(id) ? 0 : id;
    live.late_s = end.tv_sec;
}

void px_live_await(uint32_t id)
{
    bool is_late;

    pthread_mutex_lock(&live.lock);
    await(id);
    is_late = !is_told(id);
    pthread_mutex_unlock(&live.lock);
    if (is_late)
        px_talk_note("a pull is answered before all nodes have heard of it");
}

bool px_live_is_awaited(void)
{
    bool is_awaited;

    pthread_mutex_lock(&live.lock);
    is_awaited = live.is_awaited;
    pthread_mutex_unlock(&live.lock);
    return is_awaited;
}
