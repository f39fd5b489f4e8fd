/* PMIx_Spawn. */
#ifndef PMIX_API_HELPER_LIB_SPAWN_H
#define PMIX_API_HELPER_LIB_SPAWN_H

#include <pmix_server.h>

/* An upcall of the server's module. */
pmix_status_t px_spawn_upcall(const pmix_proc_t *spawner,
                              const pmix_info_t info[], size_t infos,
                              const pmix_app_t apps[], size_t napps,
                              pmix_spawn_cbfunc_t answer, void *arg);

#endif
