/* The attributes of PMIx that this host supports, for tools that ask. */
#ifndef PMIX_API_HELPER_ATTRIBUTE_H
#define PMIX_API_HELPER_ATTRIBUTE_H

#include <stddef.h>

#include <pmix_server.h>

/* In place of a call: what debuggers may use of PMIx_Spawn. */
#define PX_ATTRIBUTES_DEBUG "debug"

/* Tells the library, which answers PMIX_QUERY_ATTRIBUTE_SUPPORT from it. Once
 * it is initialised. */
void px_attributes_register(void);

/* The attributes' keys of one call ("PMIx_Spawn"), with commas between, for
 * the caller to free; "" for a call that is not supported, NULL when memory is
 * out. */
char *px_attributes_list(const char *call);

#endif
