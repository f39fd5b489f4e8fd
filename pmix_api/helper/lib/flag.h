/* Infos: their keys, and their values, whose types tools may choose. */
#ifndef PMIX_API_HELPER_LIB_FLAG_H
#define PMIX_API_HELPER_LIB_FLAG_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include <pmix_server.h>

/* True for a bool, or for no value at all, which means true as PMIX_INFO_TRUE()
 * has it. */
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
