/* What tools do to the job: signals, and lines on the launcher's output. */
#ifndef PMIX_API_HELPER_CONTROL_H
#define PMIX_API_HELPER_CONTROL_H

#include <pmix_server.h>

/* Upcalls of the server's module. Both hand on to the launcher and answer when
 * it has done it. */
pmix_status_t px_control(const pmix_proc_t *asker, const pmix_proc_t targets[],
                         size_t ntargets, const pmix_info_t directives[],
                         size_t ndirs, pmix_info_cbfunc_t answer, void *arg);
void px_log(const pmix_proc_t *asker, const pmix_info_t data[], size_t ndata,
            const pmix_info_t directives[], size_t ndirs,
            pmix_op_cbfunc_t answer, void *arg);

#endif
