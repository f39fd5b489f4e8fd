/* The main thread of a tool or server waits for callbacks of the library, or
 * until the other side is lost. To be included in one file of a program. */
#ifndef TESTS_PMIX_TURN_H
#define TESTS_PMIX_TURN_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include <pmix.h>

static struct {
    pthread_mutex_t lock; /* guards everything that callbacks change */
    pthread_cond_t changed;
    bool is_cut; /* the other side has gone */
    bool is_listening;
} turn = {.lock = PTHREAD_MUTEX_INITIALIZER,
          .changed = PTHREAD_COND_INITIALIZER};

static void change(bool *flag)
{
    pthread_mutex_lock(&turn.lock);
    *flag = true;
    pthread_cond_broadcast(&turn.changed);
    pthread_mutex_unlock(&turn.lock);
}

static void wait_for(const bool *flag)
{
    pthread_mutex_lock(&turn.lock);
    while (!*flag && !turn.is_cut)
        pthread_cond_wait(&turn.changed, &turn.lock);
    pthread_mutex_unlock(&turn.lock);
}

static void on_lost(size_t handler, pmix_status_t status,
                    const pmix_proc_t *source, pmix_info_t info[], size_t ninfo,
                    pmix_info_t results[], size_t nresults,
                    pmix_event_notification_cbfunc_fn_t done, void *arg)
{
    (void)handler;
    (void)status;
    (void)source;
    (void)info;
    (void)ninfo;
    (void)results;
    (void)nresults;
    change(&turn.is_cut);
    if (done != NULL)
        done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, arg);
}

static void on_handler(pmix_status_t status, size_t handler, void *arg)
{
    (void)status;
    (void)handler;
    (void)arg;
    change(&turn.is_listening);
}

/* Registers on_event for this event; returns when that is done. */
static void listen_for(pmix_status_t event, pmix_notification_fn_t on_event)
{
    turn.is_listening = false;
    PMIx_Register_event_handler(&event, 1, NULL, 0, on_event, on_handler, NULL);
    wait_for(&turn.is_listening);
}

#endif
