/* What libpmix asks of its host, put to the caller as questions. */
#ifndef PMIX_API_HELPER_LIB_UPCALL_H
#define PMIX_API_HELPER_LIB_UPCALL_H

#include <stdbool.h>

#include <pmix_server.h>

/* The upcalls for libpmix, once px_call_open() was called. */
pmix_server_module_t *px_upcall_module(void);

/* Called when the tool has been let in. For the caller. */
bool px_upcall_is_in(void);

#endif
