/* Values of infos, whose types tools may choose. */
#ifndef PMIX_API_HELPER_VALUE_H
#define PMIX_API_HELPER_VALUE_H

#include <stdbool.h>

#include <pmix_server.h>

/* A bool; none at all is true, as PMIX_INFO_TRUE() has it. */
static inline bool px_value_is_flag(const pmix_info_t *info)
{
    return info->value.type == PMIX_BOOL || info->value.type == PMIX_UNDEF;
}

#endif
