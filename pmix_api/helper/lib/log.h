/* Log messages that the tool wants shown to the user (PMIx_Log). */
#ifndef PMIX_API_HELPER_LIB_LOG_H
#define PMIX_API_HELPER_LIB_LOG_H

#include <pmix_server.h>

/* An upcall of the server's module. */
void px_log_upcall(const pmix_proc_t *asker, const pmix_info_t data[],
                   size_t ndata, const pmix_info_t directives[], size_t ndirs,
                   pmix_op_cbfunc_t answer, void *arg);

/* The key of the index-th supported destination of log messages; NULL: there
 * are fewer. */
const char *px_log_key(size_t index);

#endif
