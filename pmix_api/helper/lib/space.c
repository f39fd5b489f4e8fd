/* Registers namespaces with libpmix, so that the tool can ask about them. */
#include <stdlib.h>
#include <string.h>

#include <pmix_server.h>

#include "overlay/base/err.h"
#include "pmix_api/helper/lib/event.h"
#include "pmix_api/helper/lib/lib.h"

enum { INFOS = 5 };

/* Memory that libpmix borrows until the registration is done. */
struct space {
    pmix_info_t info[INFOS];
};

static void on_registered(pmix_status_t status, void *arg)
{
    struct space *space = arg;

    (void)status;
    for (int i = 0; i < INFOS; i++)
        PMIX_INFO_DESTRUCT(&space->info[i]);
    free(space);
}

static void on_forgotten(pmix_status_t status, void *arg)
{
    (void)status;
    (void)arg;
}

int px_lib_job(const char *nspace, uint32_t size)
{
    static const uint32_t one = 1;
    struct space *space;
    pmix_nspace_t name;

    if (strlen(nspace) > PMIX_MAX_NSLEN)
        return OV_EINVAL;
    space = calloc(1, sizeof(*space));
    if (space == NULL)
        return OV_ENOMEM;
    PMIX_LOAD_NSPACE(name, nspace);
    PMIX_INFO_LOAD(&space->info[0], PMIX_JOBID, nspace, PMIX_STRING);
    PMIX_INFO_LOAD(&space->info[1], PMIX_UNIV_SIZE, &size, PMIX_UINT32);
    PMIX_INFO_LOAD(&space->info[2], PMIX_JOB_SIZE, &size, PMIX_UINT32);
    PMIX_INFO_LOAD(&space->info[3], PMIX_MAX_PROCS, &size, PMIX_UINT32);
    PMIX_INFO_LOAD(&space->info[4], PMIX_JOB_NUM_APPS, &one, PMIX_UINT32);
    if (PMIx_server_register_nspace(name, 0, space->info, INFOS, on_registered,
                                    space) == PMIX_SUCCESS)
        return 0;
    on_registered(PMIX_ERROR, space);
    return OV_ENOMEM;
}

int px_lib_job_end(const char *nspace)
{
    pmix_nspace_t name;

    if (strlen(nspace) > PMIX_MAX_NSLEN)
        return OV_EINVAL;
    PMIX_LOAD_NSPACE(name, nspace);
    px_event_forget(nspace);
    PMIx_server_deregister_nspace(name, on_forgotten, NULL);
    return 0;
}
