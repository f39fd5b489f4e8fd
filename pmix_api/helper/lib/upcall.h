/* The functions that libpmix calls in its host (upcalls). They pass requests on
 * to the caller's thread. */
#ifndef PMIX_API_HELPER_LIB_UPCALL_H
#define PMIX_API_HELPER_LIB_UPCALL_H

#include <stdbool.h>

#include <pmix_server.h>

/* The table of upcalls for libpmix; px_call_open() must have been called. */
pmix_server_module_t *px_upcall_module(void);

/* True when the tool has been let in. To be called in the caller's thread. */
bool px_upcall_is_in(void);

#endif
