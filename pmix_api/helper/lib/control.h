/* Job control: signals. */
#ifndef PMIX_API_HELPER_LIB_CONTROL_H
#define PMIX_API_HELPER_LIB_CONTROL_H

#include <pmix_server.h>

/* An upcall of the server's module. */
pmix_status_t px_control_upcall(const pmix_proc_t *asker,
                                const pmix_proc_t targets[], size_t ntargets,
                                const pmix_info_t directives[], size_t ndirs,
                                pmix_info_cbfunc_t answer, void *arg);

/* The key of the index-th known order; NULL: there are fewer. */
const char *px_order_key(size_t index);

#endif
