/* Tests of infos (pmix_info_t, a key with a value), whose values may have any
 * type that the tool chose. */
#ifndef PMIX_API_HELPER_LIB_FLAG_H
#define PMIX_API_HELPER_LIB_FLAG_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include <pmix_server.h>

/* True when the value is a bool, or when there is no value, which
 * PMIX_INFO_TRUE() counts as true. */
static inline bool px_value_is_flag(const pmix_info_t *info)
{
    return info->value.type == PMIX_BOOL || info->value.type == PMIX_UNDEF;
}

/* True when the info has one of these keys. O(count). */
static inline bool px_value_has_key(const pmix_info_t *info,
                                    const char *const keys[], size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (PMIX_CHECK_KEY(info, keys[i]))
            return true;
    }
    return false;
}

#endif
