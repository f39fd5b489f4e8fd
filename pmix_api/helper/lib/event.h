/* Events: what the tool is told, and what it tells others. */
#ifndef PMIX_API_HELPER_LIB_EVENT_H
#define PMIX_API_HELPER_LIB_EVENT_H

#include <pmix_server.h>

/* Once the library is started: hears what the tool notifies. Returns 0 or
 * OV_ENOMEM. */
int px_event_listen(void);

/* An upcall of the server's module. */
pmix_status_t px_event_upcall(pmix_status_t code, const pmix_proc_t *source,
                              pmix_data_range_t range, pmix_info_t info[],
                              size_t infos, pmix_op_cbfunc_t answer, void *arg);

#endif
