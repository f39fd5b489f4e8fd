/* The attributes of PMIx that are supported, for tools that ask. */
#ifndef PMIX_API_HELPER_LIB_ATTRIBUTE_H
#define PMIX_API_HELPER_LIB_ATTRIBUTE_H

/* Tells the library which attributes are supported, and which keys of queries
 * (NULL-terminated); it answers PMIX_QUERY_ATTRIBUTE_SUPPORT from that. Once,
 * after the library is initialised. */
void px_attribute_register(const char *const *query_keys);

#endif
