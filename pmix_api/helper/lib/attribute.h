/* The attributes of PMIx that the helper supports, for tools that ask for them.
 */
#ifndef PMIX_API_HELPER_LIB_ATTRIBUTE_H
#define PMIX_API_HELPER_LIB_ATTRIBUTE_H

/* Registers with libpmix which attributes are supported, and which keys of
 * queries (NULL-terminated); libpmix answers PMIX_QUERY_ATTRIBUTE_SUPPORT from
 * that. To be called once, after libpmix is initialised. */
void px_attribute_register(const char *const *query_keys);

#endif
