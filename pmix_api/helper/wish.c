/* What a tool says of its pull. */
#include "pmix_api/helper/wish.h"

#include "pmix_api/helper/deliver.h"

static uint64_t number(const pmix_info_t *info, uint64_t otherwise)
{
    switch (info->value.type) {
    case PMIX_UINT32:
        return info->value.data.uint32;
    case PMIX_UINT64:
        return info->value.data.uint64;
    case PMIX_SIZE:
        return info->value.data.size;
    case PMIX_INT:
        return info->value.data.integer > 0 ? (uint64_t)info->value.data.integer
                                            : otherwise;
    default:
        return otherwise;
    }
}

void px_wish_read(const pmix_info_t info[], size_t infos, struct px_wish *wish)
{
    for (size_t i = 0; i < infos; i++) {
        const pmix_info_t *it = &info[i];

        if (PMIX_CHECK_KEY(it, PMIX_IOF_COPY)) {
            wish->copies = PMIX_INFO_TRUE(it);
        } else if (PMIX_CHECK_KEY(it, PMIX_IOF_REDIRECT)) {
            wish->copies = !PMIX_INFO_TRUE(it);
        } else if (PMIX_CHECK_KEY(it, PMIX_IOF_DROP_OLDEST)) {
            wish->drops_oldest = PMIX_INFO_TRUE(it);
        } else if (PMIX_CHECK_KEY(it, PMIX_IOF_DROP_NEWEST)) {
            wish->drops_oldest = !PMIX_INFO_TRUE(it);
        } else if (PMIX_CHECK_KEY(it, PMIX_IOF_CACHE_SIZE)) {
            wish->has_cache = true;
            wish->cache_bytes = number(it, 0);
        } else if (PMIX_CHECK_KEY(it, PX_IOF_HOLD)) {
            wish->holds = PMIX_INFO_TRUE(it);
        } else if (PMIX_CHECK_KEY(it, PMIX_IOF_BUFFERING_SIZE)) {
            wish->buffer_bytes = number(it, 0);
        } else if (PMIX_CHECK_KEY(it, PMIX_IOF_BUFFERING_TIME)) {
            wish->buffer_s = number(it, 0);
        }
    }
}
