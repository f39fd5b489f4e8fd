/* The library gives what it keeps to a handler of its own server when that is
 * registered, and keeps it no longer. */
#include "pmix_api/helper/kept.h"

#include <stdatomic.h>

#include <pmix.h>

static atomic_uint broken; /* of channels: so many are kept */

bool px_kept_add_broken(void)
{
    if (atomic_load(&broken) >= KEPT_BROKEN_MAX)
        return false;
    atomic_fetch_add(&broken, 1);
    return true;
}

/* A tool may have said such a thing, too. */
static void on_taken(size_t handler, pmix_status_t status,
                     const pmix_proc_t *source, pmix_info_t info[],
                     size_t infos, pmix_info_t results[], size_t nresults,
                     pmix_event_notification_cbfunc_fn_t done, void *arg)
{
    (void)handler;
    (void)source;
    (void)info;
    (void)infos;
    (void)results;
    (void)nresults;
    if (status == PMIX_ERR_IOF_FAILURE && atomic_load(&broken) > 0)
        atomic_fetch_sub(&broken, 1);
    if (done != NULL)
        done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, arg);
}

static void on_deregistered(pmix_status_t status, void *arg)
{
    (void)status;
    (void)arg;
}

/* By now the handler has been given all there was. */
static void on_registered(pmix_status_t status, size_t handler, void *arg)
{
    pmix_info_t *about = arg;

    PMIX_INFO_FREE(about, 1);
    if (status == PMIX_SUCCESS)
        PMIx_Deregister_event_handler(handler, on_deregistered, NULL);
}

void px_kept_forget(const char *nspace)
{
    pmix_status_t codes[] = {PMIX_EVENT_JOB_START, PMIX_LAUNCH_COMPLETE,
                             PMIX_EVENT_JOB_END, PMIX_ERR_IOF_FAILURE};
    pmix_info_t *about;
    pmix_proc_t all;

    PMIX_LOAD_PROCID(&all, nspace, PMIX_RANK_WILDCARD);
    PMIX_INFO_CREATE(about, 1);
    if (about == NULL)
        return;
    PMIX_INFO_LOAD(about, PMIX_EVENT_AFFECTED_PROC, &all, PMIX_PROC);
    if (PMIx_Register_event_handler(codes, sizeof(codes) / sizeof(codes[0]),
                                    about, 1, on_taken, on_registered,
                                    about) != PMIX_SUCCESS)
        PMIX_INFO_FREE(about, 1);
}
