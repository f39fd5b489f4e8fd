/* PMIx_Spawn: what tools start. */
#ifndef PMIX_API_HELPER_SPAWN_H
#define PMIX_API_HELPER_SPAWN_H

#include <pmix_server.h>

/* The upcall of the server's module; in the library's thread. Hands on to the
 * launcher, and answers when all processes run or one cannot be started. */
pmix_status_t px_spawn(const pmix_proc_t *spawner, const pmix_info_t info[],
                       size_t infos, const pmix_app_t apps[], size_t napps,
                       pmix_spawn_cbfunc_t answer, void *arg);

/* A tool has gone: what it has started ends, but for what is to stay. Any
 * thread. */
void px_spawn_forget(const pmix_proc_t *tool);
/* The job with that token has ended. Any thread. O(jobs that run). */
void px_spawn_over(uint32_t token);

#endif
